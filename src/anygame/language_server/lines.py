r"""Places as editors count them: lines from 0, and characters in units of an encoding.

Unless another encoding is agreed on, the unit is one of UTF-16, in which characters beyond U+FFFF count
twice. A line ends with ``\n``, ``\r\n`` or ``\r``, and with nothing else; in pygls'
documents, at form feeds too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, Literal

#: The encoding whose units an editor counts.
Encoding = Literal["utf-8", "utf-16", "utf-32"]
#: A line and the units before a place in it, both from 0.
Place = tuple[int, int]

_LINE_END: Final = re.compile(r"\r\n?|\n")
#: Neither a line nor a unit can have a larger number; the protocol's numbers end there too.
_MOST: Final = 2**31


#: How units are written, and in how many bytes.
_UNITS: Final[dict[Encoding, tuple[str, int]]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}


class Lines:
    r"""The lines of a text, to turn offsets into places and back.

    >>> lines = Lines("; \N{GAME DIE}!\n(role x)")
    >>> lines.place(3), lines.place(6), lines.offset((0, 4)), lines.offset((9, 9))
    ((0, 4), (1, 1), 3, 13)

    Attributes:
        text: the text.
        encoding: whose units are counted.
    """

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding: Encoding = encoding
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._codec, self._bytes = _UNITS[encoding]

    def __len__(self) -> int:
        return len(self._starts)

    def bounds(self, line: int) -> tuple[int, int]:
        """Return the offsets where a line starts and where its line end stands."""
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def line_of(self, offset: int) -> int:
        """Return the number of the line of an offset."""
        return bisect_right(self._starts, offset) - 1

    def place(self, offset: int) -> Place:
        """Return the place of an offset."""
        line = self.line_of(offset)
        return line, self.width(self._starts[line], offset)

    def width(self, start: int, end: int) -> int:
        """Return how many units a part of the text takes."""
        part = self.text[start:end]
        return len(part) if part.isascii() else len(part.encode(self._codec, "surrogatepass")) // self._bytes

    def offset(self, place: Place) -> int:
        """Return the offset of a place: of one beyond the line its end, of one beyond the text its end."""
        line, units = place
        if line < 0:
            return 0
        if line >= len(self._starts):
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

    def replaced(self, start: Place, end: Place, text: str) -> str:
        """Return the whole text with another one between two places."""
        first, last = sorted((self.offset(start), self.offset(end)))
        return self.text[:first] + text + self.text[last:]
