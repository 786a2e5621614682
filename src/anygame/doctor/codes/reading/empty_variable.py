"""A question mark without a name."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "empty-variable",
    Severity.ERROR,
    "a question mark without a name",
    demand="A variable is a question mark and a name.",
    why="A mere ? cannot be told from another one.",
    source=KIF,
    bad="(<= (p ?) (q ?))",
    good="(<= (p ?x) (q ?x))",
)
