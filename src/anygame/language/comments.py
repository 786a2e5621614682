"""Where the comments of a sheet stand among its nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.language.forms import COMMENT_MARKS
from anygame.language.source import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language.forms import Form
    from anygame.language.source import Source


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment.

    Attributes:
        text: with its marks, as in ``;; Moves``, without blanks at the end.
        start: offset of its first mark.
        end: offset after its last character.
        own_line: whether nothing else stands on its line; otherwise it belongs to what stands before it.
    """

    text: str
    start: int
    end: int
    own_line: bool


#: What a list holds, and a sheet.
Part = Node | Comment

_COMMENT: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(r";[^\r\n]*"),
    "infix": re.compile(r"'(?:[^'\r\n]|'')*'|(%[^\r\n]*)"),
}


def comments_of(source: Source, form: Form) -> list[Comment]:
    """Return the comments of a sheet in the order of the text."""
    found = []
    mark = COMMENT_MARKS[form]
    for match in _COMMENT[form].finditer(source.text):
        if match[0][0] == mark:
            start = match.start()
            _, column = source.position(start)
            own_line = not source.text[start - column + 1 : start].strip()
            found.append(Comment(match[0].rstrip(), start, match.end(), own_line))
    return found


def marked(text: str, form: Form) -> str:
    """Return a comment with the marks of a form in place of those it has.

    >>> marked(";;; Moves; and more", "infix")
    '%%% Moves; and more'
    """
    bare = text.lstrip(text[0])
    return COMMENT_MARKS[form] * (len(text) - len(bare)) + bare


class CommentedItems:
    """The items of a sheet with the comments between and inside them.

    A comment at the end of a list's last line counts as standing after the list, since that is where the
    list is closed when it is laid out. Of several comments that so come to stand after one thing, all but
    the first get lines of their own.

    Attributes:
        items: rules, facts and comments, in order.
    """

    def __init__(self, nodes: Iterable[Node], comments: Sequence[Comment], end: int) -> None:
        self._comments = comments
        self._next = 0
        self._inside: dict[int, list[Part]] = {}
        self.items = self._between(nodes, end + 1)
        if self.items and isinstance(self.items[0], Comment):
            self.items[0] = replace(self.items[0], own_line=True)

    def has_comments(self, node: Node) -> bool:
        """Whether comments stand inside a list."""
        return id(node) in self._inside

    def parts(self, node: Node) -> Sequence[Part]:
        """Return what a list holds after its name, comments included."""
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
        """Take the comments inside a node; return the one that now stands after it."""
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
