"""Playing stopped before all playouts were played."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "play-cut",
    Severity.INFO,
    "playing stopped before all playouts were played",
    demand="Playing takes at most 30 seconds.",
    why="Slow games are played as far as the time goes, and what was found until then is told.",
    source=LIMITS,
)
