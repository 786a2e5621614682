"""A rule without a body."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import VALIDATOR, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "empty-body",
    Severity.WARNING,
    "a rule without a body",
    demand="A rule has a body; without one it is written as a fact.",
    why="(<= h) is read as h, but not by every system.",
    source=VALIDATOR,
    bad="(<= (succ 1 2))",
    good="(succ 1 2)",
)
