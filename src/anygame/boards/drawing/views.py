"""Views: pictures that show themselves, printed as text and in notebooks as SVG."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from anygame.boards.drawing.composing import picture
from anygame.boards.drawing.svg import animation, svg
from anygame.boards.drawing.terminal import text

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from anygame.boards.drawing.pictures import Picture
    from anygame.game.moves import JointMove
    from anygame.game.state import State


class BoardView:
    """The boards of a state: ``print`` shows them as text, a notebook draws them.

    Attributes:
        picture: what is shown, as data.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def svg(self, *, dark: bool | None = None) -> str:
        """Return the drawing; for light or dark surroundings, or by default what the viewer prefers."""
        return svg(self.picture, dark=dark)

    def save(self, path: str | os.PathLike[str], *, dark: bool | None = False) -> None:
        """Write the drawing into a file, in light colours unless asked otherwise."""
        Path(path).write_text(self.svg(dark=dark), encoding="utf-8")

    def text(self, width: int = 80) -> str:
        """Return the boards and the other facts as text, in lines of a width."""
        return text(self.picture, width=width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<boards of {self.picture.title}: {sum(1 for _ in self.picture.cells())} cells>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        if not self.picture.grids:
            return f"<pre>{escape(self.text())}</pre>"
        others = text(replace(self.picture, grids=()))
        return f"{self.svg()}<pre>{escape(others)}</pre>" if others else self.svg()


def view(state: State, *, last: JointMove | None = None, before: State | None = None) -> BoardView:
    """Return the boards of a state; see `anygame.boards.picture`."""
    return BoardView(picture(state, last=last, before=before))


def match_view(states: Sequence[State], moves: Sequence[JointMove], *, dark: bool | None = None) -> str:
    """Return a match as an animation, step by step; see `anygame.boards.animation`.

    Args:
        states: all of them, the initial one first.
        moves: the joint moves between them.
        dark: for light or dark surroundings, or what the viewer prefers.
    """
    return animation(match_pictures(states, moves), dark=dark)


def match_pictures(states: Sequence[State], moves: Sequence[JointMove]) -> list[Picture]:
    """Return the picture of each state of a match, with the marks of the move that led there."""
    first = [picture(state) for state in states[:1]]
    steps = zip(states, moves, states[1:], strict=False)
    return first + [picture(state, last=move, before=before) for before, move, state in steps]
