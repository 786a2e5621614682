"""A condition that stands twice in one rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Note, Severity, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule

#: A sheet that repeats conditions in more rules was written by a program.
_MOST_RULES: Final = 2

_CODE: Final = Code(
    "repeated-literal",
    Severity.WARNING,
    "a condition that stands twice in one rule",
    demand="No condition stands in a rule twice.",
    why="A copy says nothing. Most often it was meant to be changed after copying.",
    source=PRACTICE,
    bad="(<= full (not (open 1)) (not (open 2)) (not (open 2)))\n(open 1)",
    good="(<= full (not (open 1)) (not (open 2)) (not (open 3)))\n(open 1)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report conditions that stand twice, where few rules have some."""
    found = [(rule, *pair) for rule in sheet.program.rules for pair in _repeated(rule)]
    if len({id(rule) for rule, _, _ in found}) <= _MOST_RULES:
        for rule, first, again in found:
            message = f"{shown(str(again))} stands twice in this rule"
            note = Note("here, too", span_of(first, rule))
            yield _CODE.found(message, span_of(again, rule), note, hint="change it, or leave it out")


def _repeated(rule: Rule) -> Iterator[tuple[Formula, Formula]]:
    """Yield formulas of a body that stood there before, after where they did."""
    known: dict[Formula, Formula] = {}
    for formula in rule.body:
        if formula in known:
            yield known[formula], formula
        known.setdefault(formula, formula)


CHECK: Final = Check((_CODE,), _check, needs_all=False)
