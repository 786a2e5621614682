"""A keyword inside a term, where it has no meaning."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "keyword-in-term",
    Severity.ERROR,
    "a keyword inside a term, where it has no meaning",
    demand="Keywords name relations and joiners of formulas, not functions.",
    why="Inside a term they mean nothing: (true (not x)) does not deny x.",
    source=GDL,
    bad="(<= terminal (true (not open)))",
    good="(<= terminal (not (true open)))",
)
