"""Algebraic factoring: disjunctions of conjunctions, with the literals they share taken out.

After Brayton and McMullen (1982, "The decomposition and factorization of Boolean expressions"), with single
literals as divisors: what is shared by whole groups of products goes along with the commonest one.
"""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING

from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.network.logic.gates import Gates


def sum_of_products(gates: Gates, products: Iterable[Iterable[int]]) -> int:
    """Return the literal of a disjunction of conjunctions.

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
