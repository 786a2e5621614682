"""Parser of moves that people type: with or without parentheses and name, abbreviated, or by number.

The parser tries readings in order of decreasing strictness. Each reading compares the text with all legal
moves. The first reading that fits any move decides; if that reading fits several moves, the text is
ambiguous. The full text of a legal move always means that move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from anygame.errors import IllegalMoveError
from anygame.language.diagnostics import shown
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from anygame.language.terms import Term

    #: A function that returns whether typed text (the first argument) fits a move (the second argument).
    Reading: TypeAlias = Callable[["_Spelling", "_Spelling"], bool]

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
#: Characters that can separate the parts of a move, as in ``e2-e4``.
_SEPARATORS: Final = re.compile(r"[\s()\-_,:.]+")
_NUMBER: Final = re.compile(r"(#?)([0-9]{1,9})")
#: Maximum number of characters of a typed text. Long texts take long to compare.
_LONGEST: Final = 1_000
#: Maximum number of moves named in an error.
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The parts of a move, or of typed text.

    Attributes:
        tokens: the names and the parentheses.
        words: the names without the parentheses.
        arguments: the words after the name of the move; empty if the move is a constant.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *, is_compound: bool = True) -> _Spelling:
        tokens = tuple(_TOKEN.findall(text))
        words = tuple([token for token in tokens if token not in "()"])
        return cls(tokens, words, words[1:] if is_compound else ())

    @classmethod
    def of_move(cls, move: Term, *, folded: bool = False) -> _Spelling:
        text = str(move).lower() if folded else str(move)
        return cls.of(text, is_compound=isinstance(move, Compound))

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The sequences of words that mean the move: all words, or only the arguments."""
        return (self.words, self.arguments) if self.arguments else (self.words,)


def typed_move(text: str, legal: Sequence[Term], role: str | None = None) -> Term:
    """Return the legal move that a text means.

    >>> from anygame.language.parser import parse_term
    >>> legal = [parse_term(text) for text in ("(move d 4)", "(move d 5)", "(swap d)", "noop")]
    >>> [str(typed_move(text, legal)) for text in ("d 4", "move d 5", "MOVE D4", "s", "n", "#2")]
    ['(move d 4)', '(move d 5)', '(move d 4)', '(swap d)', 'noop', '(move d 5)']

    Args:
        text: a move, its words, or only its arguments, joined or abbreviated. The beginning of a move, or
            parts that only one move has, also mean the move. ``3`` or ``#3`` is the third move of the list.
        legal: the moves, in the order of their numbers.
        role: the role that errors name. An IllegalMoveError has possible moves as ``suggestions``.
    """
    candidates = meant_moves(text, legal)
    if len(candidates) == 1:
        return candidates[0]
    raise _ambiguous(text, candidates, legal, role) if candidates else _unknown(text, legal, role)


def meant_moves(text: str, legal: Sequence[Term]) -> list[Term]:
    """Return all legal moves that a text can mean: exactly one for an unambiguous text."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return []
    exact = _fitting(text, legal, (_same_text,))
    number = _NUMBER.fullmatch(text)
    if exact or (number is None and _is_closed(_Spelling.of(text).tokens)):
        return exact or _fitting(text, legal, (_same_words,))
    if number is None:
        return _fitting(text, legal, _READINGS)
    place = int(number[2])
    numbered = [legal[place - 1]] if 1 <= place <= len(legal) else []
    spelled_out = [] if number[1] else _fitting(text, legal, (_same_words, _joined))
    return list(dict.fromkeys([*numbered, *spelled_out]))


def _fitting(text: str, legal: Sequence[Term], readings: Sequence[Reading]) -> list[Term]:
    """Return the moves of the first reading that fits any move. Whole words are first tried in exact case."""
    cased, folded = [[_Spelling.of_move(move, folded=small) for move in legal] for small in (False, True)]
    for reading in readings:
        ways = [(_Spelling.of(text.lower()), folded)]
        if reading in (_same_text, _same_words):
            ways.insert(0, (_Spelling.of(text), cased))
        for typed, spellings in ways:
            fitting = [move for move, form in zip(legal, spellings, strict=True) if reading(typed, form)]
            if fitting:
                return fitting
    return []


def completed_moves(text: str, legal: Sequence[Term]) -> list[tuple[Term, str]]:
    """Return each move that has a form beginning with ``text``, and the first such form of the move.

    >>> from anygame.language.parser import parse_term
    >>> legal = [parse_term(text) for text in ("(move d 4)", "(move e 5)", "noop")]
    >>> [form for _, form in completed_moves("(m", legal)], [form for _, form in completed_moves("d", legal)]
    (['(move d 4)', '(move e 5)'], ['d 4'])
    """
    folded = " ".join(text.lower().split()) + " " * (text[-1:].isspace() and not text.isspace())
    completed = []
    for move in legal:
        full = str(move)
        forms = [full, *map(" ".join, _Spelling.of_move(move).forms)]
        form = next((form for form in forms if form.lower().startswith(folded)), None)
        if form is not None:
            completed.append((move, form))
    return completed


def filtered_moves(pattern: str, legal: Sequence[Term]) -> list[Term]:
    """Return the moves that fit a pattern of words, with or without the name of the move.

    ``*`` matches any characters within a word. A pattern also fits moves with more words at the end.

    >>> from anygame.language.parser import parse_term
    >>> legal = [parse_term(text) for text in ("(move a 1)", "(move a 2)", "(move b 1)", "noop")]
    >>> [list(map(str, filtered_moves(pattern, legal))) for pattern in ("a *", "* 1", "no*", "move b")]
    [['(move a 1)', '(move a 2)'], ['(move a 1)', '(move b 1)'], ['noop'], ['(move b 1)']]
    """
    wanted = _Spelling.of(pattern.lower()).words

    def fits(words: Sequence[str]) -> bool:
        return len(wanted) <= len(words) and all(
            fnmatchcase(word.lower(), part) for word, part in zip(words, wanted, strict=False)
        )

    return [move for move in legal if wanted and any(map(fits, _Spelling.of_move(move).forms))]


def nearest_moves(text: str, legal: Sequence[Term]) -> list[str]:
    """Return up to three moves, as text, that are most similar to a typed text; the best move comes first."""
    forms: dict[str, str] = {}
    for move in legal:
        for words in _Spelling.of_move(move, folded=True).forms:
            forms.setdefault(" ".join(words), str(move))
    typed = " ".join(_Spelling.of(text[:_LONGEST].lower()).words)[:100]
    near = get_close_matches(typed, forms, n=6, cutoff=0.5)
    return list(dict.fromkeys([forms[form] for form in near]))[:3]


# -- readings ------------------------------------------------------------------------------------------------


def _same_text(typed: _Spelling, move: _Spelling) -> bool:
    return typed.tokens == move.tokens


def _same_words(typed: _Spelling, move: _Spelling) -> bool:
    return typed.words in move.forms


def _joined(typed: _Spelling, move: _Spelling) -> bool:
    wanted = _join(typed.words)
    return bool(wanted) and wanted in map(_join, move.forms)


def _begins(typed: _Spelling, move: _Spelling) -> bool:
    """Return whether the text begins the move: only the last word of the text can be incomplete."""
    *complete, last = typed.words or ("",)
    count = len(complete)
    return any(
        len(form) > count and list(form[:count]) == complete and form[count].startswith(last)
        for form in move.forms
    )


def _abbreviates(typed: _Spelling, move: _Spelling) -> bool:
    """Return whether every word of the text begins the corresponding word of the move."""
    words = typed.words
    return any(len(form) >= len(words) and all(map(str.startswith, form, words)) for form in move.forms)


def _begins_joined(typed: _Spelling, move: _Spelling) -> bool:
    wanted = _join(typed.words)
    return bool(wanted) and any(_join(form).startswith(wanted) for form in move.forms)


def _has_run(typed: _Spelling, move: _Spelling) -> bool:
    """Return whether the text is a sequence of arguments, as ``e4`` in ``(move p e 2 e 4)``."""
    wanted = _join(typed.words)
    count = len(move.arguments)
    return bool(wanted) and any(
        _join(move.arguments[first:last]) == wanted
        for first in range(count)
        for last in range(first + 1, count + 1)
    )


def _has_words(typed: _Spelling, move: _Spelling) -> bool:
    """Return whether the words of the text are a subsequence of the words of the move."""
    remaining = iter(move.words)
    return bool(typed.words) and all(word in remaining for word in typed.words)


_READINGS: Final = (_same_words, _joined, _begins, _abbreviates, _begins_joined, _has_run, _has_words)


def _join(words: Sequence[str]) -> str:
    return _SEPARATORS.sub("", "".join(words)).lower()


def _is_closed(tokens: Sequence[str]) -> bool:
    """Return whether the text is a list with as many closing as opening parentheses."""
    return tokens[:1] == ("(",) and tokens.count("(") == tokens.count(")")


# -- errors --------------------------------------------------------------------------------------------------


def _ambiguous(
    text: str, candidates: Sequence[Term], legal: Sequence[Term], role: str | None
) -> IllegalMoveError:
    text = text.strip()
    message = _refused(text, role)
    if _is_closed(_Spelling.of(text).tokens):
        message += f"; the nearest legal moves are {', '.join(map(str, candidates[:_SHOWN]))}"
    else:
        listed = [f"#{legal.index(move) + 1} {move}" for move in candidates[:_SHOWN]]
        more = f", or one of {len(candidates) - _SHOWN} others" if len(candidates) > _SHOWN else ""
        message += f", but can mean {', '.join(listed)}{more}"
    return IllegalMoveError(message, role, text, map(str, candidates))


def _unknown(text: str, legal: Sequence[Term], role: str | None) -> IllegalMoveError:
    text = text.strip()
    number = _NUMBER.fullmatch(text)
    if number and legal:
        message = f"{role or 'the list'} has no move {number[2]}: legal moves are numbered 1 to {len(legal)}"
        return IllegalMoveError(message, role, text)
    message = _refused(text, role)
    near = nearest_moves(text, legal)
    if near:
        return IllegalMoveError(f"{message}; the nearest legal moves are {', '.join(near)}", role, text, near)
    examples = list(map(str, legal[:_SHOWN]))
    if len(legal) <= _SHOWN:
        message += f"; legal moves are {', '.join(examples) or 'none'}"
    else:
        message += f"; there are {len(legal)} others, such as {examples[0]}"
    return IllegalMoveError(message, role, text, examples)


def _refused(text: str, role: str | None) -> str:
    return f"{shown(text, 40)} is not a legal move{f' of {role}' if role else ''} here"
