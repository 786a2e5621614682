"""Source texts, places in them, and the tree of nodes that remembers where everything stood."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["Node", "Source", "Span"]


@dataclass(frozen=True)
class Source:
    """A text and the name it is shown under."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(offset + 1 for offset, character in enumerate(self.text) if character == "\n")
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return one line (from 1) without its end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` (included) to ``end`` (excluded) of a source."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """``name:line:column`` of the first character."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Node:
    """A token (``children`` is None) or a parenthesised list, with its place.

    Nodes mirror terms and formulas: the node of ``(cell 1 ?x)`` has the children ``cell``, ``1`` and ``?x``.
    """

    source: Source = field(repr=False)
    start: int
    end: int
    text: str
    children: tuple[Node, ...] | None = None

    @property
    def span(self) -> Span:
        """The node's place."""
        return Span(self.source, self.start, self.end)
