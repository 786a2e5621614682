"""Grids: the boards of one layout, with the facts of a state on their cells."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from anygame.boards.drawing.looks import Looks
from anygame.boards.drawing.pictures import Cell, Grid, Label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from anygame.boards.drawing.pictures import CellShape, Thing
    from anygame.boards.finding.layout import Layout, Square
    from anygame.language.terms import Compound, Constant, Term

__all__ = ["GridMaker"]


class GridMaker:
    """Makes the grids of one layout.

    Args:
        number: of the layout among those of its game.
        layout: how its facts lie.
        colours: of the roles.
    """

    def __init__(self, number: int, layout: Layout, colours: Mapping[str, str]) -> None:
        self._number = number
        self._layout = layout
        self._colours = colours
        self._row: dict[Term, int] = {row: index for index, row in enumerate(layout.rows)}
        self._column: dict[Term, int] = {column: index for index, column in enumerate(layout.columns)}
        self._looks = Looks.of(layout, (), colours)
        figures = any(look.figure for look in self._looks.shown.values())
        self._chequered = layout.shape == "square" and figures

    def grids(
        self, facts: Collection[Term], known: dict[tuple[int, tuple[Term, ...]], str], *, named: bool
    ) -> Iterator[Grid]:
        """Yield the boards of a state.

        Args:
            facts: those of the state.
            known: gets the ids of all cells, by the number of the layout and their coordinates.
            named: whether the title of a board has the name of its fluent.
        """
        layout = self._layout
        placed = layout.place(facts)
        present = {layout.content(fact) for board in placed.values() for on in board.values() for fact in on}
        unknown = present - self._looks.shown.keys()
        looks = Looks.of(layout, sorted(unknown, key=str), self._colours) if unknown else self._looks
        number = 0
        for row, (_, keys) in enumerate(groupby(placed, key=lambda key: key[:-1])):
            for column, key in enumerate(keys):
                cells = self._cells(number, key, placed[key], looks)
                known.update(((self._number, cell.terms), cell.id) for cell in cells)
                yield Grid(
                    " ".join(filter(None, [layout.functor if named else "", *map(str, key)])),
                    cells,
                    tuple(self._labels(placed[key])),
                    looks=tuple(looks.shown.values()),
                    place=(row, column),
                    group=self._number,
                )
                number += 1

    def _cells(
        self, board: int, key: tuple[Term, ...], placed: Mapping[Square, Sequence[Compound]], looks: Looks
    ) -> tuple[Cell, ...]:
        layout = self._layout
        shape: CellShape = "square" if layout.shape == "square" else "hexagon"
        left = self._left(placed)
        cells = []
        for square, facts in placed.items():
            # Facts may lie where the rules' own `base` has no square, but only on rows and columns it has.
            row, column = self._row[square[0]], self._column[square[1]]
            terms = layout.terms(key, square)
            things: tuple[Thing, ...] = tuple(looks.thing(layout.content(fact), fact) for fact in facts)
            cells.append(
                Cell(
                    f"cell-{self._number}-{board}-{row}-{column}",
                    " ".join(map(str, terms)),
                    terms,
                    (2 * column + layout.offsets[row] - left) / 2,
                    float(row),
                    shape,
                    things,
                    chequered=self._chequered,
                    dark=self._chequered and (len(layout.rows) - 1 - row + column) % 2 == 0,
                )
            )
        return tuple(sorted(cells, key=lambda cell: (cell.y, cell.x)))

    def _left(self, placed: Mapping[Square, Sequence[Compound]]) -> int:
        offsets = self._layout.offsets
        return min((2 * self._column[c] + offsets[self._row[r]] for r, c in placed), default=0)

    def _labels(self, placed: Mapping[Square, Sequence[Compound]]) -> Iterator[Label]:
        """Yield the names of rows and columns; on a hexagon those of the first and last cell of each row."""
        layout = self._layout
        left = self._left(placed)
        slanted = layout.shape == "slanted"
        for index, row in enumerate(layout.rows):
            shift = (layout.offsets[index] - left) / 2 if slanted else 0
            yield Label(str(row), shift - 1, index, "west")
            if layout.shape == "hexagon":
                columns = [column for column in layout.columns if (row, column) in placed]
                widest = max(sum(r == row for r, _ in placed) for row in layout.rows)
                if columns:
                    yield Label(f"{columns[0]}..{columns[-1]}", widest, index, "east")
        if layout.shape == "hexagon":
            return
        if slanted or not layout.upwards:
            yield from self._header(layout.columns, layout.offsets[0] - left, -1)
        if slanted or layout.upwards:
            yield from self._header(layout.columns, layout.offsets[-1] - left, len(layout.rows))

    def _header(self, columns: Sequence[Constant], shift: int, y: int) -> Iterator[Label]:
        for index, column in enumerate(columns):
            yield Label(str(column), index + shift / 2, y, "north" if y < 0 else "south")
