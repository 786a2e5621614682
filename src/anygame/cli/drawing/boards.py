"""Boards drawn with their legends, and the facts beside them in short."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, groupby, zip_longest
from typing import TYPE_CHECKING, Final

from anygame.cli.drawing.lines import Line, Piece
from anygame.cli.drawing.symbols import Symbols
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from anygame.boards import Board, Boards, Layout, Square
    from anygame.language.terms import Constant, Term

__all__ = ["draw_boards", "list_facts", "picture"]

#: Lines that stay together.
Block = list[Line]

_GAP: Final = 4
_LABEL: Final = "dim"
_LINES_PER_FLUENT: Final = 3


def picture(boards: Boards, facts: Collection[Term], *, width: int = 80, stones: bool = False) -> list[Line]:
    """Draw the boards of a state and list its other facts; see `draw_boards` and `list_facts`."""
    drawn = draw_boards(boards, facts, width=width, stones=stones)
    others = list_facts(boards.others(facts), width=width)
    return [*drawn, *([[]] if drawn and others else []), *others]


def draw_boards(
    boards: Boards, facts: Collection[Term], *, width: int = 80, stones: bool = False
) -> list[Line]:
    """Draw all boards of a game, side by side as far as they fit, each with its legend.

    Args:
        boards: as `anygame.boards.find_boards` finds them.
        facts: those of the state.
        width: characters of a line.
        stones: draw coloured things as stones with colours; else as letters.
    """
    groups: list[list[Block]] = []
    explained: list[Block] = []
    for layout in boards.layouts:
        placed = layout.fill(facts)
        seen = {content for board in placed for contents in board.squares.values() for content in contents}
        symbols = Symbols.of(layout, sorted(seen - set(layout.values), key=str), stones=stones)
        name = layout.functor if len(boards.layouts) > 1 else ""
        rows = groupby(placed, key=lambda board: board.title[:-1])
        drawn = [[_Grid(layout, board, symbols).lines(name) for board in row] for _, row in rows]
        legend: Block = [[piece, Piece(f" {meaning}")] for piece, meaning in symbols.legend(seen)]
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


def list_facts(facts: Iterable[Term], *, width: int = 80) -> list[Line]:
    """List facts in short: a line for each fluent with the arguments of all its facts.

    A fluent with very many facts is cut short, and says so.
    """
    arguments: dict[str, list[str]] = defaultdict(list)
    for fact in sorted(facts):
        if isinstance(fact, Compound):
            inner = " ".join(map(str, fact.arguments))
            arguments[fact.functor].append(f"({inner})" if len(fact.arguments) > 1 else inner)
        else:
            arguments[str(fact)] = []
    indent = max(map(len, arguments), default=0) + 2
    lines: list[Line] = []
    for functor, values in arguments.items():
        wrapped = _wrapped(values, max(width - indent, 20))
        if len(wrapped) > _LINES_PER_FLUENT:
            shown = sum(map(len, wrapped[:_LINES_PER_FLUENT]))
            wrapped[_LINES_PER_FLUENT:] = [[f"... and {len(values) - shown} more"]]
        for label, words in zip_longest([functor], wrapped, fillvalue=""):
            lines.append([Piece(label.ljust(indent), _LABEL), Piece("  ".join(words))])
    return lines


def _wrapped(words: Iterable[str], width: int) -> list[list[str]]:
    """Distribute words over lines, two blanks between them; a word longer than a line has one to itself."""
    lines: list[list[str]] = [[]]
    used = 0
    for word in words:
        if lines[-1] and used + len(word) > width:
            lines.append([])
            used = 0
        lines[-1].append(word)
        used += len(word) + 2
    return lines


class _Grid:
    """Where everything on one board goes.

    Columns are ``pitch`` characters apart; every row is shifted by its offset (`Layout.offsets`), half a
    pitch each.
    """

    def __init__(self, layout: Layout, board: Board, symbols: Symbols) -> None:
        self.layout = layout
        self.board = board
        self.pieces: dict[Square, Piece] = {
            square: symbols.on(contents) for square, contents in board.squares.items()
        }
        widest = max([symbols.width, *(len(piece.text) for piece in self.pieces.values())])
        labels = [] if layout.shape == "hexagon" else [len(str(column)) for column in layout.columns]
        self.pitch = max([widest, *labels]) + 1
        if layout.shape != "square":
            self.pitch += self.pitch % 2
        offsets = dict(zip(layout.rows, layout.offsets, strict=True))
        self.columns = {column: index for index, column in enumerate(layout.columns)}
        left = min(
            2 * index + offsets[row]
            for row in layout.rows
            for column, index in self.columns.items()
            if (row, column) in self.pieces
        )
        self.label_width = max(len(str(row)) for row in layout.rows)
        self.shift = {row: (offset - left) * self.pitch // 2 for row, offset in offsets.items()}

    def lines(self, name: str) -> Block:
        """Return the drawing under its title: a name and what tells the board from its sisters."""
        title = " ".join(filter(None, [name, *map(str, self.board.title)]))
        found: list[Line] = [[Piece(title, "bold")]] if title else []
        slanted = self.layout.shape == "slanted"
        labelled = self.layout.shape != "hexagon"
        if labelled and (slanted or not self.layout.upwards):
            found.append(self.header(self.layout.rows[0]))
        found.extend(self.row(row) for row in self.layout.rows)
        if labelled and (slanted or self.layout.upwards):
            found.append(self.header(self.layout.rows[-1]))
        return found

    def row(self, row: Constant) -> Line:
        """Return the line of a row; on a hexagon it ends with the names of its first and last square."""
        start = self.shift[row] if self.layout.shape == "slanted" else 0
        line = [(start, Piece(str(row).rjust(self.label_width), _LABEL))]
        columns = [column for column in self.columns if (row, column) in self.pieces]
        line.extend((self.start(row, column), self.pieces[row, column]) for column in columns)
        if self.layout.shape == "hexagon" and columns:
            end = self.label_width + 2 + max(self.count(r) for r in self.layout.rows) * self.pitch + 1
            line.append((end, Piece(f"{columns[0]}..{columns[-1]}", _LABEL)))
        return _joined(line)

    def count(self, row: Constant) -> int:
        """Return the number of squares of a row."""
        return sum((row, column) in self.pieces for column in self.columns)

    def header(self, row: Constant) -> Line:
        """Return the names of the columns as they lie above or below a row."""
        return _joined([(self.start(row, column), Piece(str(column), _LABEL)) for column in self.columns])

    def start(self, row: Constant, column: Constant) -> int:
        """Return where the symbol of a square starts."""
        return self.label_width + 2 + self.shift[row] + self.columns[column] * self.pitch


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
        row = [
            _joined([*_starts(left), *_starts(right, indent)]) for left, right in zip(*padded, strict=True)
        ]
        used = indent + size
    return lines + row


def _starts(line: Line, start: int = 0) -> list[tuple[int, Piece]]:
    lengths = accumulate((len(piece.text) for piece in line), initial=start)
    return list(zip(lengths, line, strict=False))


def _length(line: Line) -> int:
    return sum(len(piece.text) for piece in line)
