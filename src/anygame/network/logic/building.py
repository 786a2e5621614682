"""From atoms to gates: every atom that an output needs, in the order in which they depend on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.network.logic.components import strong_components
from anygame.network.logic.factoring import parts_of_sum, sum_of_products
from anygame.network.logic.gates import Gates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from anygame.network.logic.atoms import Atoms

__all__ = ["build_gates"]

#: Components between two looks at the clock; most take some microseconds.
_BETWEEN_LOOKS_AT_THE_CLOCK: Final = 256


def build_gates(
    atoms: Atoms,
    inputs: Mapping[int, int],
    nodes: int,
    choices: Iterable[Sequence[int]],
    wanted: Iterable[int],
    check_time: Callable[[], None],
) -> tuple[Gates, dict[int, int]]:
    """Return the gates for some atoms, and the literal of each.

    Args:
        atoms: and what derives them.
        inputs: the node of each atom that is a fluent or an action.
        nodes: how many nodes there are before the first gate.
        choices: groups of nodes of which exactly one holds.
        wanted: the atoms to be computed.
        check_time: called now and then; may raise.
    """
    gates = Gates(nodes, choices)
    literals: dict[int, int] = {atom: 2 * node for atom, node in inputs.items()}
    targets = list(wanted)
    parents = _Parents(atoms, literals)
    for number, component in enumerate(strong_components(targets, parents)):
        if number % _BETWEEN_LOOKS_AT_THE_CLOCK == 0:
            check_time()
        _enter(gates, parents, literals, component)
    return gates, {atom: literals[atom] for atom in targets}


class _Parents:
    """What each atom is derived from; remembers conjunctions until they have been used.

    Attributes:
        conjunctions: those of atoms that were asked for.
        of_themselves: which of these atoms occur in their own.
    """

    def __init__(self, atoms: Atoms, known: dict[int, int]) -> None:
        self._atoms = atoms
        self._known = known
        self.conjunctions: dict[int, list[tuple[int, ...]]] = {}
        self.of_themselves: set[int] = set()

    def __call__(self, atom: int) -> list[int]:
        if atom in self._known:
            return []
        found = self.conjunctions[atom] = self._atoms.of_conjunctions(atom)
        if len(found) == 1:
            parents = [literal >> 1 for literal in found[0]]
        else:
            parents = list({literal >> 1 for product in found for literal in product})
        if atom in parents:
            self.of_themselves.add(atom)
        return parents


def _enter(gates: Gates, parents: _Parents, literals: dict[int, int], component: list[int]) -> None:
    products_of = parents.conjunctions
    if len(component) == 1:
        atom = component[0]
        if atom in literals:
            return
        products = products_of.pop(atom)
        if atom not in parents.of_themselves:
            literals[atom] = sum_of_products(gates, _translated(literals, products))
            return
        products_of[atom] = products
    # Atoms that depend on each other: each is a disjunction to be closed when all are known.
    for atom in component:
        literals[atom] = gates.open()
    for atom in component:
        parts = parts_of_sum(gates, _translated(literals, products_of.pop(atom)))
        gates.close(literals[atom], parts)


def _translated(literals: Mapping[int, int], products: Iterable[tuple[int, ...]]) -> Iterator[list[int]]:
    for product in products:
        yield [literals[literal >> 1] ^ (literal & 1) for literal in product]
