"""A role without any goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PLAY, Check, Code
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "no-goal",
    Severity.WARNING,
    "a role without any goal",
    demand="Every role has rules that give it goals.",
    why="Goals are what players play for; without one the end means nothing to them.",
    source=PLAY,
    bad="(role white)\n(role black)\n(goal white 100)",
    good="(role white)\n(role black)\n(goal white 100)\n(goal black 0)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a goal."""
    for role in sheet.roles_without(("goal", 2)):
        if str(role) != "random":
            yield _CODE.found(
                f"no rule ever gives {role} a goal",
                sheet.role_span(role),
                hint=f"(<= (goal {role} 100) ...)",
            )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
