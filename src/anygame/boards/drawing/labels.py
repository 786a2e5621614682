"""Labels: the names of rows and columns beside a board."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from anygame.boards.drawing.pictures import Label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from anygame.boards.finding.layout import Cell, Layout, Place, Square
    from anygame.language.terms import Constant


def labels_of(layout: Layout, squares: Collection[Square], left: int) -> Iterator[Label]:
    """Yield the names of rows and columns; on a hexagon those of the first and last cell of each row.

    Args:
        layout: the board.
        squares: its squares.
        left: where its leftmost square begins, in half squares.
    """
    slanted = layout.shape == "slanted"
    for index, row in enumerate(layout.rows):
        shift = (layout.offsets[index] - left) / 2 if slanted else 0
        if str(row):
            yield Label(str(row), shift - 1, index, "west")
        if layout.shape == "hexagon":
            columns = [column for column in layout.columns if (row, column) in squares]
            widest = max(sum(r == row for r, _ in squares) for row in layout.rows)
            if columns:
                yield Label(f"{columns[0]}..{columns[-1]}", widest, index, "east")
    if layout.shape == "hexagon":
        return
    if slanted or not layout.upwards:
        yield from _header(layout.columns, layout.offsets[0] - left, -1)
    if slanted or layout.upwards:
        yield from _header(layout.columns, layout.offsets[-1] - left, len(layout.rows))


def _header(columns: Sequence[Constant], shift: int, y: int) -> Iterator[Label]:
    for index, column in enumerate(columns):
        yield Label(str(column), index + shift / 2, y, "north" if y < 0 else "south")


def labels_of_whole(layout: Layout, places: Mapping[Cell, Place]) -> Iterator[Label]:
    """Yield the names of the rows and columns of one board that consists of several, as far as they have one.

    The names of the boards stand before those of rows, and below those of columns.
    """
    rows: dict[float, set[str]] = defaultdict(set)
    columns: dict[float, set[str]] = defaultdict(set)
    outer: dict[str, list[float]] = defaultdict(list)
    two = len(layout.boards) == 2
    across = int(layout.column > layout.row)
    for (board, (row, column)), (x, y) in places.items():
        rows[y].add(f"{board[1 - across]} {row}" if two else str(row))
        columns[x].add(str(column))
        if two:
            outer[str(board[across])].append(x)
    bottom = max(rows) + 1
    for y, names in sorted(rows.items()):
        if len(names) == 1:
            yield Label(min(names), -1, y, "west")
    for x, names in sorted(columns.items()):
        if len(names) == 1:
            yield Label(min(names), x, bottom, "south")
    for name, places_across in sorted(outer.items()):
        yield Label(name, sum(places_across) / len(places_across), bottom + 1, "south")
