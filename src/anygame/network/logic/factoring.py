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
    from collections.abc import Iterable

    from anygame.network.logic.gates import Gates

__all__ = ["sum_of_products"]


def sum_of_products(gates: Gates, products: Iterable[Iterable[int]]) -> int:
    """Return the literal of a disjunction of conjunctions.

    The literal that most products share is taken out, again and again: ``ab + ac + d`` becomes
    ``a(b + c) + d``.
    """
    return gates.disjunction(parts_of_sum(gates, products))


def parts_of_sum(gates: Gates, products: Iterable[Iterable[int]]) -> list[int]:
    """Return literals whose disjunction is a sum of products."""
    products = list(products)
    if len(products) == 1:
        return [gates.conjunction(products[0])]
    distinct: dict[frozenset[int], None] = {}  # as a set, but in order
    for product in products:
        kept = frozenset(product)
        if FALSE in kept:
            continue
        if TRUE in kept:
            kept -= {TRUE}
        if kept.isdisjoint([literal ^ 1 for literal in kept]):
            distinct[kept] = None
    return _parts(gates, list(distinct))


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
    counts = Counter(chain.from_iterable(products))
    repeated = frozenset([literal for literal, times in counts.items() if times > 1])
    if not repeated:
        return [gates.conjunction(product) for product in products]
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
        shared = taken[0].intersection(*taken[1:])
        rest = gates.disjunction(_parts(gates, [product - shared for product in taken]))
        parts.append(gates.conjunction([*shared, rest]))
    parts += [gates.conjunction(product) for product, left in zip(products, waiting, strict=True) if left]
    return parts
