"""Algebraic factoring: disjunctions of conjunctions, with the literals they share taken out.

After Brayton and McMullen (1982, "The decomposition and factorization of Boolean expressions"), with single
literals as divisors: what is shared by whole groups of products goes along with the commonest one.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
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
    singles: set[int] = set()
    distinct: set[frozenset[int]] = set()
    for product in products:
        kept = frozenset(product)
        if FALSE in kept:
            continue
        if TRUE in kept:
            kept -= {TRUE}
        if not kept:
            return [TRUE]
        if len(kept) == 1:
            singles |= kept
        elif kept.isdisjoint([literal ^ 1 for literal in kept]):
            distinct.add(kept)
    if singles and distinct:
        # a + ab = a, and a + (not a)b = a + b
        again = [
            frozenset(literal for literal in product if literal ^ 1 not in singles)
            for product in distinct
            if not product & singles
        ]
        if any(len(product) < 2 for product in again):
            return parts_of_sum(gates, [*again, *({single} for single in singles)])
        distinct = set(again)
    parts = sorted(singles)
    if not distinct:
        return parts
    remaining = sorted(distinct, key=sorted) if len(distinct) > 1 else list(distinct)
    return parts + _factored(gates, remaining)


def _factored(gates: Gates, products: list[frozenset[int]]) -> list[int]:
    """Return literals for products of two literals and more, with what is shared taken out."""
    if len(products) == 1:
        return [gates.conjunction(products[0])]
    where: dict[int, list[int]] = {}
    for number, product in enumerate(products):
        for literal in product:
            where.setdefault(literal, []).append(number)
    counts = {literal: len(numbers) for literal, numbers in where.items()}
    heap = [(-times, literal) for literal, times in counts.items() if times > 1]
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
        taken = [products[number] for number in numbers]
        for number in numbers:
            waiting[number] = False
            for member in products[number]:
                counts[member] -= 1
        # Whatever all of them share goes along.
        shared = frozenset.intersection(*taken)
        rest = sum_of_products(gates, [product - shared for product in taken])
        parts.append(gates.conjunction([*shared, rest]))
    parts += [gates.conjunction(product) for number, product in enumerate(products) if waiting[number]]
    return parts
