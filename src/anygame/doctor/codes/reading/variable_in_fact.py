"""A fact has variables."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "variable-in-fact",
    Severity.ERROR,
    "a fact has variables",
    demand="A fact has no variables.",
    why="It would say something of all terms there are, and there is no end of them.",
    source=GDL,
    bad="(init (cell ?x b))",
    good="(<= (init (cell ?x b)) (index ?x))\n(index 1)",
    mends=("binding", "domain"),
)
