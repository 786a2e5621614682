"""A variable stands where a relation or function belongs."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "variable-as-name",
    Severity.ERROR,
    "a variable stands where a relation or function belongs",
    demand="The name of a relation or function is written out; only arguments can vary.",
    why="GDL is first-order: rules do not range over relations.",
    source=GDL,
    bad="(<= (p ?x) (?r ?x))",
    good="(<= (p ?x) (q ?x))",
)
