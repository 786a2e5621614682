"""A hole in a table: rules or facts for all combinations of some values but one."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.families import families, with_values
from anygame.doctor.likes.words import text_of, words_of
from anygame.doctor.sheet import spoken_of
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

T = TypeVar("T")

#: Combinations of values: of fewer, one may well be left out.
_FEWEST: Final = 8
_MOST: Final = 5_000
#: What is written for single cells; who may do what, and what it brings, differs from one to the other.
_OF_CELLS: Final = frozenset(("init", "next"))

_CODE: Final = Code(
    "missing-combination",
    Severity.WARNING,
    "rules or facts for all combinations of some values but one",
    demand="What is said of each combination of some values is said of all.",
    why="One that is left out of a table was most often forgotten.",
    source=PRACTICE,
    bad="""\
(init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 1 3 b))
(init (cell 2 1 b)) (init (cell 2 3 b))
(init (cell 3 1 b)) (init (cell 3 2 b)) (init (cell 3 3 b))
(<= (next (cell ?x ?y ?what)) (true (cell ?x ?y ?what)))
""",
    good="""\
(init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 1 3 b))
(init (cell 2 1 b)) (init (cell 2 2 b)) (init (cell 2 3 b))
(init (cell 3 1 b)) (init (cell 3 2 b)) (init (cell 3 3 b))
(<= (next (cell ?x ?y ?what)) (true (cell ?x ?y ?what)))
""",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one combination of values for which there is no head of a kind."""
    groups: dict[object, dict[tuple[Term, ...], Rule]] = defaultdict(dict)
    for rule in sheet.program.rules:
        head = rule.head
        if head.predicate in _OF_CELLS or KEYWORDS.get(head.predicate) != len(head.arguments):
            terms = _terms(head)
            shape = tuple(isinstance(term, Constant) for term in terms)
            if sum(shape) > 1 and not any(isinstance(term, Compound) for term in terms):
                name = head.predicate, spoken_of(head), shape, bool(rule.body)
                groups[name].setdefault(tuple(term for term in terms if isinstance(term, Constant)), rule)
    for group in groups.values():
        missing = _missing(list(group))
        if missing is not None:
            yield from _told(sheet, group, missing)
    for family in families(sheet.program.rules):
        row = _missing([values for values, _ in family])
        if row is not None:
            _, rule = max(family, key=lambda each: _alike(each[0], row))
            hint = f"such as {text_of(with_values(rule, row))}"
            yield _CODE.found(_message("rules", " ".join(map(str, row))), rule.span, hint=hint)


def _terms(head: Atom) -> tuple[Term, ...]:
    """Return the arguments of a fluent, or of a relation."""
    if head.predicate not in _OF_CELLS:
        return head.arguments
    fluent = head.arguments[-1] if head.arguments else None
    return fluent.arguments if isinstance(fluent, Compound) else ()


def _missing(rows: Sequence[tuple[T, ...]]) -> tuple[T, ...] | None:
    """Return the one combination of the columns' values that is no row; None if more are missing, or none."""
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    count = prod(map(len, columns))
    several = sum(len(column) > 1 for column in columns)
    if count != len(rows) + 1 or several < 2 or not _FEWEST <= count <= _MOST:
        return None
    there = set(rows)
    return next(row for row in product(*columns) if row not in there)


def _told(
    sheet: Sheet, group: Mapping[tuple[Term, ...], Rule], missing: tuple[Term, ...]
) -> Iterator[Diagnostic]:
    """Report a combination that no head speaks of."""
    rule = group[max(group, key=lambda row: _alike(row, missing))]
    values = iter(missing)
    terms = _terms(rule.head)
    wanted = " ".join(str(next(values) if isinstance(term, Constant) else term) for term in terms)
    if not _stands_elsewhere(sheet, rule.head.predicate, tuple(map(str, missing))):
        what = "rules" if rule.body else "facts"
        like = str(rule.head).replace(" ".join(map(str, terms)), wanted)
        yield _CODE.found(_message(what, wanted), rule.span, hint=f"such as {shown(like)}")


def _message(what: str, missing: str) -> str:
    return f"there are {what} like this one for all combinations of their values but {shown(missing)}"


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


def _stands_elsewhere(sheet: Sheet, predicate: str, values: tuple[str, ...]) -> bool:
    """Return whether another head speaks of just these values: the one place that is not like the others."""
    count = len(values)
    heads = (words_of(rule.head) for rule in sheet.program.rules if rule.head.predicate == predicate)
    return any(head[n : n + count] == values for head in heads for n in range(len(head) - count + 1))


CHECKS: Final = (Check((_CODE,), _check),)
