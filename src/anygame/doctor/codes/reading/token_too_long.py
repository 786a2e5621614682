"""A single token is longer than the limit."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import LIMITS, SAFE, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "token-too-long",
    Severity.ERROR,
    "a single token is longer than the limit",
    demand="A name has at most 4096 characters.",
    why=SAFE,
    source=LIMITS,
    bad=f"(role {'long' * 1025})",
    good="(role long)",
)
