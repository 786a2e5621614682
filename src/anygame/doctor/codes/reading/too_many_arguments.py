"""A sentence or term has more arguments than the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, SAFE, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "too-many-arguments",
    Severity.ERROR,
    "a sentence or term has more arguments than the limit",
    demand="A sentence or term has at most 1000 arguments.",
    why=SAFE,
    source=LIMITS,
    bad=f"(init (board{' b' * 1001}))",
    good="(init (cell 1 1 b))",
)
