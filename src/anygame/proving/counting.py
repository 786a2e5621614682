"""Conserved sums: weighted sums of fluents that are the same in every state.

For example, a sum can say that a counter equals the number of stones on a board. Equivalent clauses would be
very long. States of random play are rows of a matrix whose null space contains the sums (Karr 1976, "Affine
relationships among variables of a program"). A solver searches for steps that change a sum. Each such step
becomes a row, until no step changes a sum. If no step decreases a sum, the initial total is a lower bound.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from anygame.proving.ending import at_least, moving, sums_of
from anygame.proving.formula import Formula, any_step
from anygame.proving.induction import by_arguments, disjoint_groups, exclusive_groups
from anygame.proving.model import Lemma
from anygame.proving.patience import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.language.terms import Term
    from anygame.proving.matches import Sample
    from anygame.proving.model import Clause, Model
    from anygame.proving.patience import Patience

#: The states before and after a step: bool [2, fluents].
Step: TypeAlias = "NDArray[np.bool_]"

_MOST_CLASSES: Final = 600
#: Maximum number of states from random play, and maximum number of steps from random play.
_MOST_ROWS: Final = 8_000
#: Number of states in one matrix product.
_AT_ONCE: Final = 512
_MOST_WEIGHT: Final = 1_000
#: Maximum total of a sum's positive weights, and of its negative weights.
MOST_SUM: Final = 256
MOST_SUMS: Final = 24
#: Maximum change of a sum in a step.
MOST_CHANGED: Final = 64
#: The prime modulus of all arithmetic, small enough that products have at most 62 bits.
_PRIME: Final = (1 << 31) - 1


class Sum(NamedTuple):
    """A weighted sum of facts that is the same in every state, or has a lower bound.

    Attributes:
        total: the value of the sum if ``is_exact``, or else its lower bound.
        most: in a step, the increases of terms total at most this number, and so do the decreases.
        parts: the terms, each a weight and a fact. A fact is a disjunction of literals over fluents.
    """

    total: int
    most: int
    is_exact: bool
    parts: tuple[tuple[int, ...], ...]


def lemma_of(model: Model, counted: Sum, patience: Patience) -> Lemma:
    """Return the lemma that a sum has its total (or at least its lower bound) in every state."""
    gates = model.gates
    literals = [(gates.disjunction(fact), weight) for weight, *fact in counted.parts]
    side = [(x, weight) for x, weight in literals if weight > 0]
    other = [(x, -weight) for x, weight in literals if weight < 0]
    holds = _is_at_least(model, side, other, counted.total, patience)
    up, down = moving(model, side, patience)
    up_other, down_other = moving(model, other, patience)
    more, less = up + down_other, down + up_other
    kept = _is_at_least(model, more, less, 0, patience, counted.most)
    if counted.is_exact:
        holds = gates.conjunction([holds, _is_at_least(model, other, side, -counted.total, patience)])
        kept = gates.conjunction([kept, _is_at_least(model, less, more, 0, patience, counted.most)])
    return Lemma(holds, gates.conjunction([model.moving, kept ^ 1]))


def _is_at_least(
    model: Model,
    one: Sequence[tuple[int, int]],
    other: Sequence[tuple[int, int]],
    more: int,
    patience: Patience,
    most: int | None = None,
) -> int:
    """Return a literal that holds if ``one`` is at least ``other`` plus ``more``; ``most`` caps both sums."""
    limit = 1 + (max(sum(weight for _, weight in parts) for parts in (one, other)) if most is None else most)
    first, second = (sums_of(model, parts, limit, patience) for parts in (one, other))
    gates = model.gates
    implied = [
        gates.disjunction([at_least(second, total - more) ^ 1, at_least(first, total)])
        for total in range(min(0, more) + 1, limit + max(0, more) + 1)
    ]
    return gates.conjunction([at_least(second, limit) ^ 1, *implied])


def sums(model: Model, sample: Sample, invariant: Sequence[Clause], patience: Patience) -> list[Sum]:
    """Return the conserved sums, proved together by induction.

    The model gets no new gates. If time runs out during the search for lower bounds, only exact sums are
    returned.
    """
    matrix = _Matrix(model, sample, invariant, patience)
    lost: dict[Sum, None] = {}
    while True:
        conserved = matrix.sums(patience)
        steps = _changing_steps(model, conserved, invariant, patience)
        if not steps:
            bounds: list[Sum] = []
            with suppress(OutOfTimeError):
                bounds = _bounds(matrix, conserved, list(lost), patience)
            return conserved + bounds
        for step in steps:
            lost.update(dict.fromkeys(filter(None, (_bound(counted, step) for counted in conserved))))
            matrix.add(step)


def _bound(counted: Sum, step: Step) -> Sum | None:
    """Return a changed sum with a lower bound that the step respects; None if the bound is trivial."""
    (change,), _ = _moves_of(counted.parts, step[:1], step[1:])
    sign = int(np.sign(change))
    parts = tuple((sign * weight, *fact) for weight, *fact in counted.parts)
    lowest = sum(min(0, weight) for weight, *_ in parts)
    return Sum(sign * counted.total, counted.most, False, parts) if sign * counted.total > lowest else None


def _bounds(matrix: _Matrix, exact: Sequence[Sum], lost: Sequence[Sum], patience: Patience) -> list[Sum]:
    """Return the sums in ``lost`` whose lower bounds hold in every state, given the exact sums."""
    candidates = list(lost)[:MOST_SUMS]
    while candidates:
        candidates = list(filter(None, map(matrix.known, candidates)))
        steps = _changing_steps(matrix.model, [*exact, *candidates], matrix.invariant, patience)
        if not steps:
            break
        for step in steps:
            matrix.add(step)
    return candidates


def _changing_steps(
    model: Model, conserved: Sequence[Sum], invariant: Sequence[Clause], patience: Patience
) -> list[Step]:
    """Return steps that change at least one sum, from states in which every sum has its total."""
    scratch = model.scratch()
    lemmas = [lemma_of(scratch, counted, patience) for counted in conserved]
    steps: list[Step] = []
    with Formula(patience) as formula:
        copy = any_step(formula, scratch, invariant)
        then = [copy(literal) for literal in scratch.next]
        all_hold = formula.new()
        for lemma in lemmas:
            formula.add(-all_hold, copy(lemma.holds))
        for counted, lemma in zip(conserved, lemmas, strict=True):
            is_lost = any(_moves_of(counted.parts, step[:1], step[1:])[0].any() for step in steps)
            changes = copy(lemma.changes)
            # The query that assumes all sums is slow, so a query without sums comes first.
            if not is_lost and formula.solve([changes]) and formula.solve([changes, all_hold]):
                value = formula.assignment()
                steps.append(np.array([list(map(value, copy.state)), list(map(value, then))]))
    return steps


def _moves_of(
    parts: Sequence[tuple[int, ...]], before: NDArray[np.bool_], after: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], int]:
    """Return the change of a sum in each step, and ``Sum.most`` for these steps."""
    more, less = np.zeros((2, len(before)), np.int64)
    for weight, *fact in parts:
        columns = [(literal >> 1) - 1 for literal in fact]
        moved = weight * (after[:, columns].any(axis=1).astype(np.int64) - before[:, columns].any(axis=1))
        more += np.maximum(moved, 0)
        less += np.maximum(-moved, 0)
    return more - less, int(np.maximum(more, less).max(initial=1))


class _Matrix:
    """Known states and steps, from which conserved sums are computed."""

    def __init__(self, model: Model, sample: Sample, invariant: Sequence[Clause], patience: Patience) -> None:
        self.model, self.invariant = model, invariant
        self._exclusive, exact = _exclusive(model, invariant)
        self._kinds = _classes(model.fluents)
        self._before, self._after = (each[:: 1 + len(each) // _MOST_ROWS] for each in sample.steps())
        states = sample.states[:: 1 + len(sample.states) // _MOST_ROWS]
        width = 1 + self._kinds.shape[1]
        #: The Gram matrix of the states, which is small and has the same null space as the states.
        self._gram: NDArray[np.int64] = np.zeros((width, width), np.int64)
        for first in range(0, len(states), _AT_ONCE):
            patience.check()
            part = states[first : first + _AT_ONCE]
            counts = np.concatenate([np.ones((len(part), 1)), part @ self._kinds], axis=1)
            self._gram = (self._gram + (counts.T @ counts).astype(np.int64)) % _PRIME
        #: Weights of trivial sums: in every state, exactly one fluent of the group holds, so the sum is 1.
        self._trivial: NDArray[np.int64] = np.zeros((len(exact), len(model.fluents)), np.int64)
        for row, group in zip(self._trivial, exact, strict=True):
            row[group] = 1

    def add(self, step: Step) -> None:
        self._before = np.concatenate([self._before, step[:1]])
        self._after = np.concatenate([self._after, step[1:]])
        counts = step.astype(np.float64) @ self._kinds
        change = np.concatenate([[0], counts[1] - counts[0]]).astype(np.int64)
        self._gram = (self._gram + np.outer(change, change)) % _PRIME

    def sums(self, patience: Patience) -> list[Sum]:
        """Return the sums that have the same value in all known states."""
        rows = list(self._trivial)
        for vector in _null_space(self._gram, patience):
            whole = _whole(vector)
            if whole is not None:
                weights = (self._kinds @ whole[1:]).astype(np.int64)
                if self._sum(weights) is not None:
                    rows.append(weights)
        # Pivots are the rows that are linearly independent of all earlier rows.
        _, pivots = _reduced(np.stack(rows, axis=1), patience) if rows else (None, [])
        independent = [rows[place] for place in pivots if place >= len(self._trivial)]
        kept = []
        for row in _sparse(independent, patience):
            patience.check()
            counted = self._sum(row)
            kept += [] if counted is None else [counted]
        return sorted(kept, key=lambda counted: len(counted.parts))[:MOST_SUMS]

    def _sum(self, weights: NDArray[np.int64]) -> Sum | None:
        """Return a sum with these weights; None if the sum is too large or a known step changes the sum."""
        parts: list[tuple[int, ...]] = []
        for group in self._exclusive:
            for sign in (1, -1):
                levels = sorted({0, *(sign * int(weights[f]) for f in group if sign * weights[f] > 0)})
                for below, level in pairwise(levels):
                    fact = [2 * f + 2 for f in group if sign * weights[f] >= level]
                    parts.append((sign * (level - below), *fact))
        sizes = [sum(max(0, sign * weight) for weight, *_ in parts) for sign in (1, -1)]
        if not parts or max(sizes) > MOST_SUM:
            return None
        return self.known(Sum(int(weights @ self.model.initial), 0, True, tuple(parts)))

    def known(self, counted: Sum) -> Sum | None:
        """Set ``Sum.most`` from the known steps; return None if a known step contradicts the sum."""
        change, most = _moves_of(counted.parts, self._before, self._after)
        wrong = change.any() if counted.is_exact else (change < 0).any()
        return None if wrong or most > MOST_CHANGED else counted._replace(most=most)


def _exclusive(model: Model, invariant: Sequence[Clause]) -> tuple[list[list[int]], list[list[int]]]:
    """Return disjoint groups of which at most one fluent holds, and groups of which exactly one holds."""
    clauses = set(invariant)
    possible = exclusive_groups(model, invariant)
    exact = [group for group in possible if tuple(2 * f + 2 for f in group) in clauses]
    exact += [[(x >> 1) - 1 for x in c] for c in clauses if len(c) == 2 and not any(x & 1 for x in c)]
    return disjoint_groups(possible, len(model.fluents)), exact


def _classes(fluents: Sequence[Term]) -> NDArray[np.float64]:
    """Return a matrix [fluents, classes]. Fluents of a class share a relation and up to two arguments.

    The smallest classes come first.
    """
    classes: dict[tuple[int, ...], None] = {}
    for width in (0, 1, 2):
        members = by_arguments(fluents, width)
        if len(classes) + len(members) <= _MOST_CLASSES:
            classes.update(dict.fromkeys(map(tuple, members)))
    kinds = np.zeros((len(fluents), len(classes)))
    for column, group in enumerate(sorted(classes, key=len)):
        kinds[list(group), column] = 1
    return kinds


def _null_space(matrix: NDArray[np.int64], patience: Patience) -> Iterator[NDArray[np.int64]]:
    rows, pivots = _reduced(matrix, patience)
    for column in sorted(set(range(rows.shape[1])) - set(pivots)):
        patience.check()
        vector = np.zeros(rows.shape[1], np.int64)
        vector[column] = 1
        vector[pivots] = -rows[: len(pivots), column] % _PRIME
        yield vector


def _reduced(matrix: NDArray[np.int64], patience: Patience) -> tuple[NDArray[np.int64], list[int]]:
    """Return the reduced row echelon form of a matrix, modulo the prime, and its pivot columns."""
    rows, pivots = matrix % _PRIME, list[int]()
    for column in range(rows.shape[1]):
        patience.check()
        place = len(pivots)
        nonzero = np.flatnonzero(rows[place:, column])
        if not len(nonzero):
            continue
        rows[[place, place + nonzero[0]]] = rows[[place + nonzero[0], place]]
        rows[place] = rows[place] * pow(int(rows[place, column]), -1, _PRIME) % _PRIME
        other_rows = np.flatnonzero(rows[:, column])
        other_rows = other_rows[other_rows != place]
        rows[other_rows] = (rows[other_rows] - rows[other_rows, column, None] * rows[place]) % _PRIME
        pivots.append(column)
    return rows, pivots


def _sparse(rows: Sequence[NDArray[np.int64]], patience: Patience) -> list[NDArray[np.int64]]:
    """Make rows sparser by adding or subtracting other rows; the rows still span the same space.

    A solver infers more from sums of few fluents.
    """
    sparse = list(rows)
    for place, row in enumerate(sparse):
        patience.check()
        others = [sign * other for n, other in enumerate(sparse) if n != place for sign in (1, -1)]
        best = min([row, *(row + other for other in others)], key=np.count_nonzero)
        if best.any():
            sparse[place] = best
    return sparse


def _whole(vector: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return small integers proportional to a vector modulo the prime; None without such integers."""
    parts = [_fraction(int(value)) for value in vector]
    common = lcm(*(below for _, below in parts))
    if common > _MOST_WEIGHT:
        return None
    whole = np.array([above * (common // below) for above, below in parts], np.int64)
    return None if np.abs(whole).max(initial=0) > _MOST_WEIGHT else whole


def _fraction(value: int) -> tuple[int, int]:
    """Return the simplest fraction that equals a number modulo the prime (Wang 1981)."""
    (above, below), (here, there) = (_PRIME, value), (0, 1)
    while below * below * 2 > _PRIME:
        quotient = above // below
        above, below = below, above - quotient * below
        here, there = there, here - quotient * there
    return (below, there) if there > 0 else (-below, -there)
