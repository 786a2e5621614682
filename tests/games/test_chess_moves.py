"""The moves that capture chess and line chess share, in positions set up by playing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, moves_of, play, step, written_out

if TYPE_CHECKING:
    from tests.simulators import Simulator

#: After 24 moves blue stands on all four cells that the piece on red's spawn point could leap to, red has no
#: other piece, and none of blue's is beside it.
NO_MOVE_FOR_RED = (
    "1435 7455 3523 5536 1426 3626 2342 7455 4263 5534 6355 3422 5534 7455 3446 5546 1435 4635 1433 7455 3352"
    " 5534 5233 3433"
)


@pytest.fixture(params=["capture_chess", "line_chess"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest, name: str) -> Simulator[Any]:
    return both(name, request.param)


def moves(text: str) -> list[str]:
    return written_out("move", text)


def pieces(red: str, blue: str) -> set[str]:
    """Expand ``14 33`` to ``(cell 1 4 red)`` and ``(cell 3 3 red)``."""
    return {
        f"(cell {cell[0]} {cell[1]} {colour})"
        for colour, cells in (("red", red), ("blue", blue))
        for cell in cells.split()
    }


@pytest.mark.parametrize(
    ("played", "legal"),
    [
        ("", "1422 1426 1433 1435"),
        ("1433", "7462 7466 7453 7455"),
        ("1433 7455", "1422 1426 1435 3325 3345 3352 3354"),
        # From 5 5 blue may capture on 5 4; from 7 4 it may not leap to its own piece on 5 5.
        ("1433 7455 3354", "5534 5536 5543 5554 5563 7453 7462 7466"),
        # From 5 4 red may capture on 5 5, but not leap to blue's piece on 6 6.
        ("1433 7455 3354 7466", "1422 1426 1433 1435 5433 5435 5442 5446 5455 5462"),
        # Blue's piece on 7 4 is beside 6 4, but not on the board.
        ("1433 7466 3345 6654 4564 5433", "1422 1426 1435 6443 6445 6452 6456"),
        # The piece on blue's spawn point may capture beside it, and leap as before.
        ("1433 7466 3345 6654 4564", "5433 5435 5442 5446 5462 5464 5466 7453 7455 7462 7464 7466"),
    ],
)
def test_exactly_the_expected_moves_are_legal(game: Simulator[Any], played: str, legal: str) -> None:
    state = play(game, moves(played))
    mover, waiting = ("red", "blue") if len(moves(played)) % 2 == 0 else ("blue", "red")
    assert game.control(state) == frozenset({f"(control {mover})"})
    assert set(game.legal(state)[mover]) == (set(moves(legal)) if legal else set())
    assert game.legal(state)[waiting] == ("noop",)


@pytest.mark.parametrize(
    ("played", "red", "blue"),
    [
        ("", "14", "74"),
        ("1433", "14 33", "74"),  # a fresh piece on the spawn point that was left
        ("1433 7455", "14 33", "74 55"),
        ("1433 7455 3354", "14 54", "74 55"),
        ("1433 7455 3354 5554", "14", "74 54"),  # captured beside
        ("1433 7455 1422 5534 3334", "14 22 34", "74"),
        ("1433 7455 1422 5534 2234", None, None),  # not by a leap
        ("1433 7466 3345 6654 4564 7464", "14", "54 64 74"),  # captured from the spawn point, and refilled
        ("1426 7453 2645 5332 4564 3224 1424", "14 24 64", "74"),
    ],
)
def test_moves_change_pieces(game: Simulator[Any], played: str, red: str | None, blue: str | None) -> None:
    if red is None or blue is None:
        *before, last = moves(played)
        assert last not in moves_of(game, play(game, before))
    else:
        assert game.cells(play(game, moves(played))) == pieces(red, blue)


def test_noop_only_without_a_legal_move(game: Simulator[Any]) -> None:
    state = play(game, moves(NO_MOVE_FOR_RED))
    assert game.cells(state) == pieces("14", "22 26 33 35 74")
    assert game.control(state) == frozenset({"(control red)"})
    assert game.legal(state) == {"red": ("noop",), "blue": ("noop",)}
    before = game.cells(state)
    state = step(game, state, "noop")
    assert game.cells(state) == before
    assert game.control(state) == frozenset({"(control blue)"})
    assert game.legal(state)["red"] == ("noop",)
    assert "noop" not in game.legal(state)["blue"]


def test_noop_counts_a_step(game: Simulator[Any], name: str) -> None:
    *before, last = moves(f"{NO_MOVE_FOR_RED} noop 7455 noop 5563 noop 6344")
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 0, "blue": 40 if name == "capture_chess" else 0}


def test_the_last_step_is_the_thirtieth(game: Simulator[Any]) -> None:
    played = moves("1422 7466" + 7 * " 2234 6654 3422 5466")
    assert len(played) == 30
    state = play(game, played[:29])
    assert not game.is_terminal(state)
    state = step(game, state, played[29])
    assert game.is_terminal(state)
    assert game.goals(state) == {"red": 0, "blue": 0}
