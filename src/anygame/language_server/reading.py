"""Texts that somebody is writing, read as far as they go: nodes also of items that are broken.

What can be read is read by the language stage. In the rest, a list that is never closed ends where a new
item seems to start: at a parenthesis (of the infix form: a name) at the start of a line.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.errors import LimitError
from anygame.language.forms import Form, form_of, kif_variable
from anygame.language.parser import parse_items
from anygame.language.source import Node
from anygame.language_server.settings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.source import Source

#: Tokens, and comments. The groups of both forms: a comment, an opening and a closing parenthesis, a name.
_TOKENS: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(
        r"(?P<comment>;[^\r\n]*)|(?P<open>\()|(?P<close>\))|(?P<name>[^\s();]+)|(?P<mark>(?!))"
    ),
    "infix": re.compile(
        r"(?P<comment>%[^\r\n]*)|(?P<open>\()|(?P<close>\))"
        r"|(?P<name>\??'(?:[^'\r\n]|'')*'?|[A-Za-z0-9_]+)|(?P<mark>:-|[,&|~.])"
    ),
}
_ITEM_START: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(r"^\(", re.MULTILINE),
    "infix": re.compile(r"^['A-Za-z0-9_~]", re.MULTILINE),
}
_DEEPEST: Final = LIMITS.reading.depth


class Token(NamedTuple):
    """A token.

    Attributes:
        kind: ``comment``, ``open``, ``close``, ``name`` or ``mark``.
        text: its characters.
        start: offset of the first of them.
        end: offset after the last of them.
    """

    kind: str
    text: str
    start: int
    end: int


def tokens_of(source: Source, form: Form, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of a part of a text, comments too."""
    for match in _TOKENS[form].finditer(source.text, start, len(source.text) if end is None else end):
        yield Token(match.lastgroup or "", match[0], match.start(), match.end())


def starts_item(source: Source, form: Form, offset: int) -> int:
    """Return where the last item before an offset seems to start; 0 where none does."""
    found = 0
    line = source.text.rfind("\n", 0, offset) + 1
    while True:
        if _ITEM_START[form].match(source.text, line) and line <= offset:
            found = line
            break
        if line == 0:
            break
        line = source.text.rfind("\n", 0, line - 1) + 1
    return found


def items_of(source: Source) -> tuple[Node, ...]:
    """Return the rules and facts of a sheet as nodes, as far as they can be made out; none of a huge one."""
    form = form_of(source)
    limits = LIMITS.reading
    try:
        nodes, faults = parse_items(source, limits=limits)
    except (LimitError, RecursionError):
        return ()
    if not faults:
        return nodes
    if any(fault.code == "too-large" for fault in faults):
        return ()
    if form == "kif":
        found = _Guesser(source, form).items(0, len(source.text))
        first = found[0].children if len(found) == 1 else None
        return tuple(first) if first and first[0].children is not None else tuple(found)
    return tuple(_with_gaps(source, nodes))


def _with_gaps(source: Source, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the items that could be read, and between them what the others seem to be."""
    guesser = _Guesser(source, "infix")
    end = 0
    for node in nodes:
        yield from guesser.items(end, node.start)
        yield node
        end = node.end
    yield from guesser.items(end, len(source.text))


class _Guesser:
    """Reads items whose parentheses do not match."""

    def __init__(self, source: Source, form: Form) -> None:
        self._source = source
        self._form = form

    def items(self, start: int, end: int) -> list[Node]:
        """Return the items of a part of the text."""
        starts = [match.start() for match in _ITEM_START[self._form].finditer(self._source.text, start, end)]
        edges = sorted({start, *starts, end})
        read = self._kif if self._form == "kif" else self._infix
        return [
            node
            for first, last in pairwise(edges)
            for node in read(list(tokens_of(self._source, self._form, first, last)))
        ]

    def _kif(self, tokens: list[Token]) -> list[Node]:
        top: list[Node] = []
        lists = _OpenLists(self._source, top)
        for token in tokens:
            if token.kind == "name":
                lists.inside.append(Node(self._source, token.start, token.end, token.text))
            elif token.kind == "open":
                lists.open(token.start)
            elif token.kind == "close":
                lists.close(token.end)
        lists.close_all(_end_of(tokens))
        return [node for node in top if node.children]

    def _infix(self, tokens: list[Token]) -> list[Node]:
        """Return the one item that tokens seem to be: its head, and what stands after the arrow."""
        head: list[Node] = []
        body: list[Node] = []
        lists = _OpenLists(self._source, head)
        arrow: Token | None = None
        name_end = -1
        for token in tokens:
            if token.text == ":-":
                lists.close_all(token.start)
                arrow, lists = arrow or token, _OpenLists(self._source, body)
            elif token.kind == "name":
                node = Node(self._source, token.start, token.end, _as_kif(token.text))
                lists.inside.append(node)
                name_end = token.end
            elif token.kind == "open":
                name = lists.inside.pop() if token.start == name_end and lists.inside else None
                lists.open(name.start if name else token.start, name, is_group=name is None)
            elif token.kind == "close":
                lists.close(token.end)
        end = _end_of(tokens)
        lists.close_all(end)
        if arrow is None:
            return head
        sign = Node(self._source, arrow.start, arrow.end, "<=")
        start = head[0].start if head else arrow.start
        return [Node(self._source, start, end, "", (sign, *head, *body))]


class _OpenLists:
    """Lists that are not closed yet, one inside the other, and what stands around them."""

    def __init__(self, source: Source, top: list[Node]) -> None:
        self._source = source
        self._top = top
        self._open: list[tuple[int, list[Node], bool]] = []

    @property
    def inside(self) -> list[Node]:
        """What the innermost list holds so far."""
        return self._open[-1][1] if self._open else self._top

    def open(self, start: int, name: Node | None = None, *, is_group: bool = False) -> None:
        """Begin a list; what a group holds belongs to the list around it."""
        if len(self._open) < _DEEPEST:
            self._open.append((start, [name] if name else [], is_group))

    def close(self, end: int) -> None:
        """End the innermost list, if there is one."""
        if self._open:
            start, children, is_group = self._open.pop()
            if is_group:
                self.inside.extend(children)
            elif children:
                self.inside.append(Node(self._source, start, end, "", tuple(children)))

    def close_all(self, end: int) -> None:
        """End every list."""
        while self._open:
            self.close(end)


def _end_of(tokens: list[Token]) -> int:
    return max((token.end for token in tokens if token.kind != "comment"), default=0)


def _as_kif(text: str) -> str:
    prefix = "?" if text[0] == "?" else ""
    bare = text.removeprefix("?")
    if bare[0] == "'":
        return prefix + (bare.strip("'").replace("''", "'") or "name")
    return kif_variable(bare) if bare[0].isupper() or bare[0] == "_" else bare
