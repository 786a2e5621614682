"""A negation of something other than a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import And, Distinct, Literal, Not, Or, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "negated-formula",
    Severity.WARNING,
    "a negation of something other than a sentence",
    demand="`not` stands in front of a sentence.",
    why=(
        "The definition of GDL has no other negation. A well-known system reads (not (or a b)) as if it "
        "were (or (not a) (not b)), which is something else."
    ),
    source=GDL,
    bad="(<= terminal (not (or (true a) (true b))))",
    good="(<= terminal (not (true a)) (not (true b)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report `not` in front of `or`, `and`, `not` and `distinct`."""
    words = {Or: "or", And: "and", Not: "not", Distinct: "distinct"}
    for rule in sheet.program.rules:
        for inner, _ in walk(rule.body):
            if isinstance(inner, Not) and not isinstance(inner.formula, Literal):
                word = words.get(type(inner.formula), "formula")
                hint = (
                    "write the same variable twice"
                    if word == "distinct"
                    else "negate each sentence alone, or give the formula a relation of its own"
                )
                yield _CODE.found(
                    f"GDL has `not` in front of a sentence only, found `{word}`; other systems read it "
                    "differently",
                    span_of(inner, rule),
                    hint=hint,
                )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
