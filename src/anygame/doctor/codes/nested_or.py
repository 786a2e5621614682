"""A disjunction inside a disjunction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.doctor.sheet import span_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import Or, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "nested-or",
    Severity.INFO,
    "a disjunction inside a disjunction",
    demand="A disjunction is not an alternative of another one.",
    why="It says nothing more than one long disjunction does, and some readers know one level only.",
    source=VALIDATOR,
    bad="(<= terminal (or (true a) (or (true b) (true c))))",
    good="(<= terminal (or (true a) (true b) (true c)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report an `or` that stands directly in another one."""
    for rule in sheet.program.rules:
        for inner, _ in walk(rule.body):
            if isinstance(inner, Or):
                for part in inner.formulas:
                    if isinstance(part, Or):
                        yield _CODE.found(
                            "a disjunction that is an alternative of another one",
                            span_of(part, rule),
                            hint="list its alternatives in the outer `or`",
                        )


CHECK: Final = Check((_CODE,), _check, needs_all=False)
