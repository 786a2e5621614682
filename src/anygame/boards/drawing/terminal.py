"""Pictures as lines of text: plain, or with the styles of a terminal. Nothing is printed here."""

from __future__ import annotations

from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.characters import characters_of
from anygame.boards.drawing.lines import Line, Piece, plain_text
from anygame.boards.drawing.sheets import grid_lines
from anygame.boards.drawing.styles import style_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.boards.drawing.pictures import Grid, Listing, Look, Picture

#: Lines that stay together.
Block = list[Line]

_GAP: Final = 4
_LABEL: Final = "dim"
_LINES_PER_FLUENT: Final = 3


def text(picture: Picture, *, width: int = 80) -> str:
    """Return a picture as plain text."""
    return plain_text(draw(picture, width=width))


def draw(picture: Picture, *, width: int = 80, colours: bool = False) -> list[Line]:
    """Draw the boards of a picture with their legends, and list its other facts in short.

    Args:
        picture: what to draw.
        width: characters of a line.
        colours: draw stones and pieces with colours; else letters.
    """
    drawn = draw_boards(picture, width=width, colours=colours)
    others = list_facts(picture.others, width=width, colours=colours)
    return [*drawn, *([[]] if drawn and others else []), *others]


def draw_boards(picture: Picture, *, width: int = 80, colours: bool = False) -> list[Line]:
    """Draw all boards, side by side as far as they fit, each group with its legend."""
    groups: list[list[Block]] = []
    explained: list[Block] = []
    lit = _lit(picture)
    for _, members in groupby(picture.grids, key=lambda grid: grid.group):
        grids = list(members)
        characters = characters_of(grids[0].looks, colours=colours)
        rows = groupby(grids, key=lambda grid: grid.place[0])
        drawn = [[grid_lines(grid, characters, lit, colours=colours) for grid in row] for _, row in rows]
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
    """List facts in short: a line for each fluent with the arguments of all its facts.

    A fluent with very many facts is cut short, and says so.
    """
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
    """Return the cells of the last move, with what they are in it; else those that have changed."""
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
    """Distribute words over lines, two blanks between them; a word longer than a line has one to itself."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for word in words:
        if lines[-1] and used + len(word.text) > width:
            lines.append([])
            used = 0
        lines[-1].append(word)
        used += len(word.text) + 2
    return lines


def _side_by_side(blocks: Iterable[list[Line]], width: int) -> list[Line]:
    """Put blocks beside each other as far as they fit, the rest below."""
    lines: list[Line] = []
    row: list[Line] = []
    used = 0
    for block in blocks:
        size = max(map(_length, block))
        if row and used + _GAP + size > width:
            lines += [*row, []]
            row, used = [], 0
        indent = used + _GAP if row else 0
        height = max(len(row), len(block))
        padded = [lines + [[]] * (height - len(lines)) for lines in (row, block)]
        row = [_beside(left, right, indent) for left, right in zip(*padded, strict=True)]
        used = indent + size
    return lines + row


def _beside(left: Line, right: Line, indent: int) -> Line:
    if not right:
        return left
    return [*left, Piece(" " * (indent - _length(left))), *right] if indent else right


def _length(line: Line) -> int:
    return sum(len(piece.text) for piece in line)
