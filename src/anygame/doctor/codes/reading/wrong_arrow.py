"""A rule starts with another arrow than ``<=``."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "wrong-arrow",
    Severity.ERROR,
    "a rule starts with another arrow than `<=`",
    demand="A rule is written (<= head body ...), whatever arrow other languages have.",
    why="Read as it stands it would be a fact of a relation of that name, which no rule asks about.",
    source=GDL,
    bad="(=> (legal ?r go) (role ?r))",
    good="(<= (legal ?r go) (role ?r))",
)
