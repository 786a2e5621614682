"""A goal that is no integer from 0 to 100."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, Check, Code
from anygame.language.diagnostics import Severity
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_INTEGER: Final = re.compile(r"[+-]?\d+")
_HIGHEST_GOAL: Final = 100

_GOAL_VALUE: Final = Code(
    "goal-value",
    Severity.ERROR,
    "a goal that is no integer",
    demand="A goal is an integer.",
    why="Players compare goals as numbers; a word cannot be compared.",
    source=GDL,
    bad="(<= (goal white win) (true over))",
    good="(<= (goal white 100) (true over))",
)
_GOAL_RANGE: Final = Code(
    "goal-range",
    Severity.WARNING,
    "a goal outside 0..100",
    demand="A goal is from 0 to 100.",
    why="Players and tournaments count on the range.",
    source=GDL,
    bad="(<= (goal white 200) (true over))",
    good="(<= (goal white 100) (true over))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report goals that are no integers from 0 to 100."""
    for rule in sheet.program.rules:
        head = rule.head
        if head.key != ("goal", 2) or isinstance(head.arguments[1], Variable):
            continue
        value = head.arguments[1]
        place = head.node.argument(1).span if head.node and head.node.children else rule.span
        if not _INTEGER.fullmatch(str(value)):
            yield _GOAL_VALUE.found(f"a goal is an integer from 0 to 100, found {value}", place)
        elif not 0 <= int(str(value)[:9]) <= _HIGHEST_GOAL:
            yield _GOAL_RANGE.found(f"a goal is an integer from 0 to 100, found {value}", place)


CHECK: Final = Check(
    (
        _GOAL_VALUE,
        _GOAL_RANGE,
    ),
    _check,
    needs_all=False,
)
