"""Six in a row on 11 by 11 cells: exactly six win, after an opening in which the colours are picked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Cell = tuple[int, int]

SIZE: Final = 11
DIRECTIONS: Final = ((1, 0), (0, 1), (1, 1), (1, -1))
CELLS: Final[tuple[Cell, ...]] = tuple((x, y) for x in range(1, SIZE + 1) for y in range(1, SIZE + 1))
#: Sorted by text, in which 10 and 11 come before 2.
PLACES: Final = dict(sorted((f"(place {x} {y})", (x, y)) for x, y in CELLS))
PICKS: Final = ("(pick black)", "(pick white)")
#: Who acts in a step of the setup, and the colour of the piece that may be placed in it.
SETUP: Final = {
    1: ("player1", "black"),
    2: ("player1", "white"),
    3: ("player1", "black"),
    4: ("player2", "white"),
    5: ("player2", "black"),
    6: ("player1", None),
}
OTHER: Final = {"player1": "player2", "player2": "player1", "black": "white", "white": "black"}


class SixInARowState(NamedTuple):
    """Pieces of both colours; the step of the setup, or 0 after it; then the turn and player1's colour."""

    black: frozenset[Cell] = frozenset()
    white: frozenset[Cell] = frozenset()
    setup: int = 1
    control: str = ""
    first_colour: str = ""


def has_line(pieces: frozenset[Cell]) -> bool:
    """Whether the pieces of one colour hold a run of exactly six."""
    for x, y in pieces:
        for dx, dy in DIRECTIONS:
            if (x - dx, y - dy) in pieces:
                continue
            length = 1
            while (x + length * dx, y + length * dy) in pieces:
                length += 1
            if length == 6:
                return True
    return False


class SixInARow:
    """See the module."""

    roles = ("player1", "player2")

    def initial(self) -> SixInARowState:
        return SixInARowState()

    def _mover(self, state: SixInARowState) -> str:
        return SETUP[state.setup][0] if state.setup else state.control

    def legal(self, state: SixInARowState) -> dict[str, tuple[str, ...]]:
        moves: tuple[str, ...] = ()
        if state.setup in (4, 6):
            moves = PICKS
        if state.setup != 6:
            black, white = state.black, state.white
            moves += tuple(text for text, cell in PLACES.items() if cell not in black and cell not in white)
        mover = self._mover(state)
        return {role: moves if role == mover else ("noop",) for role in self.roles}

    def next(self, state: SixInARowState, joint: Mapping[str, str]) -> SixInARowState:
        mover = self._mover(state)
        move = joint[mover]
        if move in PICKS:
            picked = move[len("(pick ") : -1]
            first = picked if mover == "player1" else OTHER[picked]
            return SixInARowState(state.black, state.white, 0, "player1", first)
        if state.setup:
            colour, setup, control = SETUP[state.setup][1], state.setup + 1, ""
        else:
            colour = state.first_colour if mover == "player1" else OTHER[state.first_colour]
            setup, control = 0, OTHER[mover]
        black, white = state.black, state.white
        if colour == "black":
            black |= {PLACES[move]}
        else:
            white |= {PLACES[move]}
        return SixInARowState(black, white, setup, control, state.first_colour)

    def is_terminal(self, state: SixInARowState) -> bool:
        full = len(state.black) + len(state.white) == SIZE * SIZE
        return full or has_line(state.black) or has_line(state.white)

    def goals(self, state: SixInARowState) -> dict[str, int]:
        first_wins = has_line(state.black if state.first_colour == "black" else state.white)
        second_wins = has_line(state.white if state.first_colour == "black" else state.black)
        if not first_wins and not second_wins:
            return {"player1": 50, "player2": 50}
        return {"player1": 100 if first_wins else 0, "player2": 100 if second_wins else 0}

    def cells(self, state: SixInARowState) -> frozenset[str]:
        pieces = [(cell, "black") for cell in state.black] + [(cell, "white") for cell in state.white]
        return frozenset(f"(cell {x} {y} {colour})" for (x, y), colour in pieces)

    def control(self, state: SixInARowState) -> frozenset[str] | None:
        """None in the setup: there the step says who acts, and control starts after it."""
        return None if state.setup else frozenset({f"(control {state.control})"})
