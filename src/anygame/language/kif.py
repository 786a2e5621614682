"""KIF to nodes: one regular expression finds the tokens, and Lark parses them by ``grammar.lark``.

The tokens are checked against limits, and the parser checks parentheses, so nothing is visited twice. A list
without inner lists is one token, and so is a sequence of such lists: large sheets consist of facts, and a
parser step costs more than a match. The names in them become nodes on first access.

`anygame.language.text.check_text`, which is slower, reports the faults of a text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from anygame.language.limits import Deadline
from anygame.language.source import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.language.limits import ReadingLimits
    from anygame.language.source import Source

_STEP: Final = re.compile(
    r"""(?P<flat>\([^();]*\))
    |   (?P<open>\()
    |   (?P<close>\))
    |   (?P<name>[^\s();]+)
    |   ;[^\r\n]*               # a comment ends a token too
    """,
    re.VERBOSE,
)
_FLAT, _OPEN, _CLOSE, _NAME = (_STEP.groupindex[name] for name in ("flat", "open", "close", "name"))
#: Checking the clock takes a tenth of the time of a step.
_STEPS_BETWEEN_LOOKS: Final = 10_000


class _Token(NamedTuple):
    """A token of the parser: its kind in the grammar, with its nodes or its place."""

    type: str
    nodes: list[Node]
    source: Source | None = None
    offset: int = 0


class _BeyondLimitError(Exception):
    """The text exceeds a limit on size or depth."""


def read_nodes(source: Source, limits: ReadingLimits, text: str | None = None) -> tuple[Node, ...] | None:
    """Return the nodes of a text; None if it exceeds a limit or its parentheses do not match.

    Args:
        source: the text to which the places of nodes refer.
        limits: bounds on the text.
        text: read instead of the source's text; it may differ in blanks only.

    Raises:
        LimitError: reading takes too long.
    """
    start, unexpected = _grammar()
    parser = start()
    feed = parser.feed_token
    try:
        for token in _tokens(source, limits, source.text if text is None else text):
            feed(token)
        nodes: tuple[Node, ...] = parser.feed_eof()
    except (unexpected, _BeyondLimitError):
        return None
    return nodes


def _tokens(source: Source, limits: ReadingLimits, text: str) -> Iterator[_Token]:
    deadline = Deadline(limits.seconds)
    longest = limits.token_length
    left = limits.tokens
    depth = 0
    flat: list[Node] = []
    for step, match in enumerate(_STEP.finditer(text)):
        if not step % _STEPS_BETWEEN_LOOKS:
            deadline.check()
        kind = match.lastindex
        start, end = match.span()
        if kind == _FLAT:
            names = text[start + 1 : end - 1].split()
            left -= len(names) + 2
            if depth >= limits.depth:
                raise _BeyondLimitError
            if end - start > longest and any(len(name) > longest for name in names):
                raise _BeyondLimitError
            flat.append(Node(source, start, end, "", ()))
        elif kind is not None:
            if flat:
                yield _Token("FLAT", flat)
                flat = []
            left -= 1
            if kind == _NAME:
                if end - start > longest:
                    raise _BeyondLimitError
                yield _Token("NAME", [Node(source, start, end, match[0])])
            elif kind == _OPEN:
                depth += 1
                if depth > limits.depth:
                    raise _BeyondLimitError
                yield _Token("OPEN", [], source, start)
            else:
                depth -= 1
                yield _Token("CLOSE", [], source, end)
        if left < 0:
            raise _BeyondLimitError
    if flat:
        yield _Token("FLAT", flat)


@cache
def _grammar() -> tuple[Callable[[], Any], type[Exception]]:
    """Return the parser, and its error for unbalanced parentheses."""
    # Imported on first use, because importing lark is slow.
    from pkgutil import get_data

    from lark import Lark, UnexpectedInput

    grammar = (get_data("anygame.language", "grammar.lark") or b"").decode()
    parser = Lark(grammar, parser="lalr", lexer="basic", transformer=_Nodes(), maybe_placeholders=False)
    return parser.parse_interactive, UnexpectedInput


class _Nodes:
    """Stateless transformer of the grammar, which threads can share."""

    def start(self, items: list[_Token]) -> tuple[Node, ...]:
        return tuple([node for item in items for node in item.nodes])

    def list(self, items: list[_Token]) -> _Token:
        first, last = items[0], items[-1]
        assert first.source is not None
        children = tuple([node for item in items for node in item.nodes])
        return _Token("", [Node(first.source, first.offset, last.offset, "", children)])
