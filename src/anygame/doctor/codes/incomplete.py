"""What every sheet needs: moves, goals, an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PLAY, Check, Code
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_NO_LEGAL: Final = Code(
    "no-legal",
    Severity.ERROR,
    "a role without any legal move",
    demand="Every role has rules that give it legal moves.",
    why="All roles move at every step; a role without any move stops the game before it starts.",
    source=PLAY,
    bad="(role white)\n(role black)\n(<= (legal white go) (true on))\n(init on)",
    good="(role white)\n(role black)\n(<= (legal ?r go) (role ?r) (true on))\n(init on)",
)


def _no_legal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a move: nobody could make a first step."""
    for role in sheet.roles_without(("legal", 2)):
        yield _NO_LEGAL.found(
            f"no rule ever gives {role} a legal move",
            sheet.role_span(role),
            hint=f"(<= (legal {role} ...) ...)",
        )


_NO_GOAL: Final = Code(
    "no-goal",
    Severity.WARNING,
    "a role without any goal",
    demand="Every role has rules that give it goals.",
    why="Goals are what players play for; without one the end means nothing to them.",
    source=PLAY,
    bad="(role white)\n(role black)\n(goal white 100)",
    good="(role white)\n(role black)\n(goal white 100)\n(goal black 0)",
)


def _no_goal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a goal."""
    for role in sheet.roles_without(("goal", 2)):
        if str(role) != "random":
            yield _NO_GOAL.found(
                f"no rule ever gives {role} a goal",
                sheet.role_span(role),
                hint=f"(<= (goal {role} 100) ...)",
            )


_NO_TERMINAL: Final = Code(
    "no-terminal",
    Severity.WARNING,
    "a game without an end",
    demand="Some rule says when the game is over.",
    why="Games of GDL end after finitely many steps.",
    source=PLAY,
    bad="(role white)",
    good="(role white)\n(<= terminal (true over))",
)


def _no_terminal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet without a rule for `terminal`."""
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield _NO_TERMINAL.found(
            "no rule says when the game is over: no match of it ever ends",
            sheet.start,
            hint="(<= terminal ...)",
        )


CHECKS: Final = (
    Check((_NO_LEGAL,), _no_legal),
    Check((_NO_GOAL,), _no_goal),
    Check((_NO_TERMINAL,), _no_terminal),
)
