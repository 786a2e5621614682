"""Line chess: three in a row in the central nine cells win, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, play, step, written_out

if TYPE_CHECKING:
    from tests.simulators import Simulator

#: Colour, line, and moves of which the last completes the line.
LINES = [
    ("red", "33 34 35", "1433 7453 1426 5332 2634 3253 1435"),
    ("red", "43 44 45", "1422 7453 2243 5332 1435 3253 3523 5332 2344 3253 1426 5332 2645"),
    ("red", "53 54 55", "1426 7462 2634 6243 3453 4362 1435 6243 3554 4362 1426 6243 2634 4362 3455"),
    ("red", "33 43 53", "1433 7455 1422 5534 2243 3455 1426 5534 2645 3455 4553"),
    ("red", "34 44 54", "1426 7453 2634 5332 1435 3253 3523 5332 2344 3253 1435 5332 3554"),
    ("red", "35 45 55", "1435 7453 1426 5332 2645 3253 1426 5332 2634 3253 3455"),
    ("red", "33 44 55", "1433 7453 1435 5332 3523 3253 2344 5332 1426 3253 2634 5332 3455"),
    ("red", "35 44 53", "1435 7455 1433 5534 3325 3455 2544 5534 1426 3455 2645 5534 4553"),
    ("blue", "33 34 35", "1422 7466 2243 6654 4322 5433 2243 7455 4322 5534 2243 7466 4322 6654 2243 5435"),
    ("blue", "43 44 45", "1422 7462 2234 6243 3422 7455 2234 5563 3422 6344 2234 7466 3422 6645"),
    ("blue", "53 54 55", "1422 7453 2234 7466 3422 6654 2234 7455"),
    ("blue", "33 43 53", "1422 7466 2234 6654 3422 5433 2234 7462 3422 6243 2234 7453"),
    ("blue", "34 44 54", "1422 7455 2243 5534 4322 7455 2243 5563 4322 6344 2243 7466 4322 6654"),
    ("blue", "35 45 55", "1422 7466 2234 6654 3422 5435 2234 7466 3422 6645 2234 7455"),
    ("blue", "33 44 55", "1422 7466 2234 6654 3422 5433 2234 7455 3422 5563 2234 6344 3422 7455"),
    ("blue", "35 44 53", "1422 7466 2234 6654 3422 5435 2234 7455 3422 5563 2234 6344 3422 7453"),
]
#: Three red pieces that are no line: outside the centre, across its edge, or not in a row.
NOT_LINES = [
    ("23 24 25", "1435 7453 3523 5332 1426 3253 2645 5332 4524 3253 1433 5332 3325"),
    ("32 33 34", "1422 7453 2243 5345 4324 4553 2432 5345 1433 4553 1426 5345 2634"),
    ("44 45 46", "1435 7453 3523 5332 2344 3253 1426 5332 2645 3253 1426 5332 2634 3253 3446"),
    ("22 33 44", "1422 7453 1433 5332 1435 3253 3523 5332 2344"),
    ("44 55 66", "1435 7453 3523 5332 2344 3253 1426 5332 2634 3253 3455 5332 1426 3253 2645 5332 4566"),
    ("43 34 25", "1422 7453 2243 5332 1426 3253 2634 5332 1433 3253 3325"),
    ("23 33 43", "1435 7453 3523 5332 1433 3253 1422 5332 2243"),
    ("33 35 44", "1433 7453 1435 5334 1426 3453 2645 5334 4564 3453 6456 5334 5644"),
]


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest) -> Simulator[Any]:
    return both("line_chess", request.param)


def moves(text: str) -> list[str]:
    return written_out("move", text)


def pieces(colour: str, cells: str) -> set[str]:
    """Expand ``33 34`` to ``(cell 3 3 red)`` and ``(cell 3 4 red)``."""
    return {f"(cell {cell[0]} {cell[1]} {colour})" for cell in cells.split()}


@pytest.mark.parametrize(("colour", "line", "played"), LINES)
def test_a_line_wins(game: Simulator[Any], colour: str, line: str, played: str) -> None:
    *before, last = moves(played)
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert pieces(colour, line) <= game.cells(state)
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 100 if colour == "red" else 0, "blue": 100 if colour == "blue" else 0}


@pytest.mark.parametrize(("cells", "played"), NOT_LINES)
def test_without_a_line_the_game_continues(game: Simulator[Any], cells: str, played: str) -> None:
    state = play(game, moves(played))
    assert pieces("red", cells) <= game.cells(state)
    assert not game.is_terminal(state)


def test_a_line_of_both_colours_does_not_win(game: Simulator[Any]) -> None:
    state = play(game, moves("1433 7455 1435 5534"))
    assert pieces("red", "33 35") | pieces("blue", "34") <= game.cells(state)
    assert not game.is_terminal(state)


def test_a_capture_may_complete_a_line(game: Simulator[Any]) -> None:
    state = play(game, moves("1433 7455 1435 5534 1422 7466 2243 6645"))
    assert not game.is_terminal(state)
    state = step(game, state, "(move 4 3 3 4)")
    assert pieces("red", "33 34 35") <= game.cells(state)
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 100, "blue": 0}


def test_a_line_with_the_last_move_wins(game: Simulator[Any]) -> None:
    red = ["1422", *(["2234", "3422"] * 7)]
    blue = ["7466", "6654", *(["5466", "6654"] * 4), "5435", "7455", "5563", "6344", "7453"]
    *before, last = moves(" ".join(word for pair in zip(red, blue, strict=True) for word in pair))
    assert len(before) == 29
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 0, "blue": 100}
