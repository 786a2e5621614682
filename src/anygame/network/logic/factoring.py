"""Factoring of all sums of products of a game at once, in flat arrays.

The method is from Brayton and McMullen (1982, "The decomposition and factorization of Boolean expressions"),
with single literals as divisors. It repeatedly takes out the literal that most products of a sum share, or
the smallest of several such literals. Other literals that all these products share are taken out, too::

    ab + ac + d         becomes         a(b + c) + d

Each round takes out all literals that are more frequent than every other literal of their products. A greedy
algorithm that takes out one literal at a time gives the same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.network import FALSE
from anygame.network.ragged import LOW, SHIFT, distinct, equal_rows, keys_of_rows, mixed, order_of, starts_of

if TYPE_CHECKING:
    from anygame.network.ragged import Mask, Numbers


@dataclass(frozen=True, eq=False)
class Products:
    """Conjunctions of literals, as flat arrays.

    Attributes:
        of: int64 [products]; the sum to which each product belongs.
        owners: int64 [literals], ascending; the product to which each literal belongs.
        literals: int64 [literals]; a product has no literal twice, and no literal with its inverse.
    """

    of: Numbers
    owners: Numbers
    literals: Numbers

    @cached_property
    def lengths(self) -> Numbers:
        """The number of literals of each product."""
        return np.bincount(self.owners, minlength=len(self.of))

    def only(self, kept: Mask, literals: Mask) -> Products:
        """Return the products and the literals that two masks select."""
        if kept.all() and literals.all():
            return self
        number = np.cumsum(kept) - 1
        return Products(self.of[kept], number[self.owners[literals]], self.literals[literals])


def factored(products: Products, sums: int, inputs: int) -> tuple[Numbers, Numbers]:
    """Return gates that compute sums of products: the start of each gate's literals, and the literals.

    The first gates are the inverted sums: sum ``n`` is the inverse of node ``inputs + n``. The products of a
    sum must be distinct. A gate may have duplicates and any number of literals.
    """
    return _Factoring(sums, inputs).run(products)


class _Factoring:
    def __init__(self, sums: int, inputs: int) -> None:
        self._inputs = inputs
        self._made = sums
        self._owners: list[Numbers] = []
        self._literals: list[Numbers] = []

    def run(self, products: Products) -> tuple[Numbers, Numbers]:
        while len(products.of):
            products = self._divided(self._absorbed(products))
        owners = np.concatenate([*self._owners, np.zeros(0, np.int64)])
        literals = np.concatenate([*self._literals, np.zeros(0, np.int64)])
        order = np.argsort(owners, kind="stable")
        return starts_of(np.bincount(owners, minlength=self._made)), literals[order]

    def _make(self, count: int) -> Numbers:
        self._made += count
        return np.arange(self._made - count, self._made)

    def _write(self, gates: Numbers, literals: Numbers) -> None:
        self._owners.append(gates)
        self._literals.append(literals)

    def _write_inverted(self, gates: Numbers, parts: Numbers) -> None:
        self._write(gates, 2 * (self._inputs + parts) + 1)

    def _absorbed(self, products: Products) -> Products:
        """Move single-literal products from sums to gates, using a + ab = a and a + (not a)b = a + b."""
        while True:
            of, owners, literals = products.of, products.owners, products.literals
            lengths = products.lengths
            kept = lengths > 1
            if kept.all():
                return products
            always = of[lengths == 0]
            self._write(always, np.full(len(always), FALSE))
            single = lengths[owners] == 1
            self._write(of[owners[single]], literals[single] ^ 1)
            kept &= ~np.isin(of, always)
            singles = distinct(of[owners[single]] << SHIFT | literals[single])
            near = np.flatnonzero(np.isin(of, singles >> SHIFT)[owners] & kept[owners])
            keys = of[owners[near]] << SHIFT | literals[near]
            kept[owners[near[_among(singles, keys)]]] = False
            kept_literals = kept[owners]
            opposed = near[_among(singles, keys ^ 1)]
            changed = kept_literals[opposed].any()
            kept_literals[opposed] = False
            products = products.only(kept, kept_literals)
            if not changed:
                return products
            products = each_once(products)

    def _divided(self, products: Products) -> Products:
        """Take out the literals of one round; return the products that remain to be divided."""
        of, owners, literals = products.of, products.owners, products.literals
        if not len(of):
            return products
        # A kind is a pair of a sum and a literal in its products.
        keys = of[owners] << SHIFT | literals
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begins = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=begins[1:])
        kinds = np.empty(len(keys), np.int64)
        kinds[order] = np.cumsum(begins) - 1
        keys = keys[begins]
        counts = np.diff(np.append(np.flatnonzero(begins), len(kinds)))
        rank = (counts << SHIFT | (LOW - (keys & LOW)))[kinds]
        leads = rank == np.maximum.reduceat(rank, np.flatnonzero(np.diff(owners, prepend=-1)))[owners]
        leader = kinds[leads]
        alone = counts[leader] == 1
        lone = products.only(alone, alone[owners])
        made = self._make(len(lone.of))
        self._write_inverted(lone.of, made)
        self._write(made[lone.owners], lone.literals)
        divides = (counts > 1) & (np.bincount(leader, minlength=len(counts)) == counts)
        taken = divides[leader]
        group, shared = _shared(kinds[taken[owners]], leader[owners[taken[owners]]], counts)
        quotients = self._take_out(keys, divides, group, shared)
        undivided = ~taken & ~alone
        later = products.only(undivided, undivided[owners])
        within = products.only(taken, taken[owners] & ~shared[kinds])
        return Products(
            np.concatenate([later.of, quotients[leader[taken]]]),
            np.concatenate([later.owners, len(later.of) + within.owners]),
            np.concatenate([later.literals, within.literals]),
        )

    def _take_out(self, keys: Numbers, divides: Mask, group: Numbers, shared: Mask) -> Numbers:
        """Make a gate ``a(b + c)`` for each dividing kind; return the number of its sum ``b + c``."""
        dividing = np.flatnonzero(divides)
        parts, quotients = np.zeros((2, len(keys)), np.int64)
        parts[dividing] = self._make(len(dividing))
        quotients[dividing] = self._make(len(dividing))
        self._write_inverted(keys[dividing] >> SHIFT, parts[dividing])
        self._write(parts[group[shared]], keys[shared] & LOW)
        self._write_inverted(parts[dividing], quotients[dividing])
        return quotients


def _shared(kinds: Numbers, groups: Numbers, counts: Numbers) -> tuple[Numbers, Mask]:
    """Return the group of each kind, and whether all products of the group have this kind."""
    group = np.full(len(counts), -1, np.int64)
    group[kinds] = groups
    inside = np.bincount(kinds[group[kinds] == groups], minlength=len(counts))
    return group, (group >= 0) & (inside == counts[group])


def _among(ordered: Numbers, numbers: Numbers) -> Mask:
    places = np.searchsorted(ordered, numbers)
    is_among: Mask = ordered[np.minimum(places, len(ordered) - 1)] == numbers
    return is_among


def each_once(products: Products, sums: Mask | None = None) -> Products:
    """Drop duplicate products in some sums, by default in all; literals must be sorted in each product."""
    of, literals, lengths = products.of, products.literals, products.lengths
    firsts = starts_of(lengths)[:-1]
    # The complement of a sum's number is larger than every literal, so hashes of sums and literals differ.
    keys = keys_of_rows(literals, firsts, lengths) + mixed(~of.astype(np.uint64))
    compared = np.flatnonzero(np.ones(len(of)) if sums is None else sums[of])
    again, first = equal_rows(compared[order_of(keys[compared])], keys, firsts, lengths, literals)
    kept = np.ones(len(of), np.bool_)
    kept[again[of[again] == of[first]]] = False
    return products.only(kept, kept[products.owners])
