"""Arranging grids on a surface: where each goes, and how large all of them are together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.pictures import HEXAGON_ROW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.boards.drawing.pictures import Grid

#: In cells: the room of a title, of labels on each side, and between grids.
_TITLE: Final = 0.8
_LABEL: Final = 0.8
_GAP: Final = 0.5
#: Groups of boards stand beside each other up to this width.
_WIDEST: Final = 24.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A grid and its place, in cells.

    Attributes:
        grid: what is placed.
        x: of the middle of its first cell.
        y: of the middle of its first cell.
        top: of all that belongs to the grid, its title included.
        left: of all that belongs to the grid.
        width: of all that belongs to the grid.
        height: of all that belongs to the grid.
    """

    grid: Grid
    x: float
    y: float
    left: float
    top: float
    width: float
    height: float

    @property
    def row(self) -> float:
        """How far rows lie apart."""
        return HEXAGON_ROW if self.grid.hexagons else 1.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the grid lies."""
        return self.x + x, self.y + y * self.row


def arranged(grids: Sequence[Grid]) -> tuple[list[Placed], float, float]:
    """Place grids: those of a group by rows and columns, groups beside each other as far as they fit.

    Returns:
        The grids with their places, and the width and height of all.
    """
    placed: list[Placed] = []
    x = y = width = height = 0.0
    for _, members in groupby(grids, key=lambda grid: grid.group):
        group = list(members)
        wide, high = _size(group)
        if x and x + wide > _WIDEST:
            x, y = 0.0, height + _GAP
        placed.extend(_group(group, x, y))
        x += wide + _GAP
        width, height = max(width, x - _GAP), max(height, y + high)
    return placed, width, height


def _group(grids: Sequence[Grid], left: float, top: float) -> Iterator[Placed]:
    """Place the grids of one group; all get the room that the largest needs."""
    boxes = [_box(grid) for grid in grids]
    wide, high = max(box[2] for box in boxes), max(box[3] for box in boxes)
    for grid, (west, north, width, height) in zip(grids, boxes, strict=True):
        row, column = grid.place
        x, y = left + column * (wide + _GAP), top + row * (high + _GAP)
        yield Placed(grid, x + west, y + north, x, y, width, height)


def _size(grids: Sequence[Grid]) -> tuple[float, float]:
    boxes = [_box(grid) for grid in grids]
    rows, columns = (max(grid.place[axis] for grid in grids) + 1 for axis in (0, 1))
    wide, high = max(box[2] for box in boxes), max(box[3] for box in boxes)
    return columns * (wide + _GAP) - _GAP, rows * (high + _GAP) - _GAP


def _box(grid: Grid) -> tuple[float, float, float, float]:
    """Return how far the first cell lies from left and top of all that belongs to a grid, and its size."""
    scale = HEXAGON_ROW if grid.hexagons else 1.0
    half = 0.5774 if grid.hexagons else 0.5
    points = [(cell.x, cell.y) for cell in grid.cells] + list(grid.dots) or [(0.0, 0.0)]
    sides = {label.side for label in grid.labels}
    slanting = [label.x + 0.3 for label in grid.labels if label.side == "west"]
    longest = max((len(label.text) for label in grid.labels if label.side in ("west", "east")), default=0)
    beside = max(_LABEL, 0.2 * min(longest, 7) + 0.2)
    west = max(0.5 - min(x for x, _ in points) + beside * ("west" in sides), -min(slanting, default=0.0))
    north = half - min(y for _, y in points) * scale + _LABEL * ("north" in sides) + _TITLE * bool(grid.title)
    east = max(x for x, _ in points) + 0.5 + beside * ("east" in sides)
    lowest = max([y for _, y in points] + [label.y - 1 for label in grid.labels if label.side == "south"])
    south = lowest * scale + half + _LABEL * ("south" in sides)
    return west, north, west + east, north + south
