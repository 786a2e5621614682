"""Capture chess: leap like a knight, capture like a king, ten points a capture, thirty moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Piece = tuple[int, int, str]

SPAWN_POINTS: Final[Mapping[str, Piece]] = {"red": (1, 4, "red"), "blue": (7, 4, "blue")}
OTHER: Final = {"red": "blue", "blue": "red"}
LAST_STEP: Final = 31
MOST_CAPTURES: Final = 10


class CaptureChessState(NamedTuple):
    """The pieces, the colour in control, the step from 1, and the captures of red and of blue."""

    pieces: frozenset[Piece] = frozenset(SPAWN_POINTS.values())
    control: str = "red"
    step: int = 1
    captures: tuple[int, int] = (0, 0)


def _on_board(x: int, y: int) -> bool:
    return 2 <= x <= 6 and 2 <= y <= 6


def _moves(state: CaptureChessState) -> list[str]:
    """The moves of the colour in control, sorted by text."""
    own, enemy = state.control, OTHER[state.control]
    moves = []
    for x, y, colour in state.pieces:
        if colour != own:
            continue
        for dx in range(-2, 3):
            for dy in range(-2, 3):
                to_x, to_y = x + dx, y + dy
                if not _on_board(to_x, to_y):
                    continue
                reach = sorted((abs(dx), abs(dy)))
                touching = reach in ([0, 1], [1, 1])
                leap = reach == [1, 2]
                to_enemy = (to_x, to_y, enemy) in state.pieces
                to_own = (to_x, to_y, own) in state.pieces
                if (touching and to_enemy) or (leap and not to_enemy and not to_own):
                    moves.append(f"(move {x} {y} {to_x} {to_y})")
    return sorted(moves)


class CaptureChess:
    """See the module."""

    roles = ("red", "blue")

    def initial(self) -> CaptureChessState:
        return CaptureChessState()

    def legal(self, state: CaptureChessState) -> dict[str, tuple[str, ...]]:
        moves = tuple(_moves(state)) or ("noop",)
        return {role: moves if role == state.control else ("noop",) for role in self.roles}

    def next(self, state: CaptureChessState, joint: Mapping[str, str]) -> CaptureChessState:
        own, enemy = state.control, OTHER[state.control]
        pieces = set(state.pieces)
        red, blue = state.captures
        move = joint[own]
        if move != "noop":
            x, y, to_x, to_y = map(int, move.strip("()").split()[1:])
            if (to_x, to_y, enemy) in pieces:
                pieces.remove((to_x, to_y, enemy))
                red, blue = (red + 1, blue) if own == "red" else (red, blue + 1)
            pieces.remove((x, y, own))
            pieces.add((to_x, to_y, own))
            pieces.add(SPAWN_POINTS[own])
        return CaptureChessState(frozenset(pieces), enemy, state.step + 1, (red, blue))

    def is_terminal(self, state: CaptureChessState) -> bool:
        return state.step == LAST_STEP

    def goals(self, state: CaptureChessState) -> dict[str, int]:
        return {
            role: 10 * min(count, MOST_CAPTURES)
            for role, count in zip(self.roles, state.captures, strict=True)
        }

    def cells(self, state: CaptureChessState) -> frozenset[str]:
        return frozenset(f"(cell {x} {y} {colour})" for x, y, colour in state.pieces)

    def control(self, state: CaptureChessState) -> frozenset[str]:
        return frozenset({f"(control {state.control})"})
