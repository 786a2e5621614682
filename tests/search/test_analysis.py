"""Which move stands first in an analysis."""

from __future__ import annotations

import pytest

from anygame import Bounds
from anygame.language.terms import Constant
from anygame.search.analysis import MoveAnalysis, best_first

UNKNOWN = Bounds(0, 100)


def move(
    name: str, visits: int, goal: float | None, bounds: Bounds = UNKNOWN, estimate: float | None = None
) -> MoveAnalysis:
    return MoveAnalysis(Constant(name), visits, goal, None, bounds, estimate=estimate)


LOST = move("lost", 900, 0, Bounds(0, 0))
DRAWN = move("drawn", 900, 50, Bounds(50, 50))


@pytest.mark.parametrize(
    ("moves", "order"),
    [
        ([move("fallen", 900, 45), move("risen", 800, 52)], "risen fallen"),
        ([move("often", 900, 50), move("close", 800, 50.1)], "often close"),
        ([move("often", 50, 60), move("lucky", 3, 100)], "often lucky"),
        ([move("often", 100_000, 50), move("seldom", 4_000, 70)], "often seldom"),
        ([move("none", 0, None), move("neither", 0, None)], "none neither"),
        ([move("often", 900, 50), move("won", 2, 100, Bounds(100, 100))], "won often"),
        ([LOST, move("other", 100, 10), move("better", 90, 40)], "better other lost"),
        ([DRAWN, move("risen", 80, 80), move("often", 800, 60)], "risen often drawn"),
    ],
)
def test_the_first_move_is_one_whose_mean_is_surely_high(moves: list[MoveAnalysis], order: str) -> None:
    ordered = best_first(moves, range_of_goals=100)
    assert " ".join(str(each.move) for each in ordered) == order


@pytest.mark.parametrize(("trust", "first"), [(0.0, "visited"), (0.6, "liked"), (1.0, "seldom")])
def test_estimates_count_as_much_as_they_are_trusted(trust: float, first: str) -> None:
    moves = [
        move("visited", 900, 60, estimate=40),
        move("liked", 800, 55, estimate=50),
        move("seldom", 50, 20, estimate=51),
    ]
    ordered = best_first(moves, range_of_goals=100, trust=trust)
    assert str(ordered[0].move) == first


def test_without_a_range_of_goals_moves_are_sorted_by_visits() -> None:
    moves = [move("fallen", 900, 45), move("risen", 800, 52)]
    assert best_first(moves) == tuple(moves)
