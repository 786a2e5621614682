"""Pictures as lines of plain text, or of text with the styles of a terminal."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise, zip_longest
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.pictures import UNKNOWN
from anygame.boards.names import GLYPHS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anygame.boards.drawing.pictures import Cell, Grid, Label, Listing, Look, Picture, Wall


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line of text, with a style for the library rich (empty for none)."""

    text: str
    style: str = ""


#: The pieces of a line, from left to right.
Line = list[Piece]
#: Lines that are drawn together.
Block = list[Line]

#: Number of blanks between boards side by side.
_GAP: Final = 4
#: Style of labels.
_LABEL: Final = "dim"
#: Maximum number of lines of facts for each fluent.
_LINES_PER_FLUENT: Final = 3
_BLANK: Final = "."
_STONES: Final = "●○▲△■□◆◇"
#: Characters for things that fill their cell.
_BLOCKS: Final = "▒░▓"
#: The styles of black and white pieces, on squares of any colour.
_BODIES: Final = {"black": "bold #000000", "white": "bold #ffffff"}

_STYLES: Final = {
    "black": "bold",
    "white": "bold",
    "orange": "dark_orange",
    "purple": "medium_purple",
    "teal": "cyan",
    "pink": "hot_pink",
    "brown": "orange4",
    "grey": "bright_black",
    "gray": "bright_black",
    "gold": "gold3",
    "blue": "bright_blue",
    "red": "bright_red",
}
#: Backgrounds of light and of dark squares; black and white are legible on both.
CHEQUERS: Final = ("on #c2a47c", "on #8a6546")
#: Backgrounds of the destination and of other cells of the last move.
LIT: Final = {"to": "on #8a7a00", "from": "on #4d4600"}


def text(picture: Picture, *, width: int = 80) -> str:
    """Return a picture as plain text."""
    return plain_text(draw(picture, width=width))


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as plain text."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def draw(picture: Picture, *, width: int = 80, colours: bool = False) -> list[Line]:
    """Draw the boards of a picture with their legends, and list all other facts.

    Args:
        picture: the picture.
        width: the maximum number of characters of a line.
        colours: whether to draw coloured stones and pieces; if False, they are letters.
    """
    drawn = draw_boards(picture, width=width, colours=colours)
    others = list_facts(picture.others, width=width, colours=colours)
    return [*drawn, *([[]] if drawn and others else []), *others]


def draw_boards(picture: Picture, *, width: int = 80, colours: bool = False) -> list[Line]:
    """Draw the boards of a picture, side by side if the width allows it, with a legend for each group."""
    groups: list[list[Block]] = []
    explained: list[Block] = []
    lit = _lit(picture)
    for _, members in groupby(picture.grids, key=lambda grid: grid.group):
        grids = list(members)
        characters = characters_of(grids[0].looks, colours=colours)
        rows = groupby(grids, key=lambda grid: grid.place[0])
        drawn = [[_Sheet(grid, characters, lit, colours=colours).lines() for grid in row] for _, row in rows]
        legend = _legend(grids, characters)
        if legend and legend not in explained:
            explained.append(legend)
            drawn[0].append(legend)
        if groups and len(drawn) == 1:
            groups[-1].extend(drawn.pop())
        groups.extend(drawn)
    lines: list[Line] = []
    for group in groups:
        lines += [[]] if lines else []
        lines += _side_by_side(group, width)
    return lines


def list_facts(listings: Iterable[Listing], *, width: int = 80, colours: bool = False) -> list[Line]:
    """List facts, on at most three lines for each fluent."""
    listings = list(listings)
    indent = max((len(listing.name) for listing in listings), default=0) + 2
    lines: list[Line] = []
    for listing in listings:
        words = [Piece(fact, style_of(colour) if colours else "") for fact, colour in listing.facts]
        wrapped = _wrapped(words, max(width - indent, 20))
        if len(wrapped) > _LINES_PER_FLUENT:
            shown = sum(map(len, wrapped[:_LINES_PER_FLUENT]))
            wrapped[_LINES_PER_FLUENT:] = [[Piece(f"... and {len(words) - shown} more")]]
        for label, row in zip_longest([listing.name], wrapped, fillvalue=None):
            lines.append([Piece((label or "").ljust(indent), _LABEL), *_spaced(row or [])])
    return lines


def _lit(picture: Picture) -> dict[str, str]:
    """Return the highlights of the cells of the last move or, without a last move, of changed cells."""
    moved = {
        cell.id: "to" if "to" in cell.marks else "from"
        for cell in picture.cells()
        if cell.marks & {"from", "to", "last"}
    }
    return moved or {cell.id: "to" for cell in picture.cells() if "changed" in cell.marks}


def _legend(grids: Iterable[Grid], characters: dict[Look, Piece]) -> Block:
    looks = dict.fromkeys(look for grid in grids for look in grid.legend)
    return [[characters[look], Piece(f" {look.label}")] for look in looks]


def _spaced(words: Iterable[Piece]) -> Line:
    line: Line = []
    for word in words:
        line += [Piece("  "), word] if line else [word]
    return line


def _wrapped(words: Iterable[Piece], width: int) -> list[list[Piece]]:
    """Distribute words over lines, two blanks apart; a word longer than a line has a line of its own."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for word in words:
        if lines[-1] and used + len(word.text) > width:
            lines.append([])
            used = 0
        lines[-1].append(word)
        used += len(word.text) + 2
    return lines


def _side_by_side(blocks: Iterable[Block], width: int) -> list[Line]:
    rows: list[list[Block]] = []
    used = width
    for block in blocks:
        size = _GAP + max(map(_length, block))
        if not rows or used + size > width:
            rows.append([])
            used = -_GAP
        rows[-1].append(block)
        used += size
    lines: list[Line] = []
    for row in rows:
        starts = list(accumulate((max(map(_length, block)) + _GAP for block in row), initial=0))
        lines += [[]] if lines else []
        lines += [
            _joined([(start, piece) for start, line in zip(starts, parts, strict=False) for piece in line])
            for parts in zip_longest(*row, fillvalue=[])
        ]
    return lines


def _length(line: Line) -> int:
    return sum(len(piece.text) for piece in line)


class _Sheet:
    """A grid with labels, walls and title as lines of text; columns are ``pitch`` characters apart."""

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
        """Return the distance of columns in characters: the length of the longest text, and a gap."""
        widths = [len(self.characters[look].text) for look in self.grid.looks]
        widths += [len(piece.text) for piece in self.pieces.values()]
        widths += [len(label.text) for label in self.grid.labels if label.side in ("north", "south")]
        pitch = max(widths, default=1) + (2 if self.chequered else 1)
        halves = any(cell.x % 1 for cell in self.grid.cells) or self.grid.hexagons
        if self.grid.dots:
            pitch = max(pitch, 3)
        return pitch + pitch % 2 if halves or self.grid.dots else pitch

    def on(self, cell: Cell) -> Piece:
        """Return the text of a cell; ``+`` joins several things."""
        if "unknown" in cell.marks:
            return Piece(UNKNOWN, _LABEL)
        if not cell.things:
            return Piece(self.blank)
        if len(cell.things) == 1:
            return self.characters[cell.things[0].look]
        looks = [thing.look for thing in cell.contents]
        # With colours, a block is drawn only if nothing else is on its cell.
        above = [look for look in looks if look.form != "block"] if self.colours else looks
        shown = [self.characters[look] for look in above or looks]
        return Piece("+".join(piece.text for piece in shown), shown[0].style if len(shown) == 1 else "")

    def lines(self) -> list[Line]:
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
        """Return the line number of each ``y`` coordinate with content."""
        heights = {cell.y for cell in self.grid.cells} | {y for _, y in self.grid.dots}
        by_id = {cell.id: cell.y for cell in self.grid.cells}
        between = {
            by_id[wall.cell] + (0.5 if wall.side == "south" else -0.5)
            for wall in self.grid.walls
            if wall.side in ("north", "south")
        }
        signs = any(wall.fact is not None and wall.side in ("north", "south") for wall in self.grid.walls)
        if signs:
            heights |= {height + 0.5 for height in sorted(heights)[:-1]}
        heights |= between
        heights |= {label.y for label in self.grid.labels}
        ordered = sorted(heights)
        numbers = dict.fromkeys(ordered[:1], 0)
        for before, height in pairwise(ordered):
            numbers[height] = numbers[before] + (2 if height - before > 1 and not between else 1)
        return numbers

    def at(self, x: float) -> int:
        return self.margin + round(x * self.pitch)

    def put_cell(self, cell: Cell, row: int) -> None:
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
        cell = next(cell for cell in self.grid.cells if cell.id == wall.cell)
        if wall.side in ("east", "west"):
            x = cell.x if wall.side == "east" else cell.x - 1
            self.marked[rows[cell.y]].append((self.at(x + 1) - 1, Piece(wall.sign or "|")))
        else:
            row = rows[cell.y + (0.5 if wall.side == "south" else -0.5)]
            self.marked[row].append((self.at(cell.x), Piece(wall.sign or "-" * max(self.pitch - 1, 1))))

    def put_label(self, label: Label, rows: Mapping[float, int]) -> None:
        start, words = self.at(label.x) + (label.side == "east"), label.text
        if label.side == "west":
            start, words = round((label.x + 1) * self.pitch), label.text.rjust(self.margin - 2)
        self.marked[rows[label.y]].append((start, Piece(words, _LABEL)))


def _joined(items: Iterable[tuple[int, Piece]]) -> Line:
    """Return a line in which each piece starts at its place, or right after the previous piece."""
    line: Line = []
    length = 0
    for start, piece in items:
        if start > length:
            line.append(Piece(" " * (start - length)))
            length = start
        line.append(piece)
        length += len(piece.text)
    return line


def characters_of(looks: Iterable[Look], *, colours: bool) -> dict[Look, Piece]:
    """Return the text of each look: a symbol or, with colours, a stone, block or chess piece."""
    looks = list(looks)
    if not colours:
        return {look: Piece(look.symbol) for look in looks}
    pieces = {look: Piece(look.symbol, style_of(look.colour)) for look in looks}
    for look in looks:
        if look.figure and look.colour:
            style = _BODIES.get(look.colour, f"bold {style_of(look.colour)}")
            pieces[look] = Piece(GLYPHS[look.figure], style)
    # Stones differ in shape and in colour. The second of two stones is hollow, so white comes last.
    stones = [look for look in looks if look.form in ("stone", "mark")]
    stones.sort(key=lambda look: look.colour == "white")
    blocks = [look for look in looks if look.form == "block"]
    pieces |= {look: Piece(fill, style_of(look.colour)) for look, fill in zip(blocks, _BLOCKS, strict=False)}
    forms = zip(stones, _STONES, strict=False)
    return pieces | {look: Piece(form, style_of(look.colour)) for look, form in forms}


def style_of(colour: str) -> str:
    """Return the style of a colour; empty for none."""
    return _STYLES.get(colour, colour)
