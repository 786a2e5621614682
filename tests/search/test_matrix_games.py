"""Values of matrix games against exact rational solutions, with payoffs that hardly differ."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import nextafter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.search.retrograde import values_of_games

if TYPE_CHECKING:
    from collections.abc import Sequence

    Rows = list[list[Fraction]]


def _solved(equations: Rows) -> list[Fraction] | None:
    """Solve linear equations, the last column being the right-hand sides; None if they are singular."""
    rows = [row[:] for row in equations]
    size = len(rows)
    for column in range(size):
        pivot = next((n for n in range(column, size) if rows[n][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for n in range(size):
            if n != column:
                rows[n] = [a - rows[n][column] * b for a, b in zip(rows[n], rows[column], strict=True)]
    return [row[-1] for row in rows]


def _equalising(table: Rows) -> list[Fraction] | None:
    """Return a mixture of the rows that makes all columns worth the same, and that worth."""
    one, zero = Fraction(1), Fraction(0)
    columns = [[*column, -one, zero] for column in zip(*table, strict=True)]
    return _solved([*columns, [*[one] * len(table), zero, one]])


def exact_value(payoffs: Sequence[Sequence[float]]) -> Fraction:
    """Return the value of a matrix game: that of a square part whose mixtures are optimal (Shapley, Snow)."""
    table = [[Fraction(value) for value in row] for row in payoffs]
    across = [list(column) for column in zip(*table, strict=True)]
    for size in range(1, min(len(table), len(across)) + 1):
        for rows in combinations(range(len(table)), size):
            for columns in combinations(range(len(across)), size):
                part = [[table[r][c] for c in columns] for r in rows]
                mine = _equalising(part)
                theirs = _equalising([list(column) for column in zip(*part, strict=True)])
                if mine is None or theirs is None or min(*mine[:-1], *theirs[:-1]) < 0:
                    continue
                value = mine[-1]
                worths = [
                    sum(p * table[r][c] for p, r in zip(mine, rows, strict=False)) for c in range(len(across))
                ]
                costs = [
                    sum(q * across[c][r] for q, c in zip(theirs, columns, strict=False))
                    for r in range(len(table))
                ]
                if min(worths) >= value >= max(costs):
                    return value
    raise AssertionError("every matrix game has a value")


@st.composite
def near_equal(draw: st.DrawFn) -> list[list[float]]:
    """Payoffs within some units in the last place of one number, or of two."""
    bases = draw(st.lists(st.floats(0, 100, allow_subnormal=False), min_size=1, max_size=2))

    def payoff() -> float:
        value = draw(st.sampled_from(bases))
        for _ in range(draw(st.integers(0, 4))):
            value = nextafter(value, 200)
        return value

    rows, columns = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    return [[payoff() for _ in range(columns)] for _ in range(rows)]


def _checked(payoffs: list[list[float]], error: float) -> None:
    table = np.array([payoffs])
    (value,) = values_of_games(table)
    assured, conceded = table[0].min(axis=1).max(), table[0].max(axis=0).min()
    assert assured <= value <= conceded
    assert float(abs(Fraction(float(value)) - exact_value(payoffs))) <= error * np.ptp(table) + np.spacing(
        value
    )


@given(near_equal())
def test_near_equal_payoffs_have_a_value_between_pure_bounds(
    payoffs: list[list[float]],
) -> None:
    _checked(payoffs, 1e-9)


@given(
    st.integers(2, 3).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 100).map(float), min_size=columns, max_size=columns),
            min_size=2,
            max_size=3,
        )
    )
)
def test_goals_have_the_exact_value(payoffs: list[list[float]]) -> None:
    _checked(payoffs, 1e-9)


@pytest.mark.parametrize("steps", [(1, 0, 0, 1), (3, 1, 0, 2), (2, 1, 1, 3), (0, 3, 2, 1)])
def test_four_payoffs_that_hardly_differ(steps: tuple[int, ...]) -> None:
    one = np.spacing(0.71334)
    a, b, c, d = (0.71334 + step * one for step in steps)
    _checked([[a, b], [c, d]], 1e-9)
