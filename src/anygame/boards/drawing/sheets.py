"""Sheets of characters: one grid with its labels, walls and title as lines of text."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.lines import Line, Piece
from anygame.boards.drawing.styles import CHEQUERS, LIT, style_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.boards.drawing.pictures import Cell, Grid, Label, Look, Wall

_LABEL: Final = "dim"
_BLANK: Final = "."


def grid_lines(
    grid: Grid, characters: Mapping[Look, Piece], lit: Mapping[str, str], *, colours: bool
) -> list[Line]:
    """Return one grid as lines of text.

    Args:
        grid: what to draw.
        characters: what stands for each look.
        lit: the cells of the last move, by their ids.
        colours: whether styles are wanted.
    """
    return _Sheet(grid, characters, lit, colours=colours).lines()


class _Sheet:
    """Where everything on one grid goes: columns are ``pitch`` characters apart."""

    def __init__(
        self, grid: Grid, characters: Mapping[Look, Piece], lit: Mapping[str, str], *, colours: bool
    ) -> None:
        self.grid = grid
        self.characters = characters
        self.lit = lit
        self.colours = colours
        self.chequered = colours and any(cell.chequered for cell in grid.cells)
        self.blank = " " if grid.dots or any(look.empty for look in grid.looks) else _BLANK
        self.pieces = {cell.id: self.on(cell) for cell in grid.cells if cell.ends is None}
        self.margin = max((len(label.text) for label in grid.labels if label.side == "west"), default=-2) + 2
        self.pitch = self.find_pitch()
        self.marked: dict[int, list[tuple[int, Piece]]] = defaultdict(list)

    def find_pitch(self) -> int:
        """Return how far columns lie apart: what is widest, and a gap."""
        widths = [len(self.characters[look].text) for look in self.grid.looks]
        widths += [len(piece.text) for piece in self.pieces.values()]
        widths += [len(label.text) for label in self.grid.labels if label.side in ("north", "south")]
        pitch = max(widths, default=1) + (2 if self.chequered else 1)
        halves = any(cell.x % 1 for cell in self.grid.cells) or self.grid.hexagons
        if self.grid.dots:
            pitch = max(pitch, 3)
        return pitch + pitch % 2 if halves or self.grid.dots else pitch

    def on(self, cell: Cell) -> Piece:
        """Return what is drawn on a cell; several things are joined by ``+``."""
        if not cell.things:
            return Piece(self.blank)
        if len(cell.things) == 1:
            return self.characters[cell.things[0].look]
        looks = [thing.look for thing in cell.contents]
        # Colours show what fills a cell on other cells well enough.
        above = [look for look in looks if look.form != "block"] if self.colours else looks
        shown = [self.characters[look] for look in above or looks]
        return Piece("+".join(piece.text for piece in shown), shown[0].style if len(shown) == 1 else "")

    def lines(self) -> list[Line]:
        """Return the drawing under its title."""
        rows = self.rows()
        title: list[Line] = [[Piece(self.grid.title, "bold")]] if self.grid.title else []
        for cell in self.grid.cells:
            if cell.ends is None:
                self.put_cell(cell, rows[cell.y])
            else:
                self.put_line(cell, rows[cell.y])
        for x, y in self.grid.dots:
            self.marked[rows[y]].append((self.at(x), Piece("+")))
        for wall in self.grid.walls:
            self.put_wall(wall, rows)
        for label in self.grid.labels:
            self.put_label(label, rows)
        last = max(self.marked, default=-1)
        return title + [
            _joined(sorted(self.marked[row], key=lambda item: item[0])) for row in range(last + 1)
        ]

    def rows(self) -> dict[float, int]:
        """Return the line of each height at which something stands; parts of a grid are a line apart."""
        heights = {cell.y for cell in self.grid.cells} | {y for _, y in self.grid.dots}
        by_id = {cell.id: cell.y for cell in self.grid.cells}
        between = {
            by_id[wall.cell] + (0.5 if wall.side == "south" else -0.5)
            for wall in self.grid.walls
            if wall.side in ("north", "south")
        }
        if any(wall.fact is not None and wall.side in ("north", "south") for wall in self.grid.walls):
            heights |= {height + 0.5 for height in sorted(heights)[:-1]}
        heights |= between
        heights |= {label.y for label in self.grid.labels}
        ordered = sorted(heights)
        found = dict.fromkeys(ordered[:1], 0)
        for before, height in pairwise(ordered):
            found[height] = found[before] + (2 if height - before > 1 and not between else 1)
        return found

    def at(self, x: float) -> int:
        """Return the first character of what stands at a place."""
        return self.margin + round(x * self.pitch)

    def put_cell(self, cell: Cell, row: int) -> None:
        """Put what stands on a cell into its row, with its ground."""
        piece, start = self.pieces[cell.id], self.at(cell.x)
        state = self.lit.get(cell.id)
        if self.chequered:
            ground = LIT[state] if state else CHEQUERS[cell.dark]
            text = " " if piece.text in (_BLANK, " ") else piece.text
            square = Piece(f" {text}".ljust(self.pitch), f"{piece.style} {ground}".strip())
            self.marked[row].append((start - 1, square))
        elif state and self.colours:
            self.marked[row].append((start, Piece(piece.text, f"{piece.style} {LIT[state]}".strip())))
        else:
            self.marked[row].append((start, piece))
            if state == "to":
                taken = {position for position, _ in self.marked[row]}
                around = ((start - 1, "("), (start + len(piece.text), ")"))
                self.marked[row] += [(at, Piece(bracket)) for at, bracket in around if at not in taken]

    def put_line(self, cell: Cell, row: int) -> None:
        """Put a line between two dots, if it is drawn."""
        assert cell.ends is not None
        (x1, _), (x2, _) = cell.ends
        if not cell.contents:
            return
        style = style_of(cell.contents[0].look.colour) if self.colours else ""
        if x1 == x2:
            self.marked[row].append((self.at(x1), Piece("|", style)))
        else:
            start, end = sorted((self.at(x1), self.at(x2)))
            self.marked[row].append((start + 1, Piece("-" * (end - start - 1), style)))

    def put_wall(self, wall: Wall, rows: Mapping[float, int]) -> None:
        """Put a wall or sign beside its cell."""
        cell = next(cell for cell in self.grid.cells if cell.id == wall.cell)
        if wall.side in ("east", "west"):
            x = cell.x if wall.side == "east" else cell.x - 1
            self.marked[rows[cell.y]].append((self.at(x + 1) - 1, Piece(wall.sign or "|")))
        else:
            row = rows[cell.y + (0.5 if wall.side == "south" else -0.5)]
            self.marked[row].append((self.at(cell.x), Piece(wall.sign or "-" * max(self.pitch - 1, 1))))

    def put_label(self, label: Label, rows: Mapping[float, int]) -> None:
        """Put the name of a row or column beside the grid."""
        if label.side == "west":
            start = round((label.x + 1) * self.pitch)
            self.marked[rows[label.y]].append((start, Piece(label.text.rjust(self.margin - 2), _LABEL)))
        elif label.side == "east":
            self.marked[rows[label.y]].append((self.at(label.x) + 1, Piece(label.text, _LABEL)))
        else:
            self.marked[rows[label.y]].append((self.at(label.x), Piece(label.text, _LABEL)))


def _joined(items: Iterable[tuple[int, Piece]]) -> Line:
    """Return a line with every piece where it should start, or as soon after as there is room."""
    line: Line = []
    length = 0
    for start, piece in items:
        if start > length:
            line.append(Piece(" " * (start - length)))
            length = start
        line.append(piece)
        length += len(piece.text)
    return line
