"""From atoms to gates: every atom that an output needs, in the order in which they depend on each other."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING

from anygame.network.budget import LITERAL
from anygame.network.logic.gates import Gates
from anygame.network.logic.ragged import strong_components
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


def sum_of_products(gates: Gates, products: Iterable[Iterable[int]]) -> int:
    """Return the literal of a disjunction of conjunctions.

    After Brayton and McMullen (1982, "The decomposition and factorization of Boolean expressions"), with
    single literals as divisors: what is shared by whole groups of products goes along with the commonest one.

    The literal that most products share is taken out, again and again: ``ab + ac + d`` becomes
    ``a(b + c) + d``.
    """
    return gates.disjunction(parts_of_sum(gates, products))


def parts_of_sum(gates: Gates, products: Iterable[Iterable[int]]) -> list[int]:
    """Return literals whose disjunction is a sum of products."""
    found = list(map(frozenset, products))
    if len(found) == 1:
        return [gates.conjunction(found[0])]
    read = set(chain.from_iterable(found))
    if not read.isdisjoint([literal ^ 1 for literal in read]) or FALSE in read or TRUE in read:
        found = list(_possible(found))
    return _parts(gates, list(dict.fromkeys(found)))


def _possible(products: Iterable[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Yield products that can hold, without what always does."""
    for product in products:
        if FALSE not in product and product.isdisjoint([literal ^ 1 for literal in product]):
            yield product - {TRUE} if TRUE in product else product


def _parts(gates: Gates, products: list[frozenset[int]]) -> list[int]:
    """Return literals for a sum of different products, without constants and contradictions."""
    longer = [product for product in products if len(product) > 1]
    if len(longer) == len(products):
        return _factored(gates, longer)
    if frozenset() in products:
        return [TRUE]
    singles = frozenset().union(*(product for product in products if len(product) == 1))
    if longer:
        # a + ab = a, and a + (not a)b = a + b
        opposite = frozenset([literal ^ 1 for literal in singles])
        again = list(dict.fromkeys([product - opposite for product in longer if product.isdisjoint(singles)]))
        if any(len(product) < 2 for product in again):
            return _parts(gates, list(dict.fromkeys([*again, *(frozenset([single]) for single in singles)])))
        longer = again
    return sorted(singles) + (_factored(gates, longer) if longer else [])


def _factored(gates: Gates, products: list[frozenset[int]]) -> list[int]:
    """Return literals for products of two literals and more, with what is shared taken out."""
    if len(products) == 1:
        return [gates.conjunction(products[0])]
    if len(products) == 2:
        shared = products[0] & products[1]
        return [_shared(gates, shared, products)] if shared else list(map(gates.conjunction, products))
    counts = Counter(chain.from_iterable(products))
    repeated = frozenset([literal for literal, times in counts.items() if times > 1])
    if not repeated:
        return list(map(gates.conjunction, products))
    members = [product & repeated for product in products]
    where: dict[int, list[int]] = {literal: [] for literal in repeated}
    for number, literals in enumerate(members):
        for literal in literals:
            where[literal].append(number)
    heap = [(-counts[literal], literal) for literal in repeated]
    heapify(heap)
    waiting = [True] * len(products)
    parts: list[int] = []
    while heap:
        times, literal = heappop(heap)
        if counts[literal] < 2:
            continue
        if -times != counts[literal]:
            heappush(heap, (-counts[literal], literal))
            continue
        numbers = [number for number in where[literal] if waiting[number]]
        for number in numbers:
            waiting[number] = False
            for member in members[number]:
                counts[member] -= 1
        taken = [products[number] for number in numbers]
        # Whatever all of them share goes along.
        parts.append(_shared(gates, taken[0].intersection(*taken[1:]), taken))
    parts += [gates.conjunction(product) for product, left in zip(products, waiting, strict=True) if left]
    return parts


def _shared(gates: Gates, shared: frozenset[int], products: list[frozenset[int]]) -> int:
    """Return the literal of a sum of products, given what all of them share."""
    rest = gates.disjunction(_parts(gates, [product - shared for product in products]))
    return gates.conjunction([*shared, rest])
