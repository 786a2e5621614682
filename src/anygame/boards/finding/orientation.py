"""Orientation: which argument names the row of a board, which way rows go, and how they are shifted."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.boards.finding.axes import contiguous, is_numbered, numbered, prefix
from anygame.boards.finding.evidence import atoms_of, occurrences
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Shape, Square
    from anygame.language.rules import Rule

#: For each argument of a fluent, how often the rules call it by which kind of name.
Names = tuple[Counter[str], ...]

_KINDS: Final = {
    "row": "row", "rows": "row", "r": "row",
    "column": "column", "columns": "column", "col": "column", "c": "column",
    "x": "x", "y": "y",
    "file": "file", "rank": "rank",
}  # fmt: skip
_ROWS: Final = frozenset({"row", "rank", "y"})
_COLUMNS: Final = frozenset({"column", "file", "x"})
_UPWARDS: Final = frozenset({"rank", "file", "x", "y"})
#: Of the neighbours that the rules name, so many in a hundred must be such on the drawn board.
_SURE: Final = 80
#: Fewer pairs of neighbours prove nothing.
_FEWEST: Final = 8


class Bearing(NamedTuple):
    """How a board lies.

    Attributes:
        swapped: the first coordinate names the column, the second the row.
        upwards: the first row is at the bottom.
    """

    swapped: bool
    upwards: bool


def variable_names(rules: Sequence[Rule]) -> dict[tuple[str, int], Names]:
    """Return for every fluent, by functor and arity, the kinds of names its arguments go by in the rules."""
    found: dict[tuple[str, int], Names] = {}
    for rule in rules:
        for (kind, name, arity), arguments in occurrences(atoms_of(rule)):
            if kind == "fluent":
                names = found.setdefault((name, arity), tuple(Counter() for _ in arguments))
                for counter, argument in zip(names, arguments, strict=True):
                    called = _kind(argument.name) if isinstance(argument, Variable) else ""
                    if called:
                        counter[called] += 1
    return found


def orient(names: Sequence[Counter[str]], axes: Sequence[Axis], squares: Collection[Square]) -> Bearing:
    """Decide how a board lies.

    Args:
        names: what the rules call the two coordinates.
        axes: the values of the two coordinates, in order.
        squares: the two coordinates of every square.
    """
    if is_hexagon(axes[0], axes[1], squares):
        return Bearing(swapped=False, upwards=False)
    if is_hexagon(axes[1], axes[0], [(second, first) for first, second in squares]):
        return Bearing(swapped=True, upwards=False)
    numbered = [is_numbered(axis) for axis in axes]
    prefixes = [_kind(prefix(axis)) for axis in axes]
    named = _by_kinds(prefixes) or _by_kinds([_commonest(counter) for counter in names])
    swapped = named.swapped if named else numbered != [True, False]
    rows, columns = reversed(numbered) if swapped else numbered
    like_chess = rows and not columns
    return Bearing(swapped, upwards=named.upwards or like_chess if named else True)


def _by_kinds(kinds: Sequence[str]) -> Bearing | None:
    """Return how a board lies by the kinds of names of its coordinates, where these say it."""
    for swapped, (one, two) in ((False, kinds), (True, kinds[::-1])):
        if one != two and (one in _ROWS or two in _COLUMNS):
            return Bearing(swapped, upwards=bool({one, two} & _UPWARDS))
    return None


def is_hexagon(rows: Axis, columns: Axis, squares: Collection[Square]) -> bool:
    """Whether rows without gaps grow and then shrink by one square at a time."""
    lengths = []
    for row in rows:
        members = [column for r, column in squares if r == row]
        if not members or not contiguous(columns, members):
            return False
        lengths.append(len(members))
    steps = [after - before for before, after in pairwise(lengths)]
    return sorted(steps, reverse=True) == steps and set(steps) == {1, -1}


def _kind(name: str) -> str:
    """Return which kind of coordinate is called so, empty for none."""
    return _KINDS.get(name.lower().rstrip("0123456789_'+-"), "")


def _commonest(counter: Counter[str]) -> str:
    """Return the kind of most uses; among equals the first by text, so that rule order changes nothing."""
    return min(counter, key=lambda kind: (-counter[kind], kind), default="")


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
    row, column = numbered(rows), numbered(columns)
    for one, other in neighbours:
        if one[0] in row and other[0] in row and one[1] in column and other[1] in column:
            yield row[one[0]], row[other[0]] - row[one[0]], column[other[1]] - column[one[1]]
