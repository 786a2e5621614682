"""From atoms to gates: every atom that an output needs, in the order in which they depend on each other."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from anygame.network.budget import LITERAL
from anygame.network.logic.components import strong_components
from anygame.network.logic.factoring import parts_of_sum, sum_of_products
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.network.budget import Budget
    from anygame.network.logic.atoms import Atoms


def build_gates(
    atoms: Atoms,
    inputs: Mapping[int, int],
    nodes: int,
    wanted: Iterable[int],
    budget: Budget,
) -> tuple[Gates, dict[int, int]]:
    """Return the gates for some atoms, and the literal of each.

    Args:
        atoms: and what derives them.
        inputs: the node of each atom that is a fluent or an action.
        nodes: how many nodes there are before the first gate.
        wanted: the atoms to be computed.
        budget: what gates cost is spent from it.
    """
    gates = Gates(nodes)
    literals = _Literals(atoms.count, inputs)
    targets = list(wanted)
    parents = _Parents(atoms, literals, budget)
    for component in strong_components(targets, parents):
        _enter(gates, parents, literals, component)
    return gates, {atom: literals.of[2 * atom] for atom in targets}


class _Literals:
    """What the literals of atoms are as literals of gates.

    Attributes:
        of: by literal of an atom, -1 where it is not known yet; at the end those of ``FAILS`` and ``HOLDS``,
            where these negative numbers find them.
    """

    def __init__(self, count: int, inputs: Mapping[int, int]) -> None:
        self.of = [-1] * (2 * count) + [FALSE, TRUE]
        for atom, node in inputs.items():
            self.set(atom, 2 * node)

    def set(self, atom: int, literal: int) -> None:
        """Say what an atom is."""
        self.of[2 * atom], self.of[2 * atom + 1] = literal, literal ^ 1

    def translated(self, products: Iterable[Iterable[int]]) -> list[frozenset[int]]:
        """Return conjunctions of atoms as conjunctions of gates."""
        find = self.of.__getitem__
        return [frozenset(map(find, product)) for product in products]


class _Parents:
    """What each atom is derived from; remembers conjunctions until they have been used.

    Attributes:
        conjunctions: those of atoms that were asked for.
        of_themselves: which of these atoms occur in their own.
    """

    def __init__(self, atoms: Atoms, known: _Literals, budget: Budget) -> None:
        self._atoms = atoms
        self._budget = budget
        self._known = known
        self.conjunctions: dict[int, list[list[int]]] = {}
        self.of_themselves: set[int] = set()

    def __call__(self, atom: int) -> list[int]:
        if self._known.of[2 * atom] >= 0:
            return []
        found = self.conjunctions[atom] = self._atoms.of_conjunctions(atom)
        self._budget.spend(LITERAL * (1 + sum(map(len, found))))
        read = {literal >> 1 for literal in set(chain.from_iterable(found)) if literal >= 0}
        if atom in read:
            self.of_themselves.add(atom)
        # What is known already need not be asked what it is derived from.
        return [parent for parent in read if self._known.of[2 * parent] < 0]


def _enter(gates: Gates, parents: _Parents, literals: _Literals, component: list[int]) -> None:
    products_of = parents.conjunctions
    if len(component) == 1:
        atom = component[0]
        if literals.of[2 * atom] >= 0:
            return
        products = products_of.pop(atom)
        if atom not in parents.of_themselves:
            literals.set(atom, sum_of_products(gates, literals.translated(products)))
            return
        products_of[atom] = products
    # Atoms that depend on each other: each is a disjunction to be closed when all are known.
    for atom in component:
        literals.set(atom, gates.open())
    for atom in component:
        parts = parts_of_sum(gates, literals.translated(products_of.pop(atom)))
        gates.close(literals.of[2 * atom], parts)
