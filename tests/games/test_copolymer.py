"""Copolymer: situations set up by playing them, with the answers the description gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, moves_of, play, step, written_out

if TYPE_CHECKING:
    from tests.simulators import Simulator

#: Blue is player1 after the swap, once six times in control without a break; red ends with seven pieces.
LONG_PLAYS = "g2 swap d7 d6 b5 f1 g1 f2 a1 d1 e1 c5 d3 e2 d2 c3 e4 e3 f3 e5 d5 d4 a4 g4 g3 f4 a2"
LONG_PLAYS_CONTROL = "R B B R B R B B B R B B R B B B R B B B B B B R B B B"
#: The board is full after the nineteenth piece of blue; red has the other eighteen cells.
FULL_BOARD = (
    "a4 doNotSwap b3 e4 c4 e1 d5 e3 b5 e6 a2 f1 f5 c1 d6 g2 d4 f3 d3 g3 f2 g4 c6 g1 a1 a3 c5 d7 d1 e2 e5 c3"
    " b2 f4 b4 b1 c2 d2"
)
RED_WINS_SWAPPED = (
    "d2 swap g2 a2 f4 d3 b1 g1 b4 b2 d1 e1 c3 d6 e6 b3 f3 c5 a1 c6 f1 d7 c4 g4 g3 f5 d5 b5 a4 c2 f2 c1 d4 a3"
)


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest) -> Simulator[Any]:
    return both("copolymer", request.param)


def moves(text: str) -> list[str]:
    return written_out("move", text)


def controls(game: Simulator[Any], state: Any, colour: str, role: str) -> bool:
    """Whether a colour is in control, and just one role may act, with nothing but moves."""
    legal = game.legal(state)
    assert all(move.startswith("(move ") for move in legal[role])
    others = {other: answer for other, answer in legal.items() if other != role}
    assert set(others.values()) == {("noop",)}
    return game.control(state) == frozenset({f"(control {colour})"})


def test_red_starts_with_every_cell(game: Simulator[Any]) -> None:
    state = game.initial()
    assert controls(game, state, "red", "player1")
    lengths = dict(zip("abcdefg", (4, 5, 6, 7, 6, 5, 4), strict=True))
    cells = {f"(move {row} {n})" for row, length in lengths.items() for n in range(1, length + 1)}
    assert moves_of(game, state) == cells


def test_second_turn_is_the_pie_turn(game: Simulator[Any]) -> None:
    state = play(game, moves("d4"))
    assert game.legal(state) == {"player1": ("noop",), "player2": ("doNotSwap", "swap")}
    assert game.cells(state) == {"(cell d 4 red)"}


def test_without_the_swap_player2_is_blue(game: Simulator[Any]) -> None:
    state = play(game, moves("d4 doNotSwap"))
    assert controls(game, state, "blue", "player2")
    assert len(moves_of(game, state)) == 36
    state = step(game, state, "(move a 1)")
    assert game.cells(state) == {"(cell d 4 red)", "(cell a 1 blue)"}
    assert controls(game, state, "red", "player1")


def test_after_the_swap_player1_is_blue(game: Simulator[Any]) -> None:
    state = play(game, moves("d4 swap"))
    assert controls(game, state, "blue", "player1")
    assert game.cells(state) == {"(cell d 4 red)"}
    state = step(game, state, "(move a 1)")
    assert game.cells(state) == {"(cell d 4 red)", "(cell a 1 blue)"}
    assert controls(game, state, "red", "player2")
    assert "swap" not in moves_of(game, state)


@pytest.mark.parametrize(
    ("reds", "blue", "beside"),
    [
        ("c1 c3", "c2", 2),  # in its row
        ("d3 d5", "d4", 2),
        ("c2 c3", "b2", 2),  # the longer row below
        ("c1 c2", "b2", 1),
        ("c3 c4", "b2", 1),
        ("b2 b3", "c3", 2),  # the shorter row above
        ("b1 b2", "c3", 1),
        ("b3 b4", "c3", 1),
        ("c3 c4", "d4", 2),  # the middle row, between shorter ones
        ("e3 e4", "d4", 2),
        ("c3 e4", "d4", 2),
        ("c4 c5", "d4", 1),
        ("e4 e5", "d4", 1),
        ("c5 e2", "d4", 0),
        ("d3 d4", "e3", 2),  # below the middle
        ("f2 f3", "e3", 2),
        ("d2 d3", "e3", 1),
        ("f1 f3", "e3", 1),
        ("f3 f4", "e3", 1),
        ("b1 b2", "a1", 2),  # corners and edges
        ("c6 e6", "d7", 2),
        ("c6 d6", "d7", 2),
        ("f4 f5", "g4", 2),
        ("a4 c6", "b5", 2),
    ],
)
def test_two_opposing_neighbours_keep_control(
    game: Simulator[Any], reds: str, blue: str, beside: int
) -> None:
    first, second = reds.split()
    elsewhere = "g1" if blue[0] < "e" else "a1"
    state = play(game, moves(f"{first} doNotSwap {elsewhere} {second} {blue}"))
    if beside >= 2:
        assert controls(game, state, "blue", "player2")
    else:
        assert controls(game, state, "red", "player1")


def test_red_keeps_control_too(game: Simulator[Any]) -> None:
    state = play(game, moves("a1 doNotSwap c2 g1 c4"))
    assert controls(game, state, "red", "player1")
    state = step(game, state, "(move c 3)")
    assert controls(game, state, "red", "player1")
    state = step(game, state, "(move a 3)")
    assert controls(game, state, "blue", "player2")


def test_own_neighbours_do_not_keep_control(game: Simulator[Any]) -> None:
    state = play(game, moves("a1 doNotSwap d3 g1 d5 g4 d4"))
    assert controls(game, state, "red", "player1")


def test_more_than_two_opposing_neighbours_keep_control(game: Simulator[Any]) -> None:
    state = play(game, moves("d3 doNotSwap a1 d5 a4 c3 g1 e4 d4"))
    assert controls(game, state, "blue", "player2")


def test_long_plays_of_one_colour(game: Simulator[Any]) -> None:
    state, trace = game.initial(), []
    for move in moves(LONG_PLAYS):
        assert not game.is_terminal(state)
        trace.append("R" if game.control(state) == frozenset({"(control red)"}) else "B")
        state = step(game, state, move)
    assert " ".join(trace) == LONG_PLAYS_CONTROL
    assert game.is_terminal(state)
    assert sum("blue" in cell for cell in game.cells(state)) == 19
    assert game.goals(state) == {"player1": 100, "player2": 0}


@pytest.mark.parametrize(
    ("played", "colour", "pieces", "winner"),
    [
        (FULL_BOARD, "blue", 37, "player2"),
        (RED_WINS_SWAPPED, "red", 33, "player2"),
        (RED_WINS_SWAPPED.replace("swap", "doNotSwap"), "red", 33, "player1"),
        (FULL_BOARD.replace("doNotSwap", "swap"), "blue", 37, "player1"),
    ],
)
def test_the_nineteenth_piece_wins(
    game: Simulator[Any], played: str, colour: str, pieces: int, winner: str
) -> None:
    *before, last = moves(played)
    state = play(game, before)
    assert not game.is_terminal(state)
    assert sum(colour in cell for cell in game.cells(state)) == 18
    state = step(game, state, last)
    assert game.is_terminal(state)
    assert len(game.cells(state)) == pieces
    assert sum(colour in cell for cell in game.cells(state)) == 19
    assert game.goals(state) == {role: 100 if role == winner else 0 for role in ("player1", "player2")}
