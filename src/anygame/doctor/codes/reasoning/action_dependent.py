"""A relation that may not depend on the moves does."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "action-dependent",
    Severity.ERROR,
    "a relation that may not depend on the moves does",
    demand="legal, terminal and goal depend on the state, not on the moves.",
    why="They are asked before anybody has moved: what is legal cannot depend on what is done.",
    source=GDL,
    bad="(<= terminal (does white resign))",
    good="(<= (next over) (does white resign))\n(<= terminal (true over))",
)
