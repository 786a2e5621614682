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
from anygame.language.sentences import fold
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from anygame.language.terms import Term

__all__ = ["is_list", "read_list", "read_term", "spaced", "split"]

_LEXEME: Final = re.compile(r"[()]|[^\s();]+|;[^\r\n]*")
_SEPARATOR: Final = re.compile(r"[()]")
_ATOM: Final = re.compile(r"[^\s();]+|;[^\r\n]*")
_COMMENT: Final = re.compile(r";[^\r\n]*")
#: Lists in a message. A sheet as long as a message may be has fewer: each holds a name at least.
_MOST_LISTS: Final = 1_000_000
_MOST_COMMENTS: Final = 100_000
#: Parts of one list: no game has as many roles, nor makes as much to see at once.
_MOST_PARTS: Final = 10_000
_DEEPEST: Final = 150
_MOST_TOKENS: Final = 20_000
_LONGEST_TOKEN: Final = 4096


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


def read_list(text: str) -> tuple[Term, ...]:
    """Read the terms of a list.

    Raises:
        TermSyntaxError: it is no list, or holds what is no term.
    """
    if not is_list(text):
        raise TermSyntaxError(f"expected a list, found {shown(text)}", text[:200])
    return tuple(map(read_term, _parts(text[1:-1])))


def read_term(text: str) -> Term:
    """Read one term, as `anygame.language.parser.parse_term` does.

    Raises:
        TermSyntaxError: it is not one term, or a very large one.
    """
    stack: list[list[Term]] = [[]]
    for count, match in enumerate(_LEXEME.finditer(text)):
        lexeme = match[0]
        if lexeme[0] == ";":
            continue
        if count > _MOST_TOKENS or len(stack) > _DEEPEST or len(lexeme) > _LONGEST_TOKEN:
            raise TermSyntaxError("the term is too large", text[:200], match.start())
        if lexeme == "(":
            stack.append([])
        elif lexeme == ")":
            if len(stack) == 1:
                raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], match.start())
            parts = stack.pop()
            if len(stack) > 1 and not stack[-1]:
                raise TermSyntaxError("a compound term starts with a name", text[:200], match.start())
            stack[-1].append(_compound(parts, text, match.start()))
        else:
            stack[-1].append(_atom(lexeme, text, match.start()))
    if len(stack) > 1:
        raise TermSyntaxError("an opening parenthesis is never closed", text[:200])
    if len(stack[0]) != 1:
        raise TermSyntaxError(
            f"expected one term, found {shown(text) if stack[0] else 'nothing'}", text[:200]
        )
    return stack[0][0]


def _atom(lexeme: str, text: str, position: int) -> Term:
    if not lexeme.startswith("?"):
        return Constant(fold(lexeme))
    if lexeme == "?":
        raise TermSyntaxError("a variable needs a name after its question mark", text[:200], position)
    return Variable(lexeme[1:])


def _compound(parts: list[Term], text: str, position: int) -> Term:
    if not parts or not isinstance(parts[0], Constant):
        raise TermSyntaxError("a compound term starts with a name", text[:200], position)
    functor = parts[0]
    # As everywhere, a list of one name is that name.
    return Compound(functor.name, tuple(parts[1:])) if len(parts) > 1 else functor


def spaced(text: str) -> str:
    """Return KIF with blanks round its parentheses, as the reference programs write it.

    >>> spaced("(mark 1 (at 2))")
    '( mark 1 ( at 2 ) )'
    """
    return " ".join(_SEPARATOR.sub(r" \g<0> ", text).split())
