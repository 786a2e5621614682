"""Hexagons: boards whose cells have six neighbours, as facts of the rules about neighbours show."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.axes import contiguous

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Shape, Square
    from anygame.language.terms import Term

#: Of the neighbours that the rules name, so many in a hundred must be such on the drawn board.
_SURE: Final = 80
#: Fewer pairs of neighbours prove nothing.
_FEWEST: Final = 8


def centred(rows: Axis, columns: Axis, squares: Collection[Square]) -> tuple[int, ...]:
    """Return the shift of every row in half squares that brings the middles of all rows below each other."""
    starts = {row: min(columns.index(c) for r, c in squares if r == row) for row in rows}
    lengths = Counter(row for row, _ in squares)
    return tuple(max(lengths.values()) - lengths[row] - 2 * starts[row] for row in rows)


def shape_by_neighbours(
    rows: Axis, columns: Axis, squares: Collection[Square], neighbours: Collection[tuple[Square, Square]]
) -> Shape:
    """Return how rows lie to each other, by the squares that the rules call neighbours.

    Rows of lengths that differ by odd numbers are centred, if neighbours then touch: hexagons and stars. Rows
    of one length are slanted, if neighbours lie on one diagonal too and never on the other.
    """
    if len(neighbours) < _FEWEST:
        return "square"
    lengths = [[column for r, column in squares if r == row] for row in rows]
    odd = all((len(above) - len(below)) % 2 for above, below in pairwise(lengths))
    if odd and all(row and contiguous(columns, row) for row in lengths):
        shifts = centred(rows, columns, squares)
        steps = list(_steps(rows, columns, neighbours))
        touching = sum(
            (down == 0 and abs(across) == 1)
            or (abs(down) == 1 and abs(2 * across + shifts[row + down] - shifts[row]) == 1)
            for row, down, across in steps
        )
        if 100 * touching >= _SURE * len(steps):
            return "hexagon"
    return "slanted" if slant(rows, columns, neighbours, sure=True) else "square"


def slant(
    rows: Axis, columns: Axis, neighbours: Collection[tuple[Square, Square]], *, sure: bool = False
) -> int:
    """Return to which side rows are shifted, 1 for right and -1 for left; right unless neighbours show it.

    Args:
        rows: from the first to the last.
        columns: from left to right.
        neighbours: pairs of squares.
        sure: whether to return 0 unless neighbours show it.
    """
    ways = Counter((down, across) for _, down, across in _steps(rows, columns, neighbours))
    straight = (ways[0, 1] or ways[0, -1]) and (ways[1, 0] or ways[-1, 0])
    near = sum(count for (down, across), count in ways.items() if max(abs(down), abs(across)) == 1)
    falling = ways[1, 1] + ways[-1, -1]
    rising = ways[1, -1] + ways[-1, 1]
    shown = bool(straight) and 100 * near >= _SURE * ways.total() and bool(falling) != bool(rising)
    if sure and not shown:
        return 0
    return -1 if shown and falling else 1


def _steps(
    rows: Axis, columns: Axis, neighbours: Collection[tuple[Square, Square]]
) -> Iterator[tuple[int, int, int]]:
    """Yield the row of each first square, and how many rows down and columns across its neighbour lies."""
    row: dict[Term, int] = {value: number for number, value in enumerate(rows)}
    column: dict[Term, int] = {value: number for number, value in enumerate(columns)}
    for one, other in neighbours:
        if one[0] in row and other[0] in row and one[1] in column and other[1] in column:
            yield row[one[0]], row[other[0]] - row[one[0]], column[other[1]] - column[one[1]]
