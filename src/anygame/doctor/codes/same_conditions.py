"""Two fluents that become true together, of the same things and on the same conditions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import Literal, Not
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule

_PASSED: Final = "(<= (next (out ?p)) (does ?p pass) (true (asked ?p)))\n"

_CODE: Final = Code(
    "same-conditions",
    Severity.WARNING,
    "two fluents that become true of the same things on the same conditions",
    demand="What a move makes true differs from what else it makes true, or so do the conditions.",
    why="Two names for one thing are seldom meant: a `not` is missing in one of the rules.",
    source=PRACTICE,
    bad=f"{_PASSED}(<= (next (passed ?p)) (does ?p pass) (true (asked ?p)))",
    good=f"{_PASSED}(<= (next (passed ?p)) (does ?p pass) (not (true (asked ?p))))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the second of two rules for a fluent's `next` that differ in the fluent's name alone."""
    groups: dict[object, list[Rule]] = defaultdict(list)
    for rule in sheet.heads.get(("next", 1), ()):
        fluent = rule.head.arguments[0]
        if isinstance(fluent, Compound) and any(_is_of_state(sheet, each) for each in rule.body):
            groups[fluent.arguments, frozenset(rule.body)].append(rule)
    for group in groups.values():
        if len(group) == 2 and group[0].head != group[1].head:
            first, second = group
            message = (
                f"{shown(str(second.head.arguments[0]))} becomes true wherever "
                f"{shown(str(first.head.arguments[0]))} does: the conditions are the same"
            )
            note = Note("the other rule", first.span)
            yield _CODE.found(message, second.span, note, hint="a `not` in one of them")


def _is_of_state(sheet: Sheet, formula: Formula) -> bool:
    """Return whether a condition is about the state, and not only about what is done."""
    inner = formula.formula if isinstance(formula, Not) else formula
    return isinstance(inner, Literal) and inner.atom.key in sheet.varying and inner.atom.predicate != "does"


CHECK: Final = Check((_CODE,), _check)
