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

from anygame.errors import TermSyntaxError
from anygame.language.diagnostics import shown
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_term
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from anygame.language.terms import Term

_ATOM: Final = re.compile(r"[^\s();]+|;[^\r\n]*")
_PARENTHESIS: Final = re.compile(r"[()]")
_COMMENT: Final = re.compile(r";[^\r\n]*")
#: Lists in a message: looked at within some tenths of a second. Sheets of a million tokens have fewer.
_MOST_LISTS: Final = 400_000
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
    outer, inner = _lists(text)
    parts = _parts(text, 0, len(text), outer)
    if len(parts) == 1 and outer:
        ((start, end),) = outer
        return _parts(text, start + 1, end - 1, inner)
    return parts


#: Where lists start and end.
_Lists = list[tuple[int, int]]


def _lists(text: str) -> tuple[_Lists, _Lists]:
    """Return where the outermost lists of a text are, and the outermost lists in those."""
    if ";" in text:
        text = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    depth = outer_start = inner_start = 0
    outer: _Lists = []
    inner: _Lists = []
    for match in _PARENTHESIS.finditer(text):
        if match[0] == "(":
            depth += 1
            if depth == 1:
                outer_start = match.start()
            elif depth == 2:
                inner_start = match.start()
            continue
        depth -= 1
        if depth == 1:
            inner.append((inner_start, match.end()))
        elif depth == 0:
            outer.append((outer_start, match.end()))
        elif depth < 0:
            raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], match.start())
    if depth:
        raise TermSyntaxError("an opening parenthesis is never closed", text[:200], outer_start)
    return outer, inner


def _parts(text: str, start: int, end: int, lists: _Lists) -> list[str]:
    """Return the atoms and lists of a piece of text, in order."""
    if len(lists) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    parts: list[str] = []
    for list_start, list_end in lists:
        parts += _atoms(text, start, list_start)
        parts.append(text[list_start:list_end])
        start = list_end
    parts += _atoms(text, start, end)
    if len(parts) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    return parts


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
