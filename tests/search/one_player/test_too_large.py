"""What is said of games for one role that have too many states."""

from __future__ import annotations

from dataclasses import replace

from tests.search.one_player.puzzles import sliding

import anygame
from anygame.search import solve
from anygame.search.solving import with_best_line

#: Less than any graph takes.
_LITTLE = 1_000


def test_a_line_that_is_proven_to_be_best_solves_a_game() -> None:
    game = anygame.load("knights_tour")
    counted = solve(game, memory=_LITTLE, seconds=0)
    found = with_best_line(game, game.initial_state(), counted, 1 << 28, seconds=60)
    assert (found.solved, found.reason, found.method) == (True, "", "best goal")
    assert (found.goals, found.bounds) == ({"knight": 100}, {"knight": (100, 100)})
    assert len(found.line) == 24


def test_an_unproven_value_lies_between_bounds() -> None:
    game = anygame.loads(sliding("bac-", last=12))
    counted = replace(solve(game, memory=_LITTLE, seconds=0), goals={"player": None}, solved=False)
    found = with_best_line(game, game.initial_state(), counted, _LITTLE, seconds=0.5)
    bounds = found.bounds["player"]
    assert bounds is None or (bounds.least, bounds.most) in {(0, 100), (0, 0)}
    assert bounds is None or len(found.line) == 12


def test_games_of_two_are_left_as_they_are() -> None:
    game = anygame.load("connect_four")
    counted = solve(game, memory=_LITTLE, seconds=0)
    assert not counted.solved
    assert counted.line == ()
    assert with_best_line(game, game.initial_state(), counted, _LITTLE, seconds=1) is counted
