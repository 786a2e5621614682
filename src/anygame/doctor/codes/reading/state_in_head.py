"""`true` or `does` is stated or concluded."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "state-in-head",
    Severity.ERROR,
    "`true` or `does` is stated or concluded",
    demand="`true` and `does` stand in bodies only.",
    why="They describe the state and the moves, which are given. What becomes true is said by `init` and "
    "`next`, what can be done by `legal`.",
    source=GDL,
    bad="(true (cell 1 b))",
    good="(init (cell 1 b))",
)
