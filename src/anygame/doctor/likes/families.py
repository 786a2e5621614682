"""Rules that are the same but for numbers and names."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.likes.words import OPERATORS, flat, numbered, parts_of
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.doctor.likes.words import Parts, Words
    from anygame.language.rules import Rule

#: For a number; no name has it.
_MARK: Final = " "
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,6})")

#: The numbers of a rule, and the names that are arguments, from left to right.
Values = tuple["int | str", ...]


def families(rules: Iterable[Rule]) -> list[list[tuple[Values, Rule]]]:
    """Return the rules with bodies in groups that differ in numbers and names alone, each with its own."""
    return [family for family in by_frame(rules).values() if family[0][0]]


def by_frame(rules: Iterable[Rule]) -> dict[Words, list[tuple[Values, Rule]]]:
    """Return the rules with bodies by what they have in common but for numbers and names, with these."""
    found: dict[Words, list[tuple[Values, Rule]]] = defaultdict(list)
    for rule in rules:
        if rule.body:
            frame, values = frame_of(rule)
            found[frame].append((values, rule))
    return dict(found)


def frame_of(rule: Rule) -> tuple[Words, Values]:
    """Return a rule's words with its numbers and names left out, and these; ``p12`` has a number, too."""
    frame: list[str] = []
    values: list[int | str] = []
    before = ""
    for word in numbered(flat(parts_of(rule))):
        stem, value = _split(word, before)
        frame.append(stem)
        values += [] if value is None else [value]
        before = word
    return tuple(frame), tuple(values)


def with_values(rule: Rule, values: Values) -> Parts:
    """Return the words of a rule with others of the numbers and names that `frame_of` gives."""
    left = iter(values)
    found = []
    for words in parts_of(rule):
        changed = []
        before = ""
        for word in words:
            stem, value = _split(word, before)
            changed.append(word if value is None else f"{stem[:-1]}{next(left)}")
            before = word
        found.append(tuple(changed))
    return tuple(found)


def _split(word: str, before: str) -> tuple[str, int | str | None]:
    """Return what a word has in common with others of its kind, and its number or name; None of others."""
    if word.startswith("?") or word in OPERATORS or word in KEYWORDS:
        return word, None
    if parts := _NUMBERED.fullmatch(word):
        return f"{parts[1]}{_MARK}", int(parts[2])
    return ("*", word) if before != "(" else (word, None)


def odd_place(values: Sequence[object]) -> int | None:
    """Return the place of the one value that differs where all others are the same."""
    (usual, often), *_ = Counter(values).most_common(1) or [(None, 0)]
    return next(n for n, each in enumerate(values) if each != usual) if often == len(values) - 1 > 0 else None


def number_of(value: object) -> int | None:
    """Return the number that a constant or a name is, or the place of a letter; None of anything else."""
    name = value.name if isinstance(value, Constant) else value
    if isinstance(name, str) and name.isascii():
        return int(name) if name.isdigit() else ord(name) if len(name) == 1 and name.isalpha() else None
    return name if isinstance(name, int) else None
