"""Reads sheets that are being written, and guesses nodes for broken rules and facts.

`anygame.language` reads the items without faults. In the rest of the text, an unclosed list ends where a new
item seems to start. In KIF, a parenthesis at the start of a line starts an item; in infix, a name does.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.errors import LimitError
from anygame.language.forms import Form, form_of, kif_variable
from anygame.language.parser import parse_items, unwrapped
from anygame.language.sentences import fold_head
from anygame.language.source import Node
from anygame.language_server.findings import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.source import Source

#: Patterns of tokens and comments. Both patterns have the same groups, although KIF has no marks.
_TOKENS: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(
        r"(?P<comment>;[^\r\n]*)|(?P<open>\()|(?P<close>\))|(?P<name>[^\s();]+)|(?P<mark>(?!))"
    ),
    "infix": re.compile(
        r"(?P<comment>%[^\r\n]*)|(?P<open>\()|(?P<close>\))"
        r"|(?P<name>\??'(?:[^'\r\n]|'')*'?|-?[A-Za-z0-9_]+)|(?P<mark>:-|[,&|~.])"
    ),
}
_ITEM_START: Final[dict[Form, re.Pattern[str]]] = {
    "kif": re.compile(r"^\(", re.MULTILINE),
    "infix": re.compile(r"^['A-Za-z0-9_~]", re.MULTILINE),
}
_DEEPEST: Final = LIMITS.reading.depth
#: Kinds of tokens that complete an argument in the infix form.
_ENDS: Final = frozenset(("name", "close"))


class Token(NamedTuple):
    """A token with its offsets; ``kind`` is ``comment``, ``open``, ``close``, ``name`` or ``mark``."""

    kind: str
    text: str
    start: int
    end: int


def tokens_of(source: Source, form: Form, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of a part of a text, including comments."""
    for match in _TOKENS[form].finditer(source.text, start, len(source.text) if end is None else end):
        yield Token(match.lastgroup or "", match[0], match.start(), match.end())


def starts_item(source: Source, form: Form, offset: int) -> int:
    """Return the offset at which the last item before an offset seems to start, or 0."""
    line = source.text.rfind("\n", 0, offset) + 1
    while line and not _ITEM_START[form].match(source.text, line):
        line = source.text.rfind("\n", 0, line - 1) + 1
    return line


def items_of(source: Source) -> tuple[Node, ...]:
    """Return the rules and facts as nodes, with guesses for broken items; empty if the sheet is too large."""
    try:
        nodes, faults = parse_items(source, limits=LIMITS.reading)
    except (LimitError, RecursionError):
        return ()
    if not faults:
        return nodes
    if any(fault.code == "too-large" for fault in faults):
        return ()
    if form_of(source) == "kif":
        return unwrapped(tuple(_guessed(source, "kif", 0, len(source.text))))
    items: list[Node] = []
    end = 0
    for node in nodes:
        items += [*_guessed(source, "infix", end, node.start), node]
        end = node.end
    return (*items, *_guessed(source, "infix", end, len(source.text)))


def _guessed(source: Source, form: Form, start: int, end: int) -> list[Node]:
    """Return the items of a part of a text with unbalanced parentheses."""
    starts = [match.start() for match in _ITEM_START[form].finditer(source.text, start, end)]
    return [
        node
        for first, last in pairwise(sorted({start, *starts, end}))
        for node in OpenItem(source, form, tokens_of(source, form, first, last)).ended()
    ]


class OpenItem:
    """A rule or fact with possibly missing parentheses, and a stack of its open lists."""

    def __init__(self, source: Source, form: Form, tokens: Iterable[Token]) -> None:
        self._source = source
        self._form = form
        self._head: list[Node] = []
        self._body: list[Node] = []
        self._arrow: Token | None = None
        self._open: list[tuple[int, list[Node], bool]] = []
        self._last = Token("", "", -1, -1)
        for token in tokens:
            if token.kind != "comment":
                self._read(token)
                self._last = token

    @property
    def is_in_body(self) -> bool:
        """Whether an arrow of the infix form precedes the next token."""
        return self._arrow is not None

    def lists(self) -> Iterator[tuple[str | None, int]]:
        """Yield the first symbol of each unclosed list (lower case), and the index of the list's next item.

        The symbol is None for a list without items, and an empty string for parentheses around formulas.
        """
        for _, children, is_group in self._open:
            name = fold_head(children[0].text) or "(" if children else None
            is_begun = self._form == "infix" and children is self._open[-1][1] and self._last.kind in _ENDS
            yield "" if is_group else name, max(0, len(children) - 1 - is_begun)

    def ended(self) -> list[Node]:
        """Close all lists, and return the items; in infix, items before and after an arrow become a rule."""
        self._close_all(self._last.end)
        if self._form == "kif":
            return [node for node in self._head if node.children]
        if self._arrow is None:
            return self._head
        sign = Node(self._source, self._arrow.start, self._arrow.end, "<=")
        start = self._head[0].start if self._head else self._arrow.start
        return [Node(self._source, start, self._last.end, "", (sign, *self._head, *self._body))]

    @property
    def _inside(self) -> list[Node]:
        return self._open[-1][1] if self._open else self._body if self._arrow else self._head

    def _read(self, token: Token) -> None:
        is_infix = self._form == "infix"
        if token.kind == "name":
            text = _as_kif(token.text) if is_infix else token.text
            self._inside.append(Node(self._source, token.start, token.end, text))
        elif token.kind == "open" and len(self._open) < _DEEPEST:
            is_call = is_infix and self._last.kind == "name" and token.start == self._last.end
            name = self._inside.pop() if is_call else None
            # Parentheses around formulas form a group, whose items belong to the list around the group.
            is_group = is_infix and name is None
            self._open.append((name.start if name else token.start, [name] if name else [], is_group))
        elif token.kind == "close":
            self._close(token.end)
        elif token.text == ":-":
            self._close_all(token.start)
            self._arrow = self._arrow or token

    def _close(self, end: int) -> None:
        if self._open:
            start, children, is_group = self._open.pop()
            if is_group:
                self._inside.extend(children)
            elif children:
                self._inside.append(Node(self._source, start, end, "", tuple(children)))

    def _close_all(self, end: int) -> None:
        while self._open:
            self._close(end)


def _as_kif(text: str) -> str:
    prefix = "?" if text[0] == "?" else ""
    bare = text.removeprefix("?")
    if bare[0] == "'":
        return prefix + (bare.strip("'").replace("''", "'") or "name")
    return kif_variable(bare) if bare[0].isupper() or bare[0] == "_" else bare
