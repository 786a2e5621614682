"""Line chess: the moves of capture chess, won by three in a row in the central nine cells.

The board is a string here, and the moves come from tables: nothing is shared with the simulator of capture
chess, so that the two check each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH: Final = 7
MARKS: Final = {"red": "r", "blue": "b"}
COLOURS: Final = {"r": "red", "b": "blue"}
OTHER: Final = {"red": "blue", "blue": "red"}
LAST_STEP: Final = 31


def _square(x: int, y: int) -> int:
    return (x - 1) * WIDTH + (y - 1)


def _targets(offsets: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """For every square, the squares of the inner five by five that some offsets reach."""
    inner = range(2, WIDTH)
    return tuple(
        tuple(_square(x + dx, y + dy) for dx, dy in offsets if x + dx in inner and y + dy in inner)
        for x in range(1, WIDTH + 1)
        for y in range(1, WIDTH + 1)
    )


STEPS: Final = _targets(((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)))
LEAPS: Final = _targets(((1, 2), (1, -2), (-1, 2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1)))
SPAWN: Final = {"red": _square(1, 4), "blue": _square(7, 4)}
#: The three rows, three columns and two diagonals of the central three by three, as cells.
LINES: Final[tuple[tuple[tuple[int, int], ...], ...]] = (
    ((3, 3), (3, 4), (3, 5)),
    ((4, 3), (4, 4), (4, 5)),
    ((5, 3), (5, 4), (5, 5)),
    ((3, 3), (4, 3), (5, 3)),
    ((3, 4), (4, 4), (5, 4)),
    ((3, 5), (4, 5), (5, 5)),
    ((3, 3), (4, 4), (5, 5)),
    ((3, 5), (4, 4), (5, 3)),
)
LINE_SQUARES: Final = tuple(tuple(_square(x, y) for x, y in line) for line in LINES)


def _name(square: int) -> str:
    return f"{square // WIDTH + 1} {square % WIDTH + 1}"


def _put(board: str, square: int, mark: str) -> str:
    return board[:square] + mark + board[square + 1 :]


class LineChessState(NamedTuple):
    """The board (``r``, ``b`` or ``.`` per square, x by x), the colour in control, and the step from 1."""

    board: str
    control: str = "red"
    step: int = 1


def has_line(state: LineChessState, colour: str) -> bool:
    """Whether a colour holds one of the eight lines."""
    mark = MARKS[colour]
    return any(all(state.board[square] == mark for square in line) for line in LINE_SQUARES)


class LineChess:
    """See the module."""

    roles = ("red", "blue")

    def initial(self) -> LineChessState:
        board = "." * WIDTH * WIDTH
        for colour, square in SPAWN.items():
            board = _put(board, square, MARKS[colour])
        return LineChessState(board)

    def legal(self, state: LineChessState) -> dict[str, tuple[str, ...]]:
        board, own, enemy = state.board, MARKS[state.control], MARKS[OTHER[state.control]]
        moves = []
        for square, mark in enumerate(board):
            if mark == own:
                targets = [to for to in STEPS[square] if board[to] == enemy]
                targets += [to for to in LEAPS[square] if board[to] == "."]
                moves += [f"(move {_name(square)} {_name(to)})" for to in targets]
        answers = tuple(sorted(moves)) if moves else ("noop",)
        return {role: answers if role == state.control else ("noop",) for role in self.roles}

    def next(self, state: LineChessState, joint: Mapping[str, str]) -> LineChessState:
        board, own = state.board, state.control
        move = joint[own]
        if move != "noop":
            x, y, to_x, to_y = (int(number) for number in move[len("(move ") : -1].split(" "))
            board = _put(board, _square(x, y), ".")
            board = _put(board, _square(to_x, to_y), MARKS[own])
            board = _put(board, SPAWN[own], MARKS[own])
        return LineChessState(board, OTHER[own], state.step + 1)

    def is_terminal(self, state: LineChessState) -> bool:
        return state.step >= LAST_STEP or any(has_line(state, colour) for colour in self.roles)

    def goals(self, state: LineChessState) -> dict[str, int]:
        return {role: 100 if has_line(state, role) else 0 for role in self.roles}

    def cells(self, state: LineChessState) -> frozenset[str]:
        return frozenset(
            f"(cell {_name(square)} {COLOURS[mark]})"
            for square, mark in enumerate(state.board)
            if mark != "."
        )

    def control(self, state: LineChessState) -> frozenset[str]:
        return frozenset({f"(control {state.control})"})
