"""`<=` stands elsewhere than at the start of a rule."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "stray-rule",
    Severity.ERROR,
    "`<=` stands elsewhere than at the start of a rule",
    demand="`<=` stands at the start of a rule, and rules do not stand inside each other.",
    why="Most often the rule before lacks its last parenthesis.",
    source=GDL,
    bad="(<= (p a) (q a)\n(<= (q a) (r a)))",
    good="(<= (p a) (q a))\n(<= (q a) (r a))",
)
