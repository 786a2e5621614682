"""The text has more characters or tokens than the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, SAFE, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "too-large",
    Severity.ERROR,
    "the text has more characters or tokens than the limit",
    demand="A sheet has at most 16 MiB and 4 million tokens.",
    why=f"{SAFE} Each term keeps its text, so those that are nested deep and long at once are bounded too.",
    source=LIMITS,
)
