"""A number that breaks a count in the conditions of a rule, or in rules that are the same otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.families import families
from anygame.doctor.sheet import asked_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import Literal
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

#: Conditions, and rules, that are compared: fewer agree by chance.
_FEWEST: Final = 4
_FEWEST_RULES: Final = 5

_STEPS: Final = """\
(<= (next (at 2)) (does x go) (true (at 1)))
(<= (next (at 3)) (does x go) (true (at 2)))
(<= (next (at 4)) (does x go) (true (at 3)))
(<= (next (at 5)) (does x go) (true (at 4)))
"""

_CODE: Final = Code(
    "odd-number",
    Severity.WARNING,
    "a number that breaks a count",
    demand="Rules, and conditions of a rule, that are the same but for numbers count by the same step.",
    why="A number that alone breaks the step is most often a slip of the one who copied the rule.",
    source=PRACTICE,
    bad=f"{_STEPS}(<= (next (at 6)) (does x go) (true (at 4)))",
    good=f"{_STEPS}(<= (next (at 6)) (does x go) (true (at 5)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one number in a rule, or in rules alike, that is not where the others lead."""
    for rule in sheet.program.rules:
        yield from _in_rule(rule)
    # What is a goal goes by any steps.
    for family in families(rule for rule in sheet.program.rules if rule.head.predicate != "goal"):
        if len(family) >= _FEWEST_RULES:
            yield from _in_family([rule for _, rule in family], [numbers for numbers, _ in family])


def _in_rule(rule: Rule) -> Iterator[Diagnostic]:
    """Report a condition that breaks the step of one argument, where another argument goes on by a step."""
    groups: dict[object, list[tuple[Atom, list[int]]]] = defaultdict(list)
    for formula in rule.body:
        if isinstance(formula, Literal):
            _, terms = asked_of(formula.atom)
            places = tuple(place for place, term in enumerate(terms) if _is_number(term))
            functor = getattr(formula.atom.arguments[-1], "functor", "") if terms else ""
            numbers = [int(str(terms[place])) for place in places]
            groups[formula.atom.key, functor, places].append((formula.atom, numbers))
    for group in groups.values():
        if len(group) < _FEWEST:
            continue
        columns = list(zip(*(numbers for _, numbers in group), strict=True))
        if not any(_goes_on(column) for column in columns):
            continue
        for column in columns:
            odd = _odd_place(column)
            if odd is not None:
                atom = group[odd][0]
                yield _found(str(atom), atom, group[odd - 1 if odd else 1][0], "the other conditions")


def _in_family(rules: Sequence[Rule], numbers: Sequence[Sequence[int | str]]) -> Iterator[Diagnostic]:
    """Report the one rule in which two numbers do not differ as they do in all others."""
    columns = [column for column in zip(*numbers, strict=True) if all(isinstance(n, int) for n in column)]
    told: set[int] = set()
    for one, other in combinations(columns, 2):
        steps = [int(b) - int(a) for a, b in zip(one, other, strict=True)]
        step, often = Counter(steps).most_common(1)[0]
        if often != len(rules) - 1:
            continue
        odd = next(number for number, each in enumerate(steps) if each != step)
        values = {n for number, n in enumerate(one) if number != odd}
        # Who is at the end stays there.
        if len(values) >= _FEWEST_RULES - 1 and steps[odd] and odd not in told:
            told.add(odd)
            near = rules[odd - 1 if odd else 1]
            yield _found("this rule", rules[odd].head, near.head, "rules that are the same otherwise")


def _found(what: str, atom: Atom, other: Atom, others: str) -> Diagnostic:
    message = f"{shown(what)} breaks the count of {others}"
    return _CODE.found(message, atom.span, Note("as here", other.span))


def _goes_on(column: Sequence[int]) -> bool:
    return {after - before for before, after in pairwise(column)} in ({1}, {-1})


def _odd_place(column: Sequence[int]) -> int | None:
    """Return the place of the one number that breaks a count by one, up or down."""
    for step in (1, -1):
        starts = [number - step * place for place, number in enumerate(column)]
        start, often = Counter(starts).most_common(1)[0]
        if often == len(column) - 1:
            return next(place for place, each in enumerate(starts) if each != start)
    return None


def _is_number(term: Term) -> bool:
    return isinstance(term, Constant) and term.name.isdecimal()


CHECKS: Final = (Check((_CODE,), _check),)
