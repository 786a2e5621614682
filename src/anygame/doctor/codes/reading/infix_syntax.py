"""Something else was expected here, in the infix form."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import INFIX, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "infix-syntax",
    Severity.ERROR,
    "something else was expected here, in the infix form",
    demand="A rule is head :- body, with & between formulas, | between alternatives, ~ for negation.",
    why="What stands elsewhere cannot be given a meaning.",
    source=INFIX,
    bad="terminal :- & open.",
    good="terminal :- open.",
)
