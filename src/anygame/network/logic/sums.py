"""Sums of products: disjunctions of conjunctions, with what they share taken out."""

from __future__ import annotations

from collections import Counter
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
    singles: set[int] = set()
    distinct: set[frozenset[int]] = set()
    for product in products:
        kept = frozenset(product)
        if TRUE in kept:
            kept -= {TRUE}
        if FALSE in kept or any(literal ^ 1 in kept for literal in kept):
            continue
        if not kept:
            return [TRUE]
        if len(kept) == 1:
            singles |= kept
        else:
            distinct.add(kept)
    if singles:
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
    remaining = sorted(distinct, key=sorted)
    counts = Counter(literal for product in remaining for literal in product)
    while remaining:
        literal, times = max(counts.items(), key=lambda item: (item[1], -item[0]))
        if times < 2:
            parts += [gates.conjunction(product) for product in remaining]
            break
        taken = [product for product in remaining if literal in product]
        # Whatever all of them share goes along.
        shared = frozenset.intersection(*taken)
        parts.append(
            gates.conjunction([*shared, sum_of_products(gates, [product - shared for product in taken])])
        )
        remaining = [product for product in remaining if literal not in product]
        for product in taken:
            counts.subtract(product)
        counts += Counter()
    return parts
