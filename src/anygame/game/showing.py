"""Display of states: functions through which games use `anygame.boards`, which is in a higher layer.

Boards are imported when a state is first displayed, because playing does not need boards.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from anygame.game.planes import Planes
    from anygame.game.roles import JointMove
    from anygame.language.terms import Term


class BoardView(Protocol):
    """The boards of a state: ``print`` shows them as text, and a notebook draws them."""

    def svg(self, *, dark: bool | None = None) -> str:
        """Return the drawing for a light or a dark background; by default, the viewer chooses."""

    def save(self, path: str | os.PathLike[str], *, dark: bool | None = False) -> None:
        """Write the drawing to a file, by default for a light background."""

    def text(self, width: int = 80) -> str:
        """Return the boards and the other facts as text, in lines of at most ``width`` characters."""

    def _repr_svg_(self) -> str: ...

    def _repr_html_(self) -> str: ...


def planes_of(game: object, fluents: Sequence[Term]) -> Planes:
    """Return the layout of a game's fluents as planes over its board."""
    return cast("Planes", import_module("anygame.boards.planes").find_planes(game, fluents))


def show(state: object, last: JointMove | None, before: object) -> BoardView:
    """Return the boards of a state, with marks for the joint move ``last`` from the state ``before``."""
    return cast("BoardView", import_module("anygame.boards").view(state, last=last, before=before))


def animate(states: Sequence[object], moves: Sequence[JointMove]) -> str:
    """Return a match as an animated SVG."""
    boards = import_module("anygame.boards")
    return cast("str", boards.animation(boards.match_pictures(states, moves)))
