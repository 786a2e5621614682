"""Grids with the facts of a state: the boards of one layout, or lines between dots."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.axes import numbered
from anygame.boards.drawing.pictures import Cell, Grid, Label, Look, Thing, Wall, looks_of, occupants_of
from anygame.boards.finding.layout import fluent_of
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anygame.boards.drawing.pictures import CellShape, Known, Occupant
    from anygame.boards.finding.layout import Cell as CellKey
    from anygame.boards.finding.layout import Layout, Lines, Place, Placed, Shape, Square
    from anygame.boards.names import Side
    from anygame.language.terms import Constant, Term

_SHAPES: Final[Mapping[Shape, CellShape]] = {
    "square": "square",
    "hexagon": "hexagon",
    "slanted": "hexagon",
    "track": "pit",
}


class _Sign(NamedTuple):
    """A fact on a cell, or on a side of a cell, with an optional sign."""

    board: tuple[Term, ...]
    square: Square
    fact: Compound
    occupant: Occupant
    side: Side | None
    sign: str = ""


class GridMaker:
    """Makes the grids of one layout."""

    def __init__(self, number: int, layout: Layout, colours: Mapping[str, str]) -> None:
        self._number = number
        self._layout = layout
        self._colours = colours
        self._row, self._column = numbered(layout.rows), numbered(layout.columns)
        self._occupants = occupants_of(layout)
        self._looks = looks_of(layout, self._occupants, colours)
        figures = any(look.figure for look in self._looks.values())
        self._chequered = layout.shape == "square" and figures

    def grids(self, facts: Collection[Term], known: Known, *, named: bool) -> Iterator[Grid]:
        """Yield the boards of a state, and add the ids of all cells to ``known``.

        If ``named``, the titles of boards contain the name of the fluent.
        """
        layout = self._layout
        placed = layout.place(facts)
        signs = self._placed(placed, facts)
        unknown = {sign.occupant for sign in signs if not sign.side} - self._looks.keys()
        looks = self._looks
        if unknown:
            looks = looks_of(layout, [*self._occupants, *sorted(unknown, key=str)], self._colours)
        things: dict[CellKey, list[Thing]] = defaultdict(list)
        for sign in signs:
            if not sign.side:
                thing = Thing(sign.fact, sign.occupant[1], looks[sign.occupant])
                things[sign.board, sign.square].append(thing)
        keys = list(placed)
        parts = [self._cells(number, key, placed[key], things) for number, key in enumerate(keys)]
        known.update(((self._number, cell.terms), cell.id) for cells in parts for cell in cells)
        walls = [
            Wall(self._id(keys.index(sign.board), sign.square), sign.side, sign.fact, sign.sign)
            for sign in signs
            if sign.side
        ]
        walls.sort(key=lambda wall: (wall.cell, wall.side))
        title = layout.functor if named else ""
        shown = tuple(looks.values())
        if layout.places:
            cells = tuple(
                sorted((cell for part in parts for cell in part), key=lambda cell: (cell.y, cell.x))
            )
            labels = tuple(labels_of_whole(layout, layout.places))
            borders = _borders(parts)
            yield Grid(title, cells, labels, (*walls, *borders), looks=shown, group=self._number)
            return
        for number, (key, cells) in enumerate(zip(keys, parts, strict=True)):
            own = {cell.id for cell in cells}
            yield Grid(
                " ".join(filter(None, [title, *map(str, key)])),
                cells,
                tuple(labels_of(layout, placed[key], self._left(placed[key]))),
                tuple(wall for wall in walls if wall.cell in own),
                looks=shown,
                place=layout.arrangement.get(key, (0, number)),
                group=self._number,
            )

    def _placed(self, placed: Placed, facts: Collection[Term]) -> list[_Sign]:
        """Return the facts on the boards: facts of the layout's fluent before facts of overlays."""
        layout = self._layout
        signs = []
        for board, squares in placed.items():
            for square, on in squares.items():
                for fact in on:
                    content = layout.content(fact)
                    side = layout.sides.get(content)
                    signs.append(_Sign(board, square, fact, (layout.functor, content), side))
        for overlay in layout.overlays:
            own = (fact for fact in facts if fluent_of(fact) == overlay.fluent)
            for lying in overlay.fixed or sorted(own):
                assert isinstance(lying, Compound)
                where = layout.locate(overlay, lying)
                if where is not None:
                    content = overlay.content(lying)
                    side = overlay.side or overlay.sides.get(content)
                    signs.append(_Sign(*where, lying, (overlay.functor, content), side, overlay.sign))
        return signs

    def _id(self, board: int, square: Square) -> str:
        return f"cell-{self._number}-{board}-{self._row[square[0]]}-{self._column[square[1]]}"

    def _cells(
        self, board: int, key: tuple[Term, ...], squares: Iterable[Square], things: dict[CellKey, list[Thing]]
    ) -> tuple[Cell, ...]:
        layout = self._layout
        left = self._left(squares)
        cells = []
        for square in squares:
            # Facts can lie on cells that `base` does not allow, but only in known rows and columns.
            row, column = self._row[square[0]], self._column[square[1]]
            terms = layout.terms(key, square)
            x, y = (2 * column + layout.offsets[row] - left) / 2, float(row)
            if layout.places:
                x, y = layout.places[key, square]
            cells.append(
                Cell(
                    self._id(board, square),
                    " ".join(map(str, terms)),
                    terms,
                    x,
                    y,
                    _SHAPES[layout.shape],
                    tuple(things.get((key, square), ())),
                    chequered=self._chequered,
                    dark=self._chequered and (len(layout.rows) - 1 - row + column) % 2 == 0,
                )
            )
        return tuple(sorted(cells, key=lambda cell: (cell.y, cell.x)))

    def _left(self, placed: Iterable[Square]) -> int:
        offsets = self._layout.offsets
        return min((2 * self._column[c] + offsets[self._row[r]] for r, c in placed), default=0)


def _borders(parts: Sequence[Sequence[Cell]]) -> Iterator[Wall]:
    part = {(cell.x, cell.y): number for number, cells in enumerate(parts) for cell in cells}
    for number, cells in enumerate(parts):
        for cell in cells:
            if part.get((cell.x + 1, cell.y), number) != number:
                yield Wall(cell.id, "east", None)
            if part.get((cell.x, cell.y + 1), number) != number:
                yield Wall(cell.id, "south", None)


class LineGridMaker:
    """Makes the grid of lines between dots."""

    def __init__(self, number: int, lines: Lines, colours: Mapping[str, str]) -> None:
        self._number = number
        self._lines = lines
        self._colours = colours
        self._top = len(lines.up) - 1
        self._cells = sorted(self._all(), key=lambda cell: (cell.y, cell.x))

    def grids(self, facts: Collection[Term], known: Known, *, named: bool) -> Iterator[Grid]:
        """Yield the only grid of a state; see `GridMaker.grids`."""
        lines = self._lines
        for cell in self._cells:
            known[self._number, cell.terms] = cell.id
            known[self._number, (*cell.terms[2:], *cell.terms[:2])] = cell.id
        drawn: dict[str, list[Thing]] = defaultdict(list)
        for fact in sorted(facts):
            ends = lines.line(fact)
            if ends is not None:
                assert isinstance(fact, Compound)
                content = lines.content(fact)
                owner = " ".join(map(str, content))
                look = Look("-", owner or lines.functor, "mark", "", self._colours.get(owner, ""))
                drawn[known[self._number, ends]].append(Thing(fact, content, look))
        yield Grid(
            lines.functor if named else "",
            tuple(replace(cell, things=tuple(drawn[cell.id])) for cell in self._cells),
            tuple(self._labels()),
            dots=tuple((x, y) for y in range(len(lines.up)) for x in range(len(lines.across))),
            group=self._number,
        )

    def _all(self) -> Iterator[Cell]:
        """Yield a cell for each line between neighbouring dots."""
        across, up, top = self._lines.across, self._lines.up, self._top
        for x1, y1 in product(range(len(across)), range(len(up))):
            for x2, y2 in ((x1 + 1, y1), (x1, y1 + 1)):
                if x2 < len(across) and y2 < len(up):
                    terms = across[x1], up[y1], across[x2], up[y2]
                    yield Cell(
                        f"cell-{self._number}-{x1}-{y1}-{x2}-{y2}",
                        " ".join(map(str, terms)),
                        terms,
                        (x1 + x2) / 2,
                        top - (y1 + y2) / 2,
                        "line",
                        ends=((float(x1), float(top - y1)), (float(x2), float(top - y2))),
                    )

    def _labels(self) -> Iterator[Label]:
        for y, row in enumerate(self._lines.up):
            yield Label(str(row), -1, self._top - y, "west")
        for x, column in enumerate(self._lines.across):
            yield Label(str(column), x, self._top + 1, "south")


def labels_of(layout: Layout, squares: Collection[Square], left: int) -> Iterator[Label]:
    """Yield the names of rows and columns; on a hexagon, the names of the first and last cell of each row.

    The left edge of the leftmost square is at ``left``, in half squares.
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


def labels_of_whole(layout: Layout, places: Mapping[CellKey, Place]) -> Iterator[Label]:
    """Yield the labels of the rows and columns of a large board that consists of several boards.

    If two coordinates distinguish the boards, one coordinate precedes each row label, and the other
    coordinate is below the column labels.
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
    bottom = max(y for _, y in places.values()) + 1
    for y, names in sorted(rows.items()):
        if len(names) == 1:
            yield Label(min(names), -1, y, "west")
    for x, names in sorted(columns.items()):
        if len(names) == 1:
            yield Label(min(names), x, bottom, "south")
    for name, places_across in sorted(outer.items()):
        yield Label(name, sum(places_across) / len(places_across), bottom + 1, "south")
