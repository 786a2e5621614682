"""A game without an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PLAY, Check, Code
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "no-terminal",
    Severity.WARNING,
    "a game without an end",
    demand="Some rule says when the game is over.",
    why="Games of GDL end after finitely many steps.",
    source=PLAY,
    bad="(role white)",
    good="(role white)\n(<= terminal (true over))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet without a rule for `terminal`."""
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield _CODE.found(
            "no rule says when the game is over: no match of it ever ends",
            sheet.start,
            hint="(<= terminal ...)",
        )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
