"""Rules as words, to be compared: what is said of one thing, and what would be said of another."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.language.rules import Rule

__all__ = [
    "OPERATORS",
    "Parts",
    "Words",
    "are_near",
    "exchanged",
    "flat",
    "normal",
    "numbered",
    "parts_of",
    "text_of",
]

OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
_TOKENS: Final = re.compile(r"[()]|[^\s()]+")

Words = tuple[str, ...]
#: The words of a head, and of each condition.
Parts = tuple[Words, ...]


def parts_of(rule: Rule) -> Parts:
    """Return the words of a rule."""
    return tuple(tuple(_TOKENS.findall(str(part))) for part in (rule.head, *rule.body))


def exchanged(parts: Parts, exchange: Mapping[str, str]) -> Parts:
    """Return a rule with other names."""
    return tuple(tuple(exchange.get(word, word) for word in words) for words in parts)


def normal(parts: Parts) -> Words:
    """Return the words of a rule in an order, and with variables, that do not depend on how it is written.

    The next condition is the first by its words, where variables that none before has are all the same; one
    that looks like another waits.
    """
    numbers: dict[str, str] = {}

    def seen(words: Words) -> Words:
        return tuple(numbers.get(w, "?") if w.startswith("?") else w for w in words)

    words, *left = parts
    found: Words = ()
    while True:
        for word in words:
            if word.startswith("?"):
                numbers.setdefault(word, f"?{len(numbers)}")
        found += seen(words)
        if not left:
            return found
        looks = Counter(map(seen, left))
        words = min(left, key=lambda each: (looks[seen(each)], seen(each)))
        left.remove(words)


def numbered(words: Words) -> Words:
    """Return words with their variables numbered as they come."""
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words)


def flat(parts: Parts) -> Words:
    """Return all words of a rule."""
    return tuple(word for words in parts for word in words)


def text_of(parts: Parts) -> str:
    """Return a rule as KIF."""
    text = f"(<= {' '.join(flat(parts))})"
    return re.sub(r"\( | (?=\))", lambda found: found[0].strip(), text)


def are_near(one: Parts, other: Parts) -> bool:
    """Return whether two rules are the same but for one condition, or for their variables."""
    left, right = Counter(map(_blind, one)), Counter(map(_blind, other))
    return max((left - right).total(), (right - left).total()) <= 1


def _blind(words: Words) -> Words:
    return tuple("?" if word.startswith("?") else word for word in words)
