"""Input and output of the layout: nodes with their comments, and lines of text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Final

from anygame.language.forms import Comment
from anygame.language.source import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Maximum length of a line, unless a single name is longer.
WIDTH: Final = 100
#: Maximum indentation, which bounds the output for deeply nested input.
_DEEPEST: Final = 60
_BEFORE_COMMENT: Final = "  "

#: An item of a list or sheet.
Part = Node | Comment


@dataclass(slots=True)
class _Line:
    code: str = ""
    comment: str = ""
    cells: Sequence[str] = ()  # several facts of one relation
    relation: str = ""


class Page:
    """A text under construction, line by line."""

    def __init__(self) -> None:
        self._lines = [_Line()]

    @property
    def column(self) -> int:
        """The length of the current line without its comment."""
        return len(self._now.code)

    @property
    def is_ended(self) -> bool:
        """Whether a comment ends the current line."""
        return bool(self._now.comment)

    @property
    def is_comment(self) -> bool:
        """Whether the current line consists of a comment only."""
        return self.is_ended and not self._now.code.strip()

    def newline(self, indent: int = 0, *, blanks: int = 0) -> None:
        """Start a line, after some blank lines; reuse the current line if it is empty."""
        if self._now.code or self._now.comment:
            self._lines += [_Line() for _ in range(blanks + 1)]
        self._now.code = " " * min(indent, _DEEPEST)

    def put(self, text: str) -> None:
        """Append code to the current line, before its comment."""
        self._now.code += text

    def row(self, relation: str, cells: Sequence[str]) -> None:
        """Fill the current line with facts of one relation."""
        self._now.code = " ".join(cells)
        if len(cells) > 1:
            self._now.cells, self._now.relation = cells, relation

    def comment(self, text: str) -> None:
        """Add a comment to the current line."""
        self._now.comment = text

    def text(self) -> str:
        """Return the lines, with facts in columns and trailing comments of neighbouring lines aligned."""
        for relation, group in groupby(self._lines, lambda line: line.relation):
            if relation:
                _align_cells(list(group))
        return "".join(f"{line}\n" for line in _written(self._lines)).lstrip("\n")

    @property
    def _now(self) -> _Line:
        return self._lines[-1]


def _align_cells(lines: Sequence[_Line]) -> None:
    columns = zip_longest(*(line.cells for line in lines), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    rows = [
        " ".join(cell.ljust(width) for cell, width in zip(line.cells, widths, strict=False)).rstrip()
        for line in lines
    ]
    if max(map(len, rows)) <= WIDTH:
        for line, row in zip(lines, rows, strict=True):
            line.code = row


def _written(lines: Iterable[_Line]) -> list[str]:
    written = []
    for aligned, group in groupby(lines, lambda line: bool(line.comment and line.code.strip())):
        group_lines = list(group)
        width = max(len(line.code) for line in group_lines) if aligned else 0
        for line in group_lines:
            code = line.code.ljust(width) + _BEFORE_COMMENT if aligned else line.code
            written.append((code + line.comment).rstrip())
    return written


class CommentedItems:
    """The items of a sheet, with the comments between and inside them.

    A comment at the end of the last line of a list is moved behind the list, because the layout closes the
    list on that line. If several comments follow one item, all comments but the first get separate lines.
    """

    def __init__(self, nodes: Iterable[Node], comments: Sequence[Comment], end: int) -> None:
        self._comments = comments
        self._next = 0
        self._inside: dict[int, list[Part]] = {}
        self.items = self._between(nodes, end + 1)
        if self.items and isinstance(self.items[0], Comment):
            self.items[0] = replace(self.items[0], own_line=True)

    def has_comments(self, node: Node) -> bool:
        """Whether a list contains comments."""
        return id(node) in self._inside

    def parts(self, node: Node) -> Sequence[Part]:
        """Return the contents of a list after its name, including comments."""
        return self._inside.get(id(node)) or _arguments(node)

    def _between(self, nodes: Iterable[Node], end: int) -> list[Part]:
        parts: list[Part] = []
        for node in nodes:
            self._take(parts, node.start)
            after = self._enter(node)
            parts.append(node)
            if after is not None:
                parts.append(after)
        self._take(parts, end)
        return parts

    def _take(self, parts: list[Part], end: int) -> None:
        while self._next < len(self._comments) and self._comments[self._next].start < end:
            comment = self._comments[self._next]
            if parts and isinstance(parts[-1], Comment) and not comment.own_line:
                comment = replace(comment, own_line=True)
            parts.append(comment)
            self._next += 1

    def _enter(self, node: Node) -> Comment | None:
        """Collect the comments inside a node; return the comment that is moved behind the node, if any."""
        if not node.children or self._next == len(self._comments):
            return None
        if self._comments[self._next].start >= node.end:
            return None
        arguments = _arguments(node)
        parts = self._between(arguments, node.end)
        last = parts[-1] if parts else None
        after = None
        if isinstance(last, Comment) and not last.own_line:
            after = last
            parts.pop()
        if len(parts) > len(arguments) or any(map(self.has_comments, arguments)):
            self._inside[id(node)] = parts
        return after


def _arguments(node: Node) -> tuple[Node, ...]:
    children = node.children or ()
    return children[1:] if children and children[0].children is None else children
