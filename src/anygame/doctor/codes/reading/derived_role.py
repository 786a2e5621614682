"""A rule, not a fact, declares roles."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "derived-role",
    Severity.WARNING,
    "a rule, not a fact, declares roles",
    demand="Roles are facts.",
    why="Players take part in the order in which the facts declare them, before any rule is looked at.",
    source=GDL,
    bad="(<= (role ?x) (player ?x))\n(player white)",
    good="(role white)",
)
