"""No fact declares a role."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "no-role",
    Severity.ERROR,
    "no fact declares a role",
    demand="At least one fact declares a role.",
    why="Without players nobody moves, and there is no game.",
    source=GDL,
    bad="(init start)",
    good="(role white)\n(init start)",
)
