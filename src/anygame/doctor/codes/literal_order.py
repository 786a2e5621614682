"""A test before what binds its variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.ordering import binds
from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Note, Severity
from anygame.language.rules import Distinct, Not

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.terms import Variable

_CODE: Final = Code(
    "literal-order",
    Severity.INFO,
    "a test before what binds its variables",
    demand="A `not` or `distinct` stands after the literals that bind its variables.",
    why=(
        "The order means nothing in GDL, but systems that go from left to right meet variables without "
        "values."
    ),
    source=PRACTICE,
    bad="(<= (p ?x) (distinct ?x a) (q ?x))",
    good="(<= (p ?x) (q ?x) (distinct ?x a))",
    mends=("order",),
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report `not` and `distinct` that stand before the literal that binds one of their variables."""
    for rule in sheet.program.rules:
        binders = _binders(rule)
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not | Distinct):
                late = {v: binders[v] for v in formula.variables() if binders.get(v, -1) > number}
                if late:
                    variable, place = max(late.items(), key=lambda item: item[1])
                    word = "not" if isinstance(formula, Not) else "distinct"
                    yield _CODE.found(
                        f"this `{word}` stands before the literal that binds {variable}; some systems go "
                        "from left to right",
                        span_of(formula, rule),
                        Note("bound here", span_of(rule.body[place], rule)),
                        hint=f"move the `{word}` behind it",
                    )


def _binders(rule: Rule) -> dict[Variable, int]:
    """Return for each variable the number of the first formula of the body that binds it."""
    first: dict[Variable, int] = {}
    for number, formula in enumerate(rule.body):
        for variable in binds(formula):
            first.setdefault(variable, number)
    return first


CHECK: Final = Check((_CODE,), _check, needs_all=False)
