"""Line grids: dots, the lines between them, and the boxes that lines enclose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.boards.drawing.looks import looks_of
from anygame.boards.drawing.pictures import Cell, Grid, Label, Look, Thing
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from anygame.boards.finding.layout import Lines
    from anygame.language.terms import Term


class LineGridMaker:
    """Makes the grid of lines between dots.

    Args:
        number: of the lines among the boards of their game.
        lines: how its facts lie.
        colours: of the roles.
    """

    def __init__(self, number: int, lines: Lines, colours: Mapping[str, str]) -> None:
        self._number = number
        self._lines = lines
        self._colours = colours
        self._top = len(lines.up) - 1

    def grids(
        self, facts: Collection[Term], known: dict[tuple[int, tuple[Term, ...]], str], *, named: bool
    ) -> Iterator[Grid]:
        """Yield the one grid of a state; see `GridMaker.grids`."""
        lines = self._lines
        cells: dict[tuple[tuple[int, int], tuple[int, int]], Cell] = {}
        for ends in self._all():
            place = lines.places(ends)
            assert place is not None
            cells[place] = cell = self._line(ends, place)
            known[self._number, ends] = cell.id
            known[self._number, (*ends[2:], *ends[:2])] = cell.id
        drawn: dict[str, list[Thing]] = {}
        for fact in sorted(facts):
            ends_of = lines.line(fact)
            if ends_of is not None:
                assert isinstance(fact, Compound)
                content = tuple(fact.arguments[index] for index in lines.contents)
                owner = " ".join(map(str, content))
                look = Look("-", owner or lines.functor, "mark", "", self._colours.get(owner, ""))
                drawn.setdefault(known[self._number, ends_of], []).append(Thing(fact, content, look))
        boxes, looks = self._boxes(facts)
        yield Grid(
            lines.functor if named else "",
            tuple(
                sorted(
                    (*(self._with(cell, drawn.get(cell.id, [])) for cell in cells.values()), *boxes),
                    key=lambda cell: (cell.y, cell.x),
                )
            ),
            tuple(self._labels()),
            dots=tuple((x, y) for y in range(len(lines.up)) for x in range(len(lines.across))),
            looks=looks,
            group=self._number,
        )

    def _all(self) -> Iterator[tuple[Term, ...]]:
        """Yield the ends of all lines, to the right and upwards."""
        across, up = self._lines.across, self._lines.up
        for x, one in enumerate(across):
            for y, two in enumerate(up):
                if x + 1 < len(across):
                    yield one, two, across[x + 1], two
                if y + 1 < len(up):
                    yield one, two, one, up[y + 1]

    def _line(self, ends: tuple[Term, ...], place: tuple[tuple[int, int], tuple[int, int]]) -> Cell:
        (x1, y1), (x2, y2) = place
        one, other = (float(x1), float(self._top - y1)), (float(x2), float(self._top - y2))
        return Cell(
            f"cell-{self._number}-{x1}-{y1}-{x2}-{y2}",
            " ".join(map(str, ends)),
            ends,
            (one[0] + other[0]) / 2,
            (one[1] + other[1]) / 2,
            "line",
            ends=(one, other),
        )

    def _with(self, cell: Cell, things: Collection[Thing]) -> Cell:
        return replace(cell, things=tuple(things)) if things else cell

    def _boxes(self, facts: Collection[Term]) -> tuple[list[Cell], tuple[Look, ...]]:
        boxes = self._lines.boxes
        if boxes is None:
            return [], ()
        (placed,) = boxes.place(facts).values()
        kinds = [(boxes.functor, content) for content in boxes.values]
        kinds += [(boxes.functor, boxes.content(fact)) for on in placed.values() for fact in on]
        looks = looks_of(boxes, kinds, self._colours)
        row: dict[Term, int] = {value: number for number, value in enumerate(boxes.rows)}
        column: dict[Term, int] = {value: number for number, value in enumerate(boxes.columns)}
        cells = [
            Cell(
                f"cell-{self._number}-box-{row[square[0]]}-{column[square[1]]}",
                " ".join(map(str, boxes.terms((), square))),
                boxes.terms((), square),
                column[square[1]] + 0.5,
                row[square[0]] + 0.5,
                things=tuple(
                    Thing(fact, boxes.content(fact), looks[boxes.functor, boxes.content(fact)]) for fact in on
                ),
            )
            for square, on in placed.items()
        ]
        return cells, tuple(looks.values())

    def _labels(self) -> Iterator[Label]:
        for y, row in enumerate(self._lines.up):
            yield Label(str(row), -1, self._top - y, "west")
        for x, column in enumerate(self._lines.across):
            yield Label(str(column), x, self._top + 1, "south")
