"""Scrambling: new words for the names of a game, so that players do not recognise the game."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.rules import KEYWORDS
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.terms import Term


#: The style of new words: pronounceable words, or letters and a digit.
Style = Literal["words", "symbols"]

_TOKEN: Final = re.compile(r"[^\s();]+")
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
#: Names with a fixed meaning, which are not scrambled.
_RESERVED: Final = frozenset(KEYWORDS) | {"<=", "not", "or", "and", "distinct", "random", "_", "nil"}
_ONSETS: Final = (*"bcdfghklmnprstvwz", "br", "dr", "gr", "kl", "pl", "st", "tr")
_VOWELS: Final = (*"aeiou", "ai", "ea", "ou")
_CODAS: Final = ("", "", "", *"lmnrst", "nd", "rk")
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz"
_DIGITS: Final = "23456789"


class Scrambling:
    """Words that replace the names of a game; the words depend on the rules, the seed and the style.

    Replies may use the new words or the names of the rules.

    >>> words = Scrambling(["(role red)", "(legal red (mark 1 ?x))"], seed=1)
    >>> scrambled = words.scramble("( legal red ( mark 1 ?x ) )")
    >>> scrambled.split()[1], "red" in scrambled, words.restore(scrambled) == "( legal red ( mark 1 ?x ) )"
    ('legal', False, True)
    >>> words.restore("( Mark 1 2 )"), words.restore("( fly 1 )")
    ('( mark 1 2 )', '( fly 1 )')

    Args:
        rules: the rules of the sheet as strings.
        seed: the seed of the random words.
        style: pronounceable words, or symbols of two or more letters and a digit.
    """

    def __init__(self, rules: Iterable[str], seed: int | str, style: Style = "words") -> None:
        names = list(dict.fromkeys(token for rule in rules for token in _TOKEN.findall(rule)))
        taken = {name.lower() for name in names} | _RESERVED
        random = Random(seed)
        self._words: dict[str, str] = {}
        for name in names:
            if name.lower() in _RESERVED or _INTEGER.fullmatch(name):
                continue
            mark = "?" if name.startswith("?") else ""
            word = next(
                word for word in _STYLES[style](random) if word not in taken and f"?{word}" not in taken
            )
            taken.add(word)
            self._words[name] = mark + word
        self._names = {word: name for name, word in self._words.items()}
        self._lower = unambiguous(self._words)

    @property
    def words(self) -> dict[str, str]:
        """The word for each name; variables have question marks."""
        return dict(self._words)

    def scramble(self, text: str) -> str:
        """Return rules or a term with names replaced."""
        return _TOKEN.sub(lambda token: self._words.get(token[0], token[0]), text)

    def scramble_term(self, term: Term) -> Term:
        """Return a ground term with names replaced; names that the rules lack remain."""
        if isinstance(term, Compound):
            functor = self._words.get(term.functor, term.functor)
            return Compound(functor, tuple(map(self.scramble_term, term.arguments)))
        return Constant(self._words.get(str(term), str(term)))

    def restore(self, text: str) -> str:
        """Return a reply with new words replaced by names of the rules, regardless of capitals."""
        return _TOKEN.sub(lambda token: self._restored(token[0]), text)

    def _restored(self, token: str) -> str:
        lower = token.lower()
        if lower in self._names:
            return self._names[lower]
        return token if token in self._words else self._lower.get(lower, token)


def _invented(random: Random) -> Iterator[str]:
    """Yield pronounceable words of slowly increasing length."""
    length = 2.0
    while True:
        yield "".join(
            random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
            for _ in range(int(length))
        )
        length += 0.01


def _symbols(random: Random) -> Iterator[str]:
    length = 2.0
    while True:
        yield "".join(random.choices(_LETTERS, k=int(length))) + random.choice(_DIGITS)
        length += 0.002


_STYLES: Final = {"words": _invented, "symbols": _symbols}


def unambiguous(names: Iterable[str]) -> dict[str, str]:
    """Return names by their lower-case forms; names that differ only in capitals are omitted."""
    by_lower: dict[str, set[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), set()).add(name)
    return {lower: same.pop() for lower, same in by_lower.items() if len(same) == 1}
