"""KIF to nodes: one regular expression finds the tokens, and Lark parses them with ``grammar.lark``.

The tokens are checked against limits and the parser checks parentheses, so nothing is visited twice. A
sequence of lists without inner lists is a single token, because large sheets consist of facts, and a step of
the parser takes longer than a match. The names in such lists become nodes on first access.

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
#: Number of steps between two checks of the time limit; a check takes a tenth of the time of a step.
_STEPS_BETWEEN_CHECKS: Final = 10_000


class _Token(NamedTuple):
    """A token of the parser: its name in the grammar, with its nodes or its place."""

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
        text: a text to read instead of the source text, from which it differs only in blanks.

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
    tokens_left = limits.tokens
    depth = 0
    flat: list[Node] = []
    for step, match in enumerate(_STEP.finditer(text)):
        if not step % _STEPS_BETWEEN_CHECKS:
            deadline.check()
        kind = match.lastindex
        start, end = match.span()
        if kind == _FLAT:
            names = text[start + 1 : end - 1].split()
            tokens_left -= len(names) + 2
            if depth >= limits.depth:
                raise _BeyondLimitError
            if end - start > longest and any(len(name) > longest for name in names):
                raise _BeyondLimitError
            flat.append(Node(source, start, end, "", ()))
        elif kind is not None:
            if flat:
                yield _Token("FLAT", flat)
                flat = []
            tokens_left -= 1
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
        if tokens_left < 0:
            raise _BeyondLimitError
    if flat:
        yield _Token("FLAT", flat)


@cache
def _grammar() -> tuple[Callable[[], Any], type[Exception]]:
    """Return the parser, and its error for unbalanced parentheses."""
    # Imported on first use, because the import of lark is slow.
    from pkgutil import get_data

    from lark import Lark, UnexpectedInput

    grammar = (get_data("anygame.language", "grammar.lark") or b"").decode()
    parser = Lark(grammar, parser="lalr", lexer="basic", transformer=_Nodes(), maybe_placeholders=False)
    return parser.parse_interactive, UnexpectedInput


class _Nodes:
    """Transformer of the grammar; it has no state, so threads can share it."""

    def start(self, items: list[_Token]) -> tuple[Node, ...]:
        return tuple([node for item in items for node in item.nodes])

    def list(self, items: list[_Token]) -> _Token:
        first, last = items[0], items[-1]
        assert first.source is not None
        children = tuple([node for item in items for node in item.nodes])
        return _Token("", [Node(first.source, first.offset, last.offset, "", children)])
