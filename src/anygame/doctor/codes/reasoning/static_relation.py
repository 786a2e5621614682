"""A relation that may not depend on the state or the moves does."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "static-relation",
    Severity.ERROR,
    "a relation that may not depend on the state or the moves does",
    demand="role, init, base and input depend neither on the state nor on the moves.",
    why="They are asked before there is a state.",
    source=GDL,
    bad="(<= (init (b)) (true a))",
    good="(init b)",
)
