"""Capture chess: captures are worth ten points each, up to ten of them."""

from __future__ import annotations

from itertools import chain, cycle, islice
from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, play, step, written_out

if TYPE_CHECKING:
    from tests.simulators import Simulator

THIRTY = 30


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest) -> Simulator[Any]:
    return both("capture_chess", request.param)


def by_turns(*parts: str) -> list[str]:
    """Thirty moves: the parts one after the other, the last of them again and again."""
    *first, last = (written_out("move", part) for part in parts)
    return list(islice(chain(*first, cycle(last)), THIRTY))


def red_captures(count: int) -> list[str]:
    """Blue puts pieces beside red until red has captured some; then both leap to and fro."""
    feeding = (["5253 7462"] + ["5362 7453", "6253 7462"] * 6)[:count]
    return by_turns("1433 7466 3352 7453", *feeding, "1422 6645", "2234 4566 3422 6645")


def blue_captures(count: int) -> list[str]:
    """The same in the mirror, after a first move of red."""
    mirror = str.maketrans("1234567", "7654321")
    mirrored = [
        f"(move {x.translate(mirror)} {y} {u.translate(mirror)} {v})"
        for x, y, u, v in (move.strip("()").split()[1:] for move in red_captures(count))
    ]
    return [*written_out("move", "1435"), *mirrored[: THIRTY - 1]]


@pytest.mark.parametrize("count", [0, 1, 2, 9, 10, 11, 13])
@pytest.mark.parametrize("role", ["red", "blue"])
def test_ten_points_a_capture_up_to_ten(game: Simulator[Any], role: str, count: int) -> None:
    *before, last = red_captures(count) if role == "red" else blue_captures(count)
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    score = min(10 * count, 100)
    assert game.goals(state) == {"red": score if role == "red" else 0, "blue": score if role == "blue" else 0}


def test_both_may_capture(game: Simulator[Any]) -> None:
    fight = "1433 7455 3354 5554 1435 5446 3546 7466 4654 7455 1422 5554"
    state = play(game, by_turns(fight, "2234 6645 3422 4566"))
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 10, "blue": 20}


def test_captured_pieces_are_removed(game: Simulator[Any]) -> None:
    state = play(game, written_out("move", "1433 7466 3352 7453 5253"))
    assert game.cells(state) == {
        "(cell 1 4 red)",
        "(cell 5 3 red)",
        "(cell 6 6 blue)",
        "(cell 7 4 blue)",
    }
