"""Hex on nine by nine cells, where the second player may answer the first piece by swapping colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Cell = tuple[str, int]

ROWS: Final = "abcdefghi"
SIZE: Final = len(ROWS)
CELLS: Final[tuple[Cell, ...]] = tuple((row, column) for row in ROWS for column in range(1, SIZE + 1))
PLACES: Final = {f"(place {row} {column})": (row, column) for row, column in CELLS}
OTHER: Final = {"player1": "player2", "player2": "player1", "red": "blue", "blue": "red"}


def _neighbours(row: str, column: int) -> frozenset[Cell]:
    """Beside in the row and in the column, and on the diagonal that goes down to the left."""
    offsets = ((0, -1), (0, 1), (-1, 0), (1, 0), (1, -1), (-1, 1))
    found = {(chr(ord(row) + down), column + right) for down, right in offsets}
    return frozenset(found & set(CELLS))


NEIGHBOURS: Final = {cell: _neighbours(*cell) for cell in CELLS}


class HexPieState(NamedTuple):
    """Pieces of both colours, the role in control, player1's colour, and whether the swap is left."""

    red: frozenset[Cell] = frozenset()
    blue: frozenset[Cell] = frozenset()
    control: str = "player1"
    first_colour: str = "red"
    swap_left: bool = True


def joins(pieces: frozenset[Cell], colour: str) -> bool:
    """Whether pieces join row a to row i, if red, or column 1 to column 9, if blue."""
    near = [cell for cell in pieces if (cell[0] == "a" if colour == "red" else cell[1] == 1)]
    reached = set(near)
    while near:
        cell = near.pop()
        if cell[0] == "i" if colour == "red" else cell[1] == SIZE:
            return True
        new = (NEIGHBOURS[cell] & pieces) - reached
        reached |= new
        near.extend(new)
    return False


class HexPie:
    """See the module."""

    roles = ("player1", "player2")

    def initial(self) -> HexPieState:
        return HexPieState()

    def legal(self, state: HexPieState) -> dict[str, tuple[str, ...]]:
        red, blue = state.red, state.blue
        moves = tuple(text for text, cell in PLACES.items() if cell not in red and cell not in blue)
        if state.control == "player2" and state.swap_left:
            moves += ("swap",)
        return {role: moves if role == state.control else ("noop",) for role in self.roles}

    def next(self, state: HexPieState, joint: Mapping[str, str]) -> HexPieState:
        mover = state.control
        move = joint[mover]
        swap_left = state.swap_left and mover == "player1"
        if move == "swap":
            swapped = OTHER[state.first_colour]
            return HexPieState(state.red, state.blue, OTHER[mover], swapped, swap_left)
        colour = state.first_colour if mover == "player1" else OTHER[state.first_colour]
        red, blue = state.red, state.blue
        if colour == "red":
            red |= {PLACES[move]}
        else:
            blue |= {PLACES[move]}
        return HexPieState(red, blue, OTHER[mover], state.first_colour, swap_left)

    def is_terminal(self, state: HexPieState) -> bool:
        return joins(state.red, "red") or joins(state.blue, "blue")

    def goals(self, state: HexPieState) -> dict[str, int]:
        winning = "red" if joins(state.red, "red") else "blue"
        winner = "player1" if state.first_colour == winning else "player2"
        return {role: 100 if role == winner else 0 for role in self.roles}

    def cells(self, state: HexPieState) -> frozenset[str]:
        pieces = [(cell, "red") for cell in state.red] + [(cell, "blue") for cell in state.blue]
        return frozenset(f"(cell {row} {column} {colour})" for (row, column), colour in pieces)

    def control(self, state: HexPieState) -> frozenset[str]:
        return frozenset({f"(control {state.control})"})
