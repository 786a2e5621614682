"""KIF to nodes: one regular expression and a stack, since rule sheets may have millions of tokens.

::

    sheet = { item }
    item  = token | "(" { item } ")"

A token is any run of characters other than white space, parentheses and ``;``. A comment runs from ``;`` to
the end of its line, and ends a token too. A list without lists in it is taken in one step, and its tokens
become nodes when somebody asks for them.

What is wrong with a text is told by `anygame.language.text.check_text`, which looks at it more slowly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.language.limits import Deadline
from anygame.language.source import Node

if TYPE_CHECKING:
    from anygame.language.limits import ReadingLimits
    from anygame.language.source import Source

__all__ = ["read_nodes"]

_STEP: Final = re.compile(
    r"""(?P<flat>\([^();]*\))     # a list of tokens
    |   (?P<open>\()
    |   (?P<close>\))
    |   (?P<token>[^\s();]+)
    |   ;[^\r\n]*""",
    re.VERBOSE,
)
_FLAT, _OPEN, _CLOSE, _TOKEN = (_STEP.groupindex[name] for name in ("flat", "open", "close", "token"))
#: A look at the clock takes as long as a tenth of a step.
_STEPS_BETWEEN_LOOKS: Final = 10_000


def read_nodes(source: Source, limits: ReadingLimits, text: str | None = None) -> tuple[Node, ...] | None:
    """Return the nodes of a text; None where it goes past a limit or its parentheses do not match.

    Args:
        source: what the nodes are places of.
        limits: bounds on the text.
        text: is read in place of the source's, with which it agrees but for blanks.

    Raises:
        LimitError: reading takes too long.
    """
    text = source.text if text is None else text
    deadline = Deadline(limits.seconds)
    longest = limits.token_length
    tokens_left = limits.tokens
    items: list[Node] = []
    starts: list[int] = []
    around: list[list[Node]] = []
    for step, match in enumerate(_STEP.finditer(text)):
        if not step % _STEPS_BETWEEN_LOOKS:
            deadline.check()
        kind = match.lastindex
        start, end = match.span()
        if kind == _FLAT:
            if len(starts) >= limits.depth:
                return None
            names = text[start + 1 : end - 1].split()
            tokens_left -= len(names) + 2
            if end - start > longest and any(len(name) > longest for name in names):
                return None
            items.append(Node(source, start, end, "", ()))
        elif kind == _TOKEN:
            tokens_left -= 1
            if end - start > longest:
                return None
            items.append(Node(source, start, end, match[0]))
        elif kind == _OPEN:
            tokens_left -= 1
            starts.append(start)
            if len(starts) > limits.depth:
                return None
            around.append(items)
            items = []
        elif kind == _CLOSE:
            tokens_left -= 1
            if not starts:
                return None
            children = tuple(items)
            items = around.pop()
            items.append(Node(source, starts.pop(), end, "", children))
        if tokens_left < 0:
            return None
    return None if starts else tuple(items)
