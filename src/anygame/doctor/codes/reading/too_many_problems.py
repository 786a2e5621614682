"""Reading stopped, since nearly everything is wrong."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "too-many-problems",
    Severity.ERROR,
    "reading stopped, since nearly everything is wrong",
    demand="Reading stops after 1000 errors.",
    why="What has more of them is no rule sheet, or in another form than it seems.",
    source=LIMITS,
)
