r"""Positions as editors count them: lines from 0, and characters in code units of an encoding.

The default encoding is UTF-16, in which characters beyond U+FFFF take two units. A line ends only with
``\n``, ``\r\n`` or ``\r``, while documents of pygls also end lines at form feeds.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.source import Source
from anygame.language_server.settings import LIMITS
from anygame.language_server.sheet import Range
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from anygame.language_server.sheet import WrittenSheet


#: The encoding whose units an editor counts.
Encoding = Literal["utf-8", "utf-16", "utf-32"]
#: A line number, and the number of code units before a position in the line; both from 0.
Place = tuple[int, int]

#: Maximum number of units in a line, as in the protocol.
_MOST: Final = 2**31


#: The codec of each encoding, and the number of bytes of a code unit.
_UNITS: Final[dict[Encoding, tuple[str, int]]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}


class Lines:
    r"""The lines of a text; converts offsets to positions and back.

    >>> lines = Lines("; \N{GAME DIE}!\n(role x)")
    >>> lines.place(3), lines.place(6), lines.offset((0, 4)), lines.offset((9, 9))
    ((0, 4), (1, 1), 3, 13)
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding: Encoding = encoding
        self._source = Source("", text)
        self._codec, self._bytes = _UNITS[encoding]

    def __len__(self) -> int:
        return self.line_of(len(self.text)) + 1

    def bounds(self, line: int) -> tuple[int, int]:
        """Return the offsets of the start of a line and of its line break."""
        return self._source.line_bounds(line + 1)

    def line_of(self, offset: int) -> int:
        """Return the number of the line that contains an offset."""
        return self._source.position(offset)[0] - 1

    def place(self, offset: int) -> Place:
        """Return the position of an offset."""
        line = self.line_of(offset)
        return line, self.width(self.bounds(line)[0], offset)

    def width(self, start: int, end: int) -> int:
        """Return the number of code units of a part of the text."""
        part = self.text[start:end]
        return len(part) if part.isascii() else len(part.encode(self._codec, "surrogatepass")) // self._bytes

    def offset(self, place: Place) -> int:
        """Return the offset of a position; a position beyond the line or the text counts as its end."""
        line, units = place
        if line < 0:
            return 0
        if line >= len(self):
            return len(self.text)
        start, end = self.bounds(line)
        units = min(max(units, 0), _MOST)
        part = self.text[start:end]
        if part.isascii():
            return min(start + units, end)
        for offset in range(start, end):
            units -= self.width(offset, offset + 1)
            if units < 0:
                return offset
        return end


#: Maximum number of lines to compare, because difflib can take quadratic time.
_MOST_LINES: Final = 4_000


def layout_edits(sheet: WrittenSheet, part: Range | None = None) -> list[tuple[Range, str]]:
    """Return the edits that lay out a sheet or a part of it. Raises RuleSheetError for an invalid sheet."""
    text = format_sheet(sheet.source, limits=LIMITS.reading)
    if "\r\n" in sheet.text:
        text = text.replace("\n", "\r\n")
    edits = line_edits(sheet.text, text)
    if part is not None:
        edits = [edit for edit in edits if edit[0].start <= part.end and part.start <= edit[0].end]
    return edits


def line_edits(old: str, new: str) -> list[tuple[Range, str]]:
    r"""Return the edits that turn the old text into the new one, in whole lines.

    >>> line_edits("a\nb\nc\n", "a\nB\nc\n")
    [(Range(start=2, end=4), 'B\n')]
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle, changed = before[same : len(before) - tail], after[same : len(after) - tail]
    start = sum(map(len, before[:same]))
    offsets = list(accumulate(map(len, middle), initial=start))
    if len(middle) + len(changed) > _MOST_LINES:
        return [(Range(start, offsets[-1]), "".join(changed))]
    matcher = SequenceMatcher(None, middle, changed, autojunk=False)
    return [
        (Range(offsets[i], offsets[j]), "".join(changed[k:m]))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]
