"""Something other than a sentence stands as the head of a rule or as a fact."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "bad-head",
    Severity.ERROR,
    "something other than a sentence stands as the head of a rule or as a fact",
    demand="The head of a rule, and a fact, is a single sentence.",
    why="A rule concludes one thing. Two conclusions are two rules, and a negation cannot be concluded.",
    source=GDL,
    bad="(<= (not terminal) (true going))",
    good="(<= going-on (true going))",
)
