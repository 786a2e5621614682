"""Source texts, places in source texts, and nodes of syntax trees."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINE_END: Final = re.compile(r"\r\n?|\n")
_TOKEN: Final = re.compile(r"[^\s();]+")


@dataclass(frozen=True)
class Source:
    """A text and its display name."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> array[int]:
        return array("Q", chain((0,), (match.end() for match in _LINE_END.finditer(self.text))))

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_bounds(self, number: int) -> tuple[int, int]:
        """Return the offsets of the start of a line, numbered from 1, and of its line end."""
        start = self._line_starts[number - 1]
        if number == len(self._line_starts):
            return start, len(self.text)
        end = self._line_starts[number] - 1
        return start, end - 1 if self.text.startswith("\r\n", end - 1) else end

    def line(self, number: int) -> str:
        """Return the text of a line, numbered from 1, without its line end."""
        start, end = self.line_bounds(number)
        return self.text[start:end]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` (inclusive) to ``end`` (exclusive) of a source."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters."""
        return self.source.text[self.start : self.end]

    @property
    def place(self) -> str:
        """``name:line:column`` of the first character."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


class Node:
    """A token (``children`` is None) or a parenthesised list, with its place.

    Nodes mirror terms and formulas: the node of ``(cell 1 ?x)`` has the children ``cell``, ``1`` and ``?x``.
    Nodes are immutable. A list of tokens creates its children on first access, because a sheet can have a
    million facts. Places inside facts are rarely needed.

    Attributes:
        source: the text.
        start: offset of the first character of the node.
        end: offset after the last character of the node.
        text: the characters of a token; empty for a list.
    """

    __slots__ = ("_children", "end", "source", "start", "text")

    def __init__(
        self, source: Source, start: int, end: int, text: str, children: tuple[Node, ...] | None = None
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.text = text
        # For a list, an empty tuple can also mean that the children do not exist yet.
        self._children = children

    @property
    def children(self) -> tuple[Node, ...] | None:
        """The items of a list, or None for a token."""
        if self._children == ():
            source = self.source
            matches = _TOKEN.finditer(source.text, self.start + 1, self.end - 1)
            self._children = tuple([Node(source, match.start(), match.end(), match[0]) for match in matches])
        return self._children

    @property
    def tokens(self) -> Sequence[str] | None:
        """The items of a list as strings if all items are tokens, else None."""
        if self._children == ():
            return self.source.text[self.start + 1 : self.end - 1].split()
        if self._children is None or not all(child._children is None for child in self._children):
            return None
        return [child.text for child in self._children]

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Node) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Node({self.span.text!r} at {self.span.place})"

    @property
    def _key(self) -> tuple[Source, int, int, str]:
        return self.source, self.start, self.end, self.text

    @property
    def span(self) -> Span:
        """The place of the node."""
        return Span(self.source, self.start, self.end)

    def __reduce__(self) -> tuple[object, ...]:
        return Node, (self.source, self.start, self.end, self.text, self._children)

    def __deepcopy__(self, memo: dict[int, object]) -> Node:
        return self

    def leaves(self) -> Iterator[Node]:
        """Yield the tokens of the node, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.children is None:
                yield node
            stack.extend(reversed(node.children or ()))

    def argument(self, *path: int) -> Node:
        """Return the node at a path of argument indices, counted from 0.

        For ``(true (cell 1 ?x))``, ``argument(0)`` is ``(cell 1 ?x)`` and ``argument(0, 1)`` is ``?x``.
        """
        node = self
        for index in path:
            if not node.children or not 0 <= index < len(node.children) - 1:
                raise IndexError(f"no argument {index} at {node.span.place}")
            node = node.children[index + 1]
        return node
