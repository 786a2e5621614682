"""Two arguments that look as if they had changed places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.swaps.constants import crossed_constants
from anygame.doctor.likes.swaps.facts import crossed_pairs, crossed_values
from anygame.doctor.likes.swaps.variables import (
    crossed_names,
    crossed_order,
    crossed_variables,
    exchanged_in_frame,
)
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Span

_CODE: Final = Code(
    "swapped-arguments",
    Severity.WARNING,
    "two arguments that look as if they had changed places",
    demand="The arguments of a fluent, a move or a relation stand in the same order everywhere.",
    why=(
        "GDL knows no types, so that a row in the place of a column is no error: the fact is one that nobody "
        "looks at, or stands elsewhere on the board."
    ),
    source=PRACTICE,
    bad="(init (cell 1 2 b))\n(<= (next (cell ?column ?row ?mark)) (true (cell ?row ?column ?mark)))",
    good="(init (cell 1 2 b))\n(<= (next (cell ?row ?column ?mark)) (true (cell ?row ?column ?mark)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report arguments whose places differ from those in all other rules, or in all other facts."""
    frames = (rule for rule in sheet.program.rules if rule.head.predicate == "next")
    found = [each for rule in frames for each in exchanged_in_frame(_CODE, rule)]
    told: set[Span | None] = set()
    for each in (
        *found,
        *crossed_variables(_CODE, sheet),
        *crossed_names(_CODE, sheet),
        *crossed_order(_CODE, sheet),
        *crossed_values(_CODE, sheet),
        *crossed_pairs(_CODE, sheet),
        *crossed_constants(_CODE, sheet),
    ):
        if each.span not in told:
            told.add(each.span)
            yield each


CHECKS: Final = (Check((_CODE,), _check),)
