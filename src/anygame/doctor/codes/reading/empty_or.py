"""A disjunction of nothing, which is false."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import VALIDATOR, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "empty-or",
    Severity.WARNING,
    "a disjunction of nothing, which is false",
    demand="A disjunction has alternatives.",
    why="Of none, none can hold: (or) is false, and so is the body it stands in.",
    source=VALIDATOR,
    bad="(<= terminal (or))",
    good="(<= terminal (or (true over) (true done)))",
)
