"""Facts and rules that form a table: one row is missing, or breaks a law of all other rows."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import check, codes_of
from anygame.doctor.comparison import OPERATORS, flat, numbered, parts_of, text_of, words_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.doctor.comparison import Parts, Words
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

_CODES: Final = codes_of(__name__)

# -- a missing row ----------------------------------------------------------------------------------------

#: Minimum number of combinations of values; with fewer, one may be left out for a reason.
_FEWEST_COMBINATIONS: Final = 8
#: Minimum number of values in a column of facts, and of rules, as two cases may have separate rules.
_FEWEST_IN_FACTS: Final = 2
_FEWEST_IN_RULES: Final = 3
_MOST_COMBINATIONS: Final = 5_000
#: Predicates that are written cell by cell, unlike legal moves and goals, which differ between roles.
_OF_CELLS: Final = frozenset(("init", "next"))
#: Placeholder of a number in a frame, which no name contains.
_MARK: Final = " "
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,6})")

#: The numbers of a rule, and the names that are arguments, from left to right.
Values = tuple["int | str", ...]

_MISSING_COMBINATION: Final = _CODES["missing-combination"]


@check(_MISSING_COMBINATION)
def _missing_combination(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the only combination of values without a rule or a fact."""
    framed = [(*frame_of(rule), rule) for rule in sheet.program.rules if _is_compared(rule)]
    for table in grouped((frame, (values, rule)) for frame, values, rule in framed).values():
        is_rule = bool(table[0][1].body)
        missing = _missing([row for row, _ in table], _FEWEST_IN_RULES if is_rule else _FEWEST_IN_FACTS)
        if missing is None:
            continue
        _, like = max(table, key=lambda each: sum(a == b for a, b in zip(each[0], missing, strict=True)))
        if not is_rule and _stands_elsewhere(sheet, like.head.predicate, tuple(map(str, missing))):
            continue
        words = _with_values(like, missing)
        kind = "rules" if is_rule else "facts"
        named = shown(" ".join(map(str, missing)))
        message = f"{kind} like this one cover all combinations of their values but {named}"
        hint = f"such as {text_of(words)}"
        yield _MISSING_COMBINATION.found(message, like.span, hint=hint)


def _is_compared(rule: Rule) -> bool:
    head = rule.head
    return bool(rule.body) or head.predicate in _OF_CELLS or KEYWORDS.get(head.predicate) != head.key[1]


def _missing(rows: Sequence[Values], fewest: int) -> Values | None:
    """Return the only combination of values of columns that is not a row; None if there is not exactly one.

    Each column that varies must have at least ``fewest`` values.
    """
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    count = prod(map(len, columns))
    several = [len(column) for column in columns if len(column) > 1]
    if count != len(rows) + 1 or len(several) < 2 or min(several) < fewest:
        return None
    if not _FEWEST_COMBINATIONS <= count <= _MOST_COMBINATIONS:
        return None
    known = set(rows)
    return next(row for row in product(*columns) if row not in known)


def _stands_elsewhere(sheet: Sheet, predicate: str, values: Words) -> bool:
    """Return whether another head has just these values, so that this place may differ from all others."""
    count = len(values)
    heads = (words_of(rule.head) for rule in sheet.program.rules if rule.head.predicate == predicate)
    return any(head[n : n + count] == values for head in heads for n in range(len(head) - count + 1))


def frame_of(rule: Rule) -> tuple[Words, Values]:
    """Return the words of a rule without numbers and names, and these; ``p12`` also has a number."""
    stems = _stems(numbered(flat(parts_of(rule))))
    return tuple(stem for stem, _ in stems), tuple(value for _, value in stems if value is not None)


def _with_values(rule: Rule, values: Values) -> Parts:
    """Return the words of a rule with other values for the numbers and names of `frame_of`."""
    rest = iter(values)
    return tuple(
        tuple(stem if value is None else f"{stem[:-1]}{next(rest)}" for stem, value in _stems(words))
        for words in parts_of(rule)
    )


def _stems(words: Words) -> list[tuple[str, int | str | None]]:
    return [_split(word, before) for before, word in pairwise(("", *words))]


def _split(word: str, before: str) -> tuple[str, int | str | None]:
    """Return the frame of a word, and its number or name; None if it has neither."""
    if word.startswith("?") or word in OPERATORS or word in KEYWORDS:
        return word, None
    if parts := _NUMBERED.fullmatch(word):
        return f"{parts[1]}{_MARK}", int(parts[2])
    return ("*", word) if before != "(" else (word, None)


# -- an odd row -------------------------------------------------------------------------------------------

#: Minimum number of facts that agree; fewer may count by chance.
_FEWEST_COUNTED: Final = 3
#: Minimum number of facts of a table with an odd fact.
_FEWEST_IN_TABLE: Final = 8
_MOST_IN_TABLE: Final = 5_000
#: Minimum number of facts of a table in which a fact is odd if it breaks the table in only one place.
_LARGE: Final = 40

_ODD_FACT: Final = _CODES["odd-fact"]


@check(_ODD_FACT, once=True)
def _odd_fact(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a fact that breaks a count, or gives a second value if all other facts give one."""
    for facts in sheet.facts.values():
        if len(facts) > _FEWEST_COUNTED and len(facts[0][0].arguments) == 2:
            yield from _breaking_count([atom for atom, _ in facts])
    for table in _tables(sheet):
        yield from _second_value(table)


def _breaking_count(facts: Sequence[Atom]) -> Iterator[Diagnostic]:
    """Report the only fact of two numbers (or letters) that does not count on by one."""
    pairs = [(_number_of(atom.arguments[0]), _number_of(atom.arguments[1])) for atom in facts]
    steps = [None if a is None or b is None else b - a for a, b in pairs]
    (step, often), *_ = Counter(steps).most_common(1)
    if often != len(steps) - 1 or step not in (1, -1):
        return
    odd = next(number for number, each in enumerate(steps) if each != step)
    first, second = pairs[odd]
    if first is None:
        return
    others = [a for number, (a, _) in enumerate(pairs) if number != odd and a is not None]
    # At its end a count may wrap around, stop, or skip a value, but not change direction.
    is_inside = min(others) <= first <= max(others)
    if is_inside or (second is not None and second - first == -step and second != min(others)):
        atom, name = facts[odd], shown(facts[odd].predicate)
        message = f"{shown(str(atom))} breaks the count of the other {len(others)} facts of {name}"
        yield _ODD_FACT.found(message, atom.span, Note("compare", facts[odd - 1 if odd else 1].span))


def _number_of(term: Term) -> int | None:
    """Return the value of a number, or the place of a letter; None for other terms."""
    if not isinstance(term, Constant) or not term.name.isascii():
        return None
    name = term.name
    return int(name) if name.isdigit() else ord(name) if len(name) == 1 and name.isalpha() else None


def _tables(sheet: Sheet) -> Iterator[list[tuple[Atom, tuple[Term, ...]]]]:
    """Yield the facts of each relation, and the initial facts of each fluent, each fact once."""
    for (predicate, _), facts in sheet.facts.items():
        by_terms = {terms: atom for atom, terms in reversed(facts)}
        first, arity = facts[0][0], len(facts[0][1])
        is_compared = predicate == "init" or KEYWORDS.get(predicate) != len(first.arguments)
        if is_compared and arity > 1 and _FEWEST_IN_TABLE <= len(by_terms) <= _MOST_IN_TABLE:
            yield [(atom, terms) for atom, terms in facts if by_terms[terms] is atom]


def _second_value(table: Sequence[tuple[Atom, tuple[Term, ...]]]) -> Iterator[Diagnostic]:
    """Report the fact that gives second values for two arguments, or for one in a large table."""
    breaks: Counter[Atom] = Counter()
    rivals: dict[Atom, Atom] = {}
    for place in range(len(table[0][1])):
        by_rest = grouped(((*terms[:place], *terms[place + 1 :]), atom) for atom, terms in table)
        double = [atoms for atoms in by_rest.values() if len(atoms) > 1]
        if len(double) == 1 and len(double[0]) == 2:
            breaks.update(double[0])
            rivals |= {double[0][0]: double[0][1], double[0][1]: double[0][0]}
    if not breaks:
        return
    (odd, most), *more = breaks.most_common(2)
    if more and more[0][1] == most:
        if len(table) < _LARGE:
            return
        values = Counter(term for _, terms in table for term in terms)
        odd = min(odd, more[0][0], key=lambda atom: min(values[term] for term in _values_of(atom)))
    elif most < 2:
        return
    message = f"{shown(str(odd))} gives a second value where all other facts give one"
    yield _ODD_FACT.found(message, odd.span, Note("the other one", rivals[odd].span))


def _values_of(atom: Atom) -> Iterable[Term]:
    last = atom.arguments[-1]
    return last.arguments if isinstance(last, Compound) else atom.arguments
