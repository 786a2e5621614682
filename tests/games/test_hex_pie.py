"""Hex with a swap: situations set up by playing them, with the answers the description gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, moves_of, play, step, written_out

if TYPE_CHECKING:
    from tests.simulators import Simulator

ROWS = "abcdefghi"
COLUMN = " ".join(f"{row}5" for row in ROWS)
ROW = " ".join(f"e{column}" for column in range(1, 10))
#: Down to the left: nine cells, each touching the next.
DIAGONAL = " ".join(f"{row}{9 - index}" for index, row in enumerate(ROWS))
#: Down to the right: no two of them touch.
WRONG_DIAGONAL = " ".join(f"{row}{index + 1}" for index, row in enumerate(ROWS))
#: From row a down, right, up again on the diagonal, down to row i.
TURNS_OF_RED = "a2 b2 c2 d2 e2 e3 d4 d5 e5 f5 g5 g4 h3 h4 i4"
#: From column 1 right, down, left on the diagonal, right, up on the diagonal to column 9.
TURNS_OF_BLUE = "c1 c2 d2 e2 f1 g1 g2 g3 f4 e5 e6 d7 d8 c9"

#: Chains that go straight up a column, or straight back along a row, before they arrive.
UP_AGAIN = "a1 b1 c1 d1 e1 f1 g1 g2 g3 g4 f4 e4 d4 c4 c5 c6 c7 d7 e7 f7 g7 h7 i7"
BACK_AGAIN = "a8 b8 c8 c7 c6 c5 c4 d4 e4 f4 g4 h4 i4"
BLUE_UP = "g1 g2 g3 f3 e3 d3 c3 c4 c5 c6 c7 c8 c9"
BLUE_BACK = "c1 c2 c3 c4 c5 c6 c7 d7 e7 e6 e5 e4 e3 f3 g3 g4 g5 g6 g7 g8 g9"


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest) -> Simulator[Any]:
    return both("hex_pie", request.param)


def moves(text: str) -> list[str]:
    return written_out("place", text)


def chain(cells: str, colour: str, swap: bool = False) -> list[str]:
    """Place cells in one colour, in order, and cells that do not matter in the other.

    The other colour stays out of the last row or column, so that it cannot join. With the swap each colour
    still moves when it would have moved without, but by the other player.
    """
    chained = cells.split()
    aside = [
        f"{row}{column}"
        for row in (ROWS if colour == "red" else ROWS[:-1])
        for column in range(1, 9 if colour == "red" else 10)
        if f"{row}{column}" not in chained
    ]
    pairs = zip(chained, aside, strict=False) if colour == "red" else zip(aside, chained, strict=False)
    order = [cell for pair in pairs for cell in pair]
    if swap:
        order.insert(1, "swap")
    return moves(" ".join(order[:-1] if colour == "red" else order))


def test_the_first_player_can_place_anywhere(game: Simulator[Any]) -> None:
    state = game.initial()
    legal = game.legal(state)
    assert legal["player1"] == tuple(f"(place {row} {column})" for row in ROWS for column in range(1, 10))
    assert legal["player2"] == ("noop",)
    assert game.control(state) == frozenset({"(control player1)"})
    assert game.cells(state) == set()


def test_swap_may_answer_the_first_piece(game: Simulator[Any]) -> None:
    state = play(game, moves("e5"))
    legal = game.legal(state)
    assert legal["player1"] == ("noop",)
    assert "swap" in legal["player2"]
    assert len(legal["player2"]) == 81
    assert "(place e 5)" not in legal["player2"]


def test_after_the_swap_the_colours_are_exchanged(game: Simulator[Any]) -> None:
    state = play(game, moves("e5 swap"))
    assert game.cells(state) == {"(cell e 5 red)"}
    assert game.control(state) == frozenset({"(control player1)"})
    assert game.legal(state)["player2"] == ("noop",)
    assert len(game.legal(state)["player1"]) == 80
    assert "swap" not in moves_of(game, state)
    state = step(game, state, "(place a 1)")
    assert game.cells(state) == {"(cell e 5 red)", "(cell a 1 blue)"}
    assert game.legal(state)["player1"] == ("noop",)
    assert "swap" not in moves_of(game, state)
    assert len(moves_of(game, state)) == 79
    state = step(game, state, "(place i 9)")
    assert game.cells(state) == {"(cell e 5 red)", "(cell a 1 blue)", "(cell i 9 red)"}
    assert game.control(state) == frozenset({"(control player1)"})
    assert "swap" not in moves_of(game, state)


def test_the_swap_is_legal_only_as_the_first_answer(game: Simulator[Any]) -> None:
    state = game.initial()
    for number, move in enumerate(moves("e5 a1 i9 b2 h8 c3")):
        assert ("swap" in moves_of(game, state)) == (number == 1)
        state = step(game, state, move)
    assert game.cells(state) == {
        "(cell e 5 red)",
        "(cell a 1 blue)",
        "(cell i 9 red)",
        "(cell b 2 blue)",
        "(cell h 8 red)",
        "(cell c 3 blue)",
    }


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("cells", "colour"),
    [
        (COLUMN, "red"),
        (DIAGONAL, "red"),
        (TURNS_OF_RED, "red"),
        (ROW, "blue"),
        (DIAGONAL, "blue"),
        (TURNS_OF_BLUE, "blue"),
        (UP_AGAIN, "red"),
        (BACK_AGAIN, "red"),
        (BLUE_UP, "blue"),
        (BLUE_BACK, "blue"),
    ],
)
def test_a_chain_wins(game: Simulator[Any], cells: str, colour: str, swap: bool) -> None:
    *before, last = chain(cells, colour, swap)
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    winner = "player1" if (colour == "red") != swap else "player2"
    assert game.goals(state) == {role: 100 if role == winner else 0 for role in ("player1", "player2")}


@pytest.mark.parametrize("last", [0, 4, 8])
@pytest.mark.parametrize(("cells", "colour"), [(COLUMN, "red"), (ROW, "blue"), (DIAGONAL, "red")])
def test_the_last_piece_may_be_anywhere_in_the_chain(
    game: Simulator[Any], cells: str, colour: str, last: int
) -> None:
    order = cells.split()
    order.append(order.pop(last))
    *before, final = chain(" ".join(order), colour)
    state = play(game, before)
    assert not game.is_terminal(state)
    assert game.is_terminal(step(game, state, final))


@pytest.mark.parametrize(
    ("cells", "colour"),
    [
        (WRONG_DIAGONAL, "red"),
        (WRONG_DIAGONAL, "blue"),
        (ROW, "red"),  # joins the sides of the other colour
        (COLUMN, "blue"),
        ("a1 b1 c1 d1 e1 f2 g2 h2 i2", "red"),  # e1 and f2 lie on the wrong diagonal
        ("e1 e2 e3 e4 f5 f6 f7 f8 f9", "blue"),
        ("a5 b5 c5 d5 f5 g5 h5 i5", "red"),  # a gap
        ("a1 a2 a3 a4 a5 a6 a7 a8 b8 c8 d8 e8 f8 g8 h8", "red"),  # not to the last row
        ("b5 c5 d5 e5 f5 g5 h5 i5", "red"),  # not from the first
        ("a2 b2 c2 d2 e2 e3 d4 d5 e5 f5 g5 h6 i6", "red"),
    ],
)
def test_an_unconnected_chain_does_not_end_the_game(game: Simulator[Any], cells: str, colour: str) -> None:
    assert not game.is_terminal(play(game, chain(cells, colour)))


def test_a_chain_of_both_colours_does_not_join(game: Simulator[Any]) -> None:
    assert not game.is_terminal(play(game, moves(COLUMN)))
    assert not game.is_terminal(play(game, moves(ROW)))
