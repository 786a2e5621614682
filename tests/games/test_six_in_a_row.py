"""Six in a row: situations set up by playing them, with the answers the description gives."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pytest
from tests.games.rule_files import both, moves_of, play, step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.simulators import Simulator

Cell = tuple[int, int]
BOARD = [(x, y) for x in range(1, 12) for y in range(1, 12)]
#: Start and direction: edges, corners, both diagonals, and columns whose numbers sort oddly as text.
LINES = [
    ((1, 1), (0, 1)),
    ((1, 1), (1, 0)),
    ((11, 6), (0, 1)),
    ((6, 11), (1, 0)),
    ((1, 1), (1, 1)),
    ((6, 6), (1, 1)),
    ((1, 6), (1, -1)),
    ((6, 11), (1, -1)),
    ((4, 3), (0, 1)),
    ((3, 4), (1, 0)),
    ((3, 2), (1, 1)),
    ((4, 8), (1, -1)),
]


@pytest.fixture(params=["simulator", "rule file"])
def game(request: pytest.FixtureRequest) -> Simulator[Any]:
    return both("six_in_a_row", request.param)


def run(start: Cell, direction: Cell, length: int) -> list[Cell]:
    """The cells of a run."""
    return [(start[0] + k * direction[0], start[1] + k * direction[1]) for k in range(length)]


def elsewhere(avoided: Iterable[Cell], count: int) -> list[Cell]:
    """Cells of which no two are in touch, for the pieces that do not matter."""
    free = [cell for cell in BOARD if cell not in avoided and cell[0] % 2 and cell[1] % 2]
    assert len(free) >= count
    return free[:count]


def stones(black: list[Cell], white: list[Cell]) -> list[str]:
    """Place black and white by turns; player2 picks white after three pieces, so that player1 has black."""
    turns = zip_longest(black[2:], white[1:])
    order = [black[0], white[0], black[1], *(cell for pair in turns for cell in pair if cell)]
    places = [f"(place {x} {y})" for x, y in order]
    return [*places[:3], "(pick white)", *places[3:]]


def lined_up(cells: list[Cell], colour: str) -> list[str]:
    """Place cells of one colour in the order given; its last piece is the last move."""
    if colour == "black":
        return stones(cells, elsewhere(cells, len(cells) - 2))
    return stones(elsewhere(cells, len(cells) + 1), cells)


def test_setup_goes_step_by_step(game: Simulator[Any]) -> None:
    state = game.initial()
    for number, (x, colour) in enumerate(((1, "black"), (3, "white"), (5, "black")), 1):
        assert not game.is_terminal(state)
        legal = game.legal(state)
        assert legal["player2"] == ("noop",)
        assert len(legal["player1"]) == 122 - number
        assert f"(place {x} 1)" in legal["player1"]
        state = step(game, state, f"(place {x} 1)")
        assert f"(cell {x} 1 {colour})" in game.cells(state)
        assert f"(place {x} 1)" not in moves_of(game, state)
    legal = game.legal(state)
    assert legal["player1"] == ("noop",)
    assert legal["player2"][:2] == ("(pick black)", "(pick white)")
    assert len(legal["player2"]) == 120
    assert len(game.cells(state)) == 3


@pytest.mark.parametrize(("picked", "colour"), [("black", "white"), ("white", "black")])
def test_player2_picks_at_step_4(game: Simulator[Any], picked: str, colour: str) -> None:
    state = play(game, ["(place 1 1)", "(place 1 3)", "(place 1 5)", f"(pick {picked})"])
    assert len(game.cells(state)) == 3
    state = plays_on(game, state, [colour, picked])
    assert len(game.cells(state)) == 7


@pytest.mark.parametrize(("picked", "other"), [("black", "white"), ("white", "black")])
def test_player2_places_and_player1_picks_at_step_6(game: Simulator[Any], picked: str, other: str) -> None:
    state = play(game, ["(place 1 1)", "(place 1 3)", "(place 1 5)", "(place 1 7)"])
    assert "(cell 1 7 white)" in game.cells(state)
    legal = game.legal(state)
    assert legal["player1"] == ("noop",)
    assert len(legal["player2"]) == 117
    assert all(move.startswith("(place ") for move in legal["player2"])
    state = step(game, state, "(place 1 9)")
    assert "(cell 1 9 black)" in game.cells(state)
    assert game.legal(state) == {"player1": ("(pick black)", "(pick white)"), "player2": ("noop",)}
    state = step(game, state, f"(pick {picked})")
    plays_on(game, state, [picked, other])


def plays_on(game: Simulator[Any], state: Any, colours: list[str]) -> Any:
    """Four moves after the setup: player1 first, then by turns, each with its colour."""
    for number, y in enumerate((2, 4, 6, 8)):
        mover, waiting = ("player1", "player2") if number % 2 == 0 else ("player2", "player1")
        legal = game.legal(state)
        assert game.control(state) == frozenset({f"(control {mover})"})
        assert legal[waiting] == ("noop",)
        assert len(legal[mover]) == 121 - len(game.cells(state))
        assert all(move.startswith("(place ") for move in legal[mover])
        state = step(game, state, f"(place 11 {y})")
        assert f"(cell 11 {y} {colours[number % 2]})" in game.cells(state)
    return state


@pytest.mark.parametrize("colour", ["black", "white"])
@pytest.mark.parametrize(("start", "direction"), LINES)
def test_exactly_six_win(game: Simulator[Any], start: Cell, direction: Cell, colour: str) -> None:
    cells = run(start, direction, 6)
    cells.append(cells.pop(2))
    *before, last = lined_up(cells, colour)
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    black_wins = colour == "black"
    assert game.goals(state) == {"player1": 100 if black_wins else 0, "player2": 0 if black_wins else 100}


def test_white_wins_for_player1(game: Simulator[Any]) -> None:
    white = run((2, 2), (0, 1), 6)
    black = elsewhere(white, 6)
    order = [cell for pair in zip(black, white, strict=True) for cell in pair]
    places = [f"(place {x} {y})" for x, y in order]
    state = play(game, [*places[:3], "(pick black)", *places[3:]])
    assert game.is_terminal(state)
    assert game.goals(state) == {"player1": 100, "player2": 0}


@pytest.mark.parametrize("colour", ["black", "white"])
@pytest.mark.parametrize(
    ("start", "direction"),
    [((1, 1), (0, 1)), ((5, 2), (1, 0)), ((3, 5), (1, 1)), ((5, 11), (1, -1)), ((2, 5), (0, 1))],
)
def test_seven_do_not_win(game: Simulator[Any], start: Cell, direction: Cell, colour: str) -> None:
    cells = run(start, direction, 7)
    cells.append(cells.pop(3))
    state = play(game, lined_up(cells, colour))
    assert not game.is_terminal(state)
    assert len(moves_of(game, state)) == 121 - len(game.cells(state))


def test_eight_and_nine_do_not_win(game: Simulator[Any]) -> None:
    cells = run((6, 2), (0, 1), 9)
    cells.append(cells.pop(4))
    state = play(game, lined_up(cells, "black"))
    assert not game.is_terminal(state)
    state = play(game, lined_up([*cells[1:-1], cells[-1]], "black"))
    assert not game.is_terminal(state)


def test_six_win_beside_seven(game: Simulator[Any]) -> None:
    cells = run((2, 2), (0, 1), 7)
    cells.append(cells.pop(3))
    cells += run((4, 4), (0, 1), 6)
    *before, last = lined_up(cells, "black")
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert game.is_terminal(state)
    assert game.goals(state) == {"player1": 100, "player2": 0}


def test_one_piece_may_make_a_six_and_a_seven(game: Simulator[Any]) -> None:
    across, down = run((4, 2), (0, 1), 7), run((1, 5), (1, 0), 6)
    crossing = across.pop(3)
    cells = [*across, *(cell for cell in down if cell != crossing), crossing]
    *before, last = lined_up(cells, "black")
    state = play(game, before)
    assert not game.is_terminal(state)
    assert game.is_terminal(step(game, state, last))


def test_six_bounded_by_the_opponent_win(game: Simulator[Any]) -> None:
    cells = run((5, 3), (0, 1), 6)
    white = [(5, 2), (5, 9), *elsewhere([*cells, (5, 2), (5, 9)], 2)]
    state = play(game, stones(cells, white))
    assert game.is_terminal(state)
    assert game.goals(state) == {"player1": 100, "player2": 0}


@pytest.mark.parametrize(
    "cells",
    [
        [(1, 9), (1, 10), (1, 11), (2, 1), (2, 2), (2, 3)],  # around the edge
        [(5, 1), (5, 2), (5, 3), (5, 5), (5, 6), (5, 7)],  # with a gap
        [(5, 1), (5, 2), (5, 3), (6, 4), (6, 5), (6, 6)],  # with a bend
        [(5, 1), (5, 10), (5, 11), (5, 2), (5, 3), (5, 4)],  # neighbours as text, not as numbers
        [(5, 1), (5, 2), (5, 3), (5, 4), (5, 5)],  # too few
    ],
)
def test_six_out_of_line_do_not_win(game: Simulator[Any], cells: list[Cell]) -> None:
    assert not game.is_terminal(play(game, lined_up(cells, "black")))


def test_both_colours_in_one_line_do_not_win(game: Simulator[Any]) -> None:
    cells = run((5, 3), (0, 1), 6)
    other = elsewhere(cells, 1)
    assert not game.is_terminal(play(game, stones([*cells[::2], *other], cells[1::2])))


def pairs(blackened: Iterable[Cell] = (), whitened: Iterable[Cell] = ()) -> tuple[list[Cell], list[Cell]]:
    """A full board without a run of more than two: 61 black, 60 white; but for cells changed on purpose."""
    black = ({(x, y) for x, y in BOARD if (x // 2 + y) % 2 == 0} | set(blackened)) - set(whitened)
    return sorted(black), [cell for cell in BOARD if cell not in black]


def test_full_board_without_a_line_is_a_draw(game: Simulator[Any]) -> None:
    *before, last = stones(*pairs())
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert len(game.cells(state)) == 121
    assert game.is_terminal(state)
    assert game.goals(state) == {"player1": 50, "player2": 50}


def test_line_with_the_last_piece_of_a_full_board_wins(game: Simulator[Any]) -> None:
    black, white = pairs(blackened=[(2, 4), (8, 7), (1, 7)], whitened=[(1, 2), (1, 4), (1, 6)])
    white.append(white.pop(white.index((1, 4))))
    *before, last = stones(black, white)
    state = play(game, before)
    assert not game.is_terminal(state)
    state = step(game, state, last)
    assert len(game.cells(state)) == 121
    assert game.goals(state) == {"player1": 0, "player2": 100}
