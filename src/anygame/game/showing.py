"""Showing states and results: where games reach up to the boards, which are found above them.

Boards are looked for in the rules of a game, so they stand above `anygame.game`, and are loaded by name, when
something is first shown: nobody who plays waits for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.roles import JointMove
    from anygame.language.terms import Term


class BoardView(Protocol):
    """The boards of a state: ``print`` shows them as text, a notebook draws them."""

    def svg(self, *, dark: bool | None = None) -> str:
        """Return the drawing; for light or dark surroundings, or by default what the viewer prefers."""

    def save(self, path: str | os.PathLike[str], *, dark: bool | None = False) -> None:
        """Write the drawing into a file, in light colours unless asked otherwise."""

    def text(self, width: int = 80) -> str:
        """Return the boards and the other facts as text, in lines of a width."""

    def _repr_svg_(self) -> str: ...

    def _repr_html_(self) -> str: ...


class Planes(Protocol):
    """Fluents as planes over the squares of the board.

    Attributes:
        channels: what each plane shows.
        rows: how many, from top to bottom.
        columns: how many, from left to right.
    """

    channels: tuple[str, ...]
    rows: int
    columns: int

    def of(self, observation: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return observations [..., fluents] as planes: bool [..., channels, rows, columns]."""


def planes_of(game: object, fluents: Sequence[Term]) -> Planes:
    """Return how some fluents of a game lie on planes over its board."""
    return cast("Planes", import_module("anygame.boards.planes").find_planes(game, fluents))


def show(state: object, last: JointMove | None, before: object) -> BoardView:
    """Return the boards of a state, with marks for the joint move that led there from another."""
    return cast("BoardView", import_module("anygame.boards").view(state, last=last, before=before))


def animate(states: Sequence[object], moves: Sequence[JointMove]) -> str:
    """Return a match as an animated SVG."""
    boards = import_module("anygame.boards")
    return cast("str", boards.animation(boards.match_pictures(states, moves)))
