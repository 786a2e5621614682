"""Messages as a sequence of parts, read fast and without the grammar, since a message is a single list.

Only what a message says of itself is read here; the rules in it stay text, for `anygame.language.parser`.
What is no message costs little, however long it is.

>>> split("( PLAY m.1 (( mark 1 ) noop ) )")
['PLAY', 'm.1', '(( mark 1 ) noop )']
>>> str(read_term("( mark  ( at 1 01 ) )"))
'(mark (at 1 01))'
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import TermSyntaxError
from anygame.language.diagnostics import shown
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_term
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from anygame.language.terms import Term

__all__ = ["is_list", "read_list", "read_term", "split"]

_ATOM: Final = re.compile(r"[^\s();]+|;[^\r\n]*")
_COMMENT: Final = re.compile(r";[^\r\n]*")
#: Lists in a message. A sheet as long as a message may be has fewer: each holds a name at least.
_MOST_LISTS: Final = 1_000_000
_MOST_COMMENTS: Final = 100_000
#: Parts of one list: no game has as many roles, nor makes as much to see at once.
_MOST_PARTS: Final = 10_000
#: Deeper terms are derived by no game, and cannot be copied.
_TERM: Final = ReadingLimits(depth=150, tokens=40_000, arity=_MOST_PARTS)


def split(text: str) -> list[str]:
    """Return the parts of a list as texts; of anything else, its atoms and lists one after the other.

    Raises:
        TermSyntaxError: parentheses do not match, or there are too many parts.
    """
    if max(text.count("("), text.count(")")) > _MOST_LISTS or text.count(";") > _MOST_COMMENTS:
        raise TermSyntaxError(f"more than {_MOST_LISTS:,} lists or {_MOST_COMMENTS:,} comments", text[:200])
    parts = _parts(text)
    return _parts(parts[0][1:-1]) if len(parts) == 1 and is_list(parts[0]) else parts


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    position = 0
    for start, end in _lists(text):
        parts += _atoms(text, position, start)
        parts.append(text[start:end])
        position = end
    parts += _atoms(text, position, len(text))
    if len(parts) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    return parts


def _lists(text: str) -> list[tuple[int, int]]:
    """Return where the outermost lists of a text start and end.

    Rules have some hundred thousand parentheses, which are counted as an array rather than one by one.
    """
    if ";" in text:
        text = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    characters = np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8)
    found = np.flatnonzero((characters | 1) == ord(")"))
    opens = characters[found] == ord("(")
    depths = np.cumsum(np.where(opens, 1, -1), dtype=np.int32)
    if len(depths) and depths.min() < 0:
        first = int(found[(depths < 0).argmax()])
        raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], first)
    starts = found[opens & (depths == 1)]
    ends = found[~opens & (depths == 0)]
    if len(starts) > len(ends):
        raise TermSyntaxError("an opening parenthesis is never closed", text[:200], int(starts[-1]))
    if len(starts) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    return [(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]


def _atoms(text: str, start: int, end: int) -> list[str]:
    """Return the atoms of a piece of text without lists."""
    found = _ATOM.finditer(text, start, end)
    return [match[0] for match in islice(found, _MOST_PARTS + 1) if match[0][0] != ";"]


def is_list(text: str) -> bool:
    """Whether a part is a list, not an atom."""
    return text.startswith("(")


def read_term(text: str) -> Term:
    """Read one term, however it is spaced.

    Raises:
        TermSyntaxError: it is not one term, or a very large one.
    """
    try:
        return parse_term(text, limits=_TERM)
    except TermSyntaxError as error:
        # What is shown of a stranger's text is one line.
        raise TermSyntaxError(str(error).partition("\n")[0], text[:200], error.position) from None


def read_list(text: str) -> tuple[Term, ...]:
    """Read the terms of a list.

    Raises:
        TermSyntaxError: it is no list, or holds what is no term.
    """
    if not is_list(text):
        raise TermSyntaxError(f"expected a list, found {shown(text)}", text[:200])
    # All of them are read at once, as the arguments of one term.
    found = read_term(f"(list {text[1:]}")
    return found.arguments if isinstance(found, Compound) else ()
