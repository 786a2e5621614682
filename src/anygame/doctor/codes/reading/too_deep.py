"""Lists are nested deeper than the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, SAFE, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "too-deep",
    Severity.ERROR,
    "lists are nested deeper than the limit",
    demand="Lists are nested at most 200 deep.",
    why=f"{SAFE} Terms of games are rarely deeper than five.",
    source=LIMITS,
    bad="(init " + "(s " * 200 + "zero" + ")" * 201,
    good="(init (counter 200))",
)
