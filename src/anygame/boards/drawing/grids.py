"""Grids: the boards of one layout, with the facts of a state on their cells."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.boards.drawing.labels import labels_of, labels_of_whole
from anygame.boards.drawing.looks import kinds_of, looks_of
from anygame.boards.drawing.pictures import Cell, Grid, Thing, Wall
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anygame.boards.drawing.looks import Kind
    from anygame.boards.drawing.pictures import CellShape, Look
    from anygame.boards.finding.layout import Layout, Shape, Square
    from anygame.boards.names import Side
    from anygame.language.terms import Term

_SHAPES: Final[Mapping[Shape, CellShape]] = {
    "square": "square",
    "hexagon": "hexagon",
    "slanted": "hexagon",
    "track": "pit",
}


class _Sign(NamedTuple):
    """A fact where it lies: on a cell, or on a side of one, perhaps with a sign for it."""

    board: tuple[Term, ...]
    square: Square
    fact: Compound
    kind: Kind
    side: Side | None
    sign: str = ""


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
        self._kinds = kinds_of(layout)
        self._looks = looks_of(layout, self._kinds, colours)
        figures = any(look.figure for look in self._looks.values())
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
        signs = self._placed(placed, facts)
        unknown = {sign.kind for sign in signs if not sign.side} - self._looks.keys()
        looks = self._looks
        if unknown:
            looks = looks_of(layout, [*self._kinds, *sorted(unknown, key=str)], self._colours)
        keys = list(placed)
        parts = [
            self._cells(number, key, placed[key], [sign for sign in signs if sign.board == key], looks)
            for number, key in enumerate(keys)
        ]
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
                (*(wall for wall in walls if wall.cell in own), *_boxes(cells, layout.box)),
                looks=shown,
                place=layout.arrangement.get(key, (0, number)),
                group=self._number,
            )

    def _placed(
        self, placed: Mapping[tuple[Term, ...], Mapping[Square, Sequence[Compound]]], facts: Collection[Term]
    ) -> list[_Sign]:
        """Return all that lies on the boards: facts of their own fluent, then those of overlays."""
        layout = self._layout
        found = []
        for board, squares in placed.items():
            for square, on in squares.items():
                for fact in on:
                    content = layout.content(fact)
                    side = layout.sides.get(content)
                    found.append(_Sign(board, square, fact, (layout.functor, content), side))
        for overlay in layout.overlays:
            lying = overlay.fixed or sorted(fact for fact in facts if overlay.holds(fact))
            for term in lying:
                assert isinstance(term, Compound)
                where = layout.locate(overlay, term)
                if where is not None:
                    content = tuple(term.arguments[index] for index in overlay.contents)
                    side = overlay.side or overlay.sides.get(content)
                    found.append(_Sign(*where, term, (overlay.functor, content), side, overlay.sign))
        return found

    def _id(self, board: int, square: Square) -> str:
        return f"cell-{self._number}-{board}-{self._row[square[0]]}-{self._column[square[1]]}"

    def _cells(
        self,
        board: int,
        key: tuple[Term, ...],
        squares: Iterable[Square],
        signs: Iterable[_Sign],
        looks: Mapping[Kind, Look],
    ) -> tuple[Cell, ...]:
        layout = self._layout
        shape = _SHAPES[layout.shape]
        things: dict[Square, list[Thing]] = defaultdict(list)
        for sign in signs:
            if not sign.side:
                things[sign.square].append(Thing(sign.fact, sign.kind[1], looks[sign.kind]))
        left = self._left(squares)
        cells = []
        for square in squares:
            # Facts may lie where the rules' own `base` has no square, but only on rows and columns it has.
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
                    shape,
                    tuple(things[square]),
                    chequered=self._chequered,
                    dark=self._chequered and (len(layout.rows) - 1 - row + column) % 2 == 0,
                )
            )
        return tuple(sorted(cells, key=lambda cell: (cell.y, cell.x)))

    def _left(self, placed: Iterable[Square]) -> int:
        offsets = self._layout.offsets
        return min((2 * self._column[c] + offsets[self._row[r]] for r, c in placed), default=0)


def _boxes(cells: Iterable[Cell], size: int) -> Iterator[Wall]:
    """Yield the borders between the boxes of a board."""
    cells = list(cells) if size else []
    wide = max((cell.x for cell in cells), default=0)
    high = max((cell.y for cell in cells), default=0)
    for cell in cells:
        if (cell.x + 1) % size == 0 and cell.x < wide:
            yield Wall(cell.id, "east", None)
        if (cell.y + 1) % size == 0 and cell.y < high:
            yield Wall(cell.id, "south", None)


def _borders(parts: Sequence[Sequence[Cell]]) -> Iterator[Wall]:
    """Yield the borders between parts of one board that touch each other."""
    part = {(cell.x, cell.y): number for number, cells in enumerate(parts) for cell in cells}
    for number, cells in enumerate(parts):
        for cell in cells:
            if part.get((cell.x + 1, cell.y), number) != number:
                yield Wall(cell.id, "east", None)
            if part.get((cell.x, cell.y + 1), number) != number:
                yield Wall(cell.id, "south", None)
