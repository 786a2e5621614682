"""Boards as pages show them: pictures as SVG, whose cells answer to clicks, keys and screen readers."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards import Picture
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Cells that are drawn: a board of 50 by 50 takes half a megabyte of SVG.
_MOST_CELLS: Final = 2_500
#: Facts of one fluent that are listed of a game without a board.
_MOST_LISTED: Final = 500
_CELL: Final = re.compile(
    r'<g id="(?P<id>[^"]*)" class="(?P<marks>cell[^"]*)" data-cell="[^"]*">'
    r"<title>(?P<title>.*?)</title>(?P<inner>.*?)\n</g>",
    re.DOTALL,
)
#: Pages allow no styles but those of their own sheet, which has these rules too.
_STYLE: Final = re.compile(r"<style>.*?</style>", re.DOTALL)


def draw(
    painter: Painter, state: State, *, before: State | None, joint: Sequence[Term] | None
) -> dict[str, Any]:
    """Return the boards of a state as SVG, and the cells that every legal move names.

    Args:
        painter: of the game.
        state: what is drawn.
        before: the state before it, and the ``joint`` move between; None at the start.
        joint: see ``before``.
    """
    roles = [] if state.is_terminal else [role for role in state.game.roles if not role.is_random]
    picture = painter.picture(state, last=joint, before=before, legal_for=roles)
    touches: dict[str, dict[str, Any]] = {role: {} for role in roles}
    for touch in picture.touches:
        if touch.cells or touch.area:
            touches[touch.role][str(touch.move)] = {"cells": touch.cells, "area": touch.area}
    count = sum(len(grid.cells) for grid in picture.grids)
    return {
        "svg": _svg(picture) if 0 < count <= _MOST_CELLS else "",
        "touches": touches,
        "colours": dict(picture.colours),
        "listings": [
            {
                "name": listing.name,
                "facts": [text for text, _ in listing.facts[:_MOST_LISTED]],
                "hands": [(hand.owner, hand.cards[:_MOST_LISTED]) for hand in listing.hands[:_MOST_LISTED]],
            }
            for listing in picture.others
        ],
    }


def _svg(picture: Picture) -> str:
    """Return the picture as a grid of rows of cells, so that readers and keys find their way in it.

    Which moves are legal is not drawn: that depends on who looks at it.
    """
    grids = [
        replace(grid, cells=tuple([replace(cell, marks=cell.marks - {"legal"}) for cell in grid.cells]))
        for grid in picture.grids
    ]
    plain = replace(picture, grids=tuple(grids))
    rows = _Rows(picture)
    text = _CELL.sub(rows.cell, _STYLE.sub("", svg(plain)))
    return text.replace('role="img"', 'role="grid" aria-label="Board"', 1)


class _Rows:
    """Puts the cells of an SVG element into rows, and says what they are."""

    def __init__(self, picture: Picture) -> None:
        self._terms = {cell.id: " ".join(map(str, cell.terms)) for cell in picture.cells()}
        rows = [list(row) for grid in picture.grids for _, row in groupby(grid.cells, lambda cell: cell.y)]
        self._firsts = {row[0].id for row in rows}
        self._lasts = {row[-1].id for row in rows}

    def cell(self, match: re.Match[str]) -> str:
        """Return a cell that can be reached by keys and has a name, with the tags of its row around it."""
        own, title = match["id"], match["title"]
        start = '<g role="row">' if own in self._firsts else ""
        end = "</g>" if own in self._lasts else ""
        terms = escape(self._terms.get(own, ""))
        return (
            f'{start}<g id="{own}" class="{match["marks"]}" role="gridcell" tabindex="-1" data-id="{own}" '
            f'data-terms="{terms}" aria-label="{title}"><title>{title}</title>{match["inner"]}</g>{end}'
        )
