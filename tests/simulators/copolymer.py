"""Copolymer: nineteen pieces first, on a hexagon of 37 cells, with a pie turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Cell = tuple[str, int]

ROWS: Final = "abcdefg"
LENGTHS: Final = dict(zip(ROWS, (4, 5, 6, 7, 6, 5, 4), strict=True))
TO_WIN: Final = 19
OTHER: Final = {"red": "blue", "blue": "red"}


def _neighbours(row: str, number: int) -> frozenset[Cell]:
    """The cells beside one in its row, and the two beside it in the row above and in the row below."""
    found = {(row, number - 1), (row, number + 1)}
    index = ROWS.index(row)
    for adjacent in ROWS[max(index - 1, 0) : index] + ROWS[index + 1 : index + 2]:
        slant = 1 if LENGTHS[adjacent] > LENGTHS[row] else -1
        found |= {(adjacent, number), (adjacent, number + slant)}
    return frozenset((r, n) for r, n in found if 1 <= n <= LENGTHS[r])


CELLS: Final[tuple[Cell, ...]] = tuple((row, n) for row in ROWS for n in range(1, LENGTHS[row] + 1))
NEIGHBOURS: Final = {cell: _neighbours(*cell) for cell in CELLS}
MOVES: Final = {f"(move {row} {n})": (row, n) for row, n in CELLS}


class CopolymerState(NamedTuple):
    """Pieces of both colours, the colour in control, who has which colour, and the part of the game."""

    red: frozenset[Cell] = frozenset()
    blue: frozenset[Cell] = frozenset()
    control: str = "red"
    owner: tuple[tuple[str, str], ...] = (("red", "player1"), ("blue", "player2"))
    phase: str = "first"  # then "pie", then "play"


class Copolymer:
    """See the module."""

    roles = ("player1", "player2")

    def initial(self) -> CopolymerState:
        return CopolymerState()

    def legal(self, state: CopolymerState) -> dict[str, tuple[str, ...]]:
        if state.phase == "pie":
            return {"player1": ("noop",), "player2": ("doNotSwap", "swap")}
        taken = state.red | state.blue
        moves = tuple(text for text, cell in MOVES.items() if cell not in taken)
        mover = dict(state.owner)[state.control]
        return {role: moves if role == mover else ("noop",) for role in self.roles}

    def next(self, state: CopolymerState, joint: Mapping[str, str]) -> CopolymerState:
        if state.phase == "pie":
            owner = dict(state.owner)
            if joint["player2"] == "swap":
                owner = {"red": owner["blue"], "blue": owner["red"]}
            return state._replace(owner=tuple(owner.items()), phase="play")
        cell = MOVES[joint[dict(state.owner)[state.control]]]
        red, blue, colour = state.red, state.blue, state.control
        opposing = blue if colour == "red" else red
        keeps = len(NEIGHBOURS[cell] & opposing) >= 2
        if colour == "red":
            red |= {cell}
        else:
            blue |= {cell}
        control = colour if keeps else OTHER[colour]
        phase = "pie" if state.phase == "first" else "play"
        return CopolymerState(red, blue, control, state.owner, phase)

    def is_terminal(self, state: CopolymerState) -> bool:
        return len(state.red) == TO_WIN or len(state.blue) == TO_WIN

    def goals(self, state: CopolymerState) -> dict[str, int]:
        winner = dict(state.owner)["red" if len(state.red) == TO_WIN else "blue"]
        return {role: 100 if role == winner else 0 for role in self.roles}

    def cells(self, state: CopolymerState) -> frozenset[str]:
        pieces = [(cell, "red") for cell in state.red] + [(cell, "blue") for cell in state.blue]
        return frozenset(f"(cell {row} {n} {colour})" for (row, n), colour in pieces)

    def control(self, state: CopolymerState) -> frozenset[str]:
        return frozenset({f"(control {state.control})"})
