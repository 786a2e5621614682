"""A variable stands where a sentence belongs."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "variable-sentence",
    Severity.ERROR,
    "a variable stands where a sentence belongs",
    demand="A variable does not stand for a whole sentence.",
    why="GDL is first-order: only terms can vary. What is true varies inside (true ?x).",
    source=GDL,
    bad="(<= terminal ?x)",
    good="(<= terminal (true ?x))",
)
