"""Rules as words, to be compared: what is said of one thing, and what would be said of another."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.sheet import key_of
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Rule, map_atoms
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.analysis.doctor.sheet import Key
    from anygame.language.rules import Formula
    from anygame.language.terms import Term

__all__ = [
    "OPERATORS",
    "Parts",
    "Turn",
    "Words",
    "are_near",
    "blind",
    "but_for_numbers",
    "exchanged",
    "flat",
    "normal",
    "numbered",
    "parts_of",
    "text_of",
    "turned",
    "words_of",
]

OPERATORS: Final = frozenset(("not", "or", "distinct", "(", ")"))
#: Characters of a rule that are shown.
_SHOWN: Final = 200
_TOKENS: Final = re.compile(r"[()]|[^\s()]+")

Words = tuple[str, ...]
#: The words of a head, and of each condition.
Parts = tuple[Words, ...]
#: A relation, or the name of a fluent, a move or another term; and in which order its arguments are written.
Turn = tuple[bool, "Key", tuple[int, ...]]


def parts_of(rule: Rule) -> Parts:
    """Return the words of a rule."""
    return (words_of(rule.head), *(words_of(part) for part in rule.body))


def words_of(part: Formula | Atom) -> Words:
    """Return the words of a head or a condition."""
    return tuple(_TOKENS.findall(str(part)))


def exchanged(parts: Parts, exchange: Mapping[str, str]) -> Parts:
    """Return a rule with other names."""
    return tuple(tuple(exchange.get(word, word) for word in words) for words in parts)


@lru_cache(maxsize=4096)
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


def but_for_numbers(parts: Parts) -> Parts:
    """Return a rule in which all numbers are the same, but for a goal's: a first row is another's last."""
    head, *body = parts
    head = head if head[:2] == ("(", "goal") else _with_one_number(head)
    return head, *map(_with_one_number, body)


def _with_one_number(words: Words) -> Words:
    return tuple("0" if word.isdecimal() else word for word in words)


def numbered(words: Words) -> Words:
    """Return words with their variables numbered as they come."""
    numbers: dict[str, str] = {}
    return tuple(numbers.setdefault(w, f"?{len(numbers)}") if w.startswith("?") else w for w in words)


def flat(parts: Parts) -> Words:
    """Return all words of a rule."""
    return tuple(word for words in parts for word in words)


def text_of(parts: Parts) -> str:
    """Return a rule as KIF, shortened if it is long."""
    text = f"(<= {' '.join(flat(parts))})"
    return shown(re.sub(r"\( | (?=\))", lambda found: found[0].strip(), text), _SHOWN)


def are_near(one: Parts, other: Parts) -> bool:
    """Return whether two rules are the same but for one condition, or for their variables."""
    left, right = Counter(map(blind, one)), Counter(map(blind, other))
    return max((left - right).total(), (right - left).total()) <= 1


def blind(words: Words) -> Words:
    """Return words in which all variables are the same."""
    return tuple("?" if word.startswith("?") else word for word in words)


def turned(rule: Rule, turn: Turn) -> Rule:
    """Return a rule with the arguments of one relation, or of one kind of term, in another order."""
    is_relation, key, order = turn

    def turn_atom(atom: Atom) -> Atom:
        if is_relation:
            same = atom.key == key
            return Atom(atom.predicate, tuple(atom.arguments[n] for n in order)) if same else atom
        return Atom(atom.predicate, tuple(map(turn_term, atom.arguments)))

    def turn_term(term: Term) -> Term:
        if isinstance(term, Compound) and key_of(term) == key:
            return Compound(term.functor, tuple(term.arguments[n] for n in order))
        return term

    return Rule(turn_atom(rule.head), tuple(map_atoms(part, turn_atom) for part in rule.body))
