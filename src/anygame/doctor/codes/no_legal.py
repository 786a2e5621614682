"""A role without any legal move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PLAY, Check, Code
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "no-legal",
    Severity.ERROR,
    "a role without any legal move",
    demand="Every role has rules that give it legal moves.",
    why="All roles move at every step; a role without any move stops the game before it starts.",
    source=PLAY,
    bad="(role white)\n(role black)\n(<= (legal white go) (true on))\n(init on)",
    good="(role white)\n(role black)\n(<= (legal ?r go) (role ?r) (true on))\n(init on)",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a move: nobody could make a first step."""
    for role in sheet.roles_without(("legal", 2)):
        yield _CODE.found(
            f"no rule ever gives {role} a legal move",
            sheet.role_span(role),
            hint=f"(<= (legal {role} ...) ...)",
        )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
