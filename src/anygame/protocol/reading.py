"""Messages as a sequence of parts, read fast and without the grammar, since a message is a single list.

Only what a message says of itself is read here; the rules in it stay text, for `anygame.language.parser`.
Nothing here waits for a lock, so that a large sheet that is being parsed delays no other message.

>>> split("( PLAY m.1 (( mark 1 ) noop ) )")
['PLAY', 'm.1', '(( mark 1 ) noop )']
>>> str(read_term("( mark  ( at 1 01 ) )"))
'(mark (at 1 01))'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.errors import TermSyntaxError
from anygame.language.diagnostics import shown
from anygame.language.sentences import fold
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from anygame.language.terms import Term

__all__ = ["is_list", "read_list", "read_term", "spaced", "split"]

_LEXEME: Final = re.compile(r"[()]|[^\s();]+|;[^\r\n]*")
_SEPARATOR: Final = re.compile(r"[()]")
_DEEPEST: Final = 150
_MOST_TOKENS: Final = 20_000
_LONGEST_TOKEN: Final = 4096


def split(text: str) -> list[str]:
    """Return the parts of a list as texts; of anything else, its atoms and lists one after the other.

    Raises:
        TermSyntaxError: parentheses do not match.
    """
    tops = _tops(text)
    return _tops(tops[0][1:-1]) if len(tops) == 1 and is_list(tops[0]) else tops


def _tops(text: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for match in _LEXEME.finditer(text):
        character = match[0]
        if character == "(":
            if not depth:
                start = match.start()
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], match.start())
            if not depth:
                parts.append(text[start : match.end()])
        elif not depth and character[0] != ";":
            parts.append(character)
    if depth:
        raise TermSyntaxError("an opening parenthesis is never closed", text[:200], start)
    return parts


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
    return tuple(map(read_term, _tops(text[1:-1])))


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
