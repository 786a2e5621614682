"""A goal that one role has in the place of what all others have, or that is no round number as all are."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Note, Severity
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: What a won game is worth; what one has of it, the other lacks.
_ALL: Final = 100
#: Goals are round numbers, but for one that is a little more or less than another.
_ROUND: Final = 5
_FEWEST_VALUES: Final = 3

_GOALS: Final = """\
(<= (goal x 100) (line x))
(<= (goal x 50) (not (line x)) (not (line o)))
(<= (goal o 100) (line o))
(<= (goal o 50) (not (line x)) (not (line o)))
(<= (goal o 0) (line x))
"""

_CODE: Final = Code(
    "odd-goal",
    Severity.WARNING,
    "a goal that one role has in the place of another value of the others, or that alone is not round",
    demand="Roles whose goals are the same but for one value have that in common, too.",
    why="What wins or loses is worth the same to each, most often a round number; a value that differs in "
    "one rule is a slip.",
    source=PRACTICE,
    bad=f"{_GOALS}(<= (goal x 1) (line o))",
    good=f"{_GOALS}(<= (goal x 0) (line o))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a value of one role, where all goal rules name role and value and no other role has it.

    Of two roles that differ in a value, that one is odd whose complement nobody has.
    """
    rules = sheet.heads.get(("goal", 2), [])
    yield from _not_round(rules)
    if not all(isinstance(term, Constant) for rule in rules for term in rule.head.arguments):
        return
    values: dict[Term, Counter[str]] = defaultdict(Counter)
    for rule in rules:
        role, value = rule.head.arguments
        values[role][str(value)] += 1
    for role, own in values.items():
        for other, others in values.items():
            odd, usual = list((own - others).elements()), list((others - own).elements())
            if other is role or len(odd) != 1 or len(usual) != 1 or not own & others:
                continue
            if not _has_complement(odd[0], values) and _has_complement(usual[0], values):
                yield _found(odd[0], usual[0], role, other, rules)
                break


def _not_round(rules: Sequence[Rule]) -> Iterator[Diagnostic]:
    """Report the one rule with a value that is no multiple of five, where all others have such."""
    names = [str(rule.head.arguments[1]) for rule in rules]
    if not all(name.isdecimal() for name in names):
        return
    values = [int(name) for name in names]
    odd = [number for number, value in enumerate(values) if value % _ROUND]
    if len(odd) == 1 and len({*values}) >= _FEWEST_VALUES:
        value, rule = values[odd[0]], rules[odd[0]]
        if not {value - 1, value + 1} & {*values}:
            message = f"a goal of {value}, where all other goals are multiples of {_ROUND}"
            yield _CODE.found(message, rule.head.span, hint=f"a multiple of {_ROUND}")


def _has_complement(value: str, values: dict[Term, Counter[str]]) -> bool:
    return value.isdecimal() and any(str(_ALL - int(value)) in each for each in values.values())


def _found(odd: str, usual: str, role: Term, other: Term, rules: list[Rule]) -> Diagnostic:
    def place(who: Term, value: str) -> Rule:
        return next(rule for rule in rules if tuple(map(str, rule.head.arguments)) == (str(who), value))

    message = f"{role} has the goal {odd} where {other} has {usual}: the others are the same"
    note = Note("as here", place(other, usual).head.span)
    return _CODE.found(message, place(role, odd).head.span, note, hint=f"(goal {role} {usual})")


CHECK: Final = Check((_CODE,), _check)
