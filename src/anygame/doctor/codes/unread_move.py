"""A move that changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.wording import named, pattern
from anygame.language.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic

#: Moves that are there to do nothing.
IDLE_MOVES: Final = frozenset(("noop", "pass", "wait"))

_CODE: Final = Code(
    "unread-move",
    Severity.INFO,
    "a move that changes nothing",
    demand="Some rule asks whether a move was made, unless it is noop.",
    why="A move that nobody asks about changes nothing; its effect may be misspelt.",
    source=PRACTICE,
    bad="(role x)\n(legal x (mark 1))\n(<= (next over) (does x (marks 1)))",
    good="(role x)\n(legal x (mark 1))\n(<= (next over) (does x (mark 1)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report legal moves that no rule asks about."""
    if None in sheet.moves_asked:
        return
    for key, heads in sheet.moves.items():
        if key not in sheet.moves_asked and key[0] not in IDLE_MOVES:
            yield _CODE.found(
                f"no rule asks whether a role does {named(key)}: the move changes nothing",
                heads[0].span,
                hint=f"a rule that reads (does ?role {pattern(key)}), or the name noop",
            )


CHECK: Final = Check(
    (_CODE,),
    _check,
)
