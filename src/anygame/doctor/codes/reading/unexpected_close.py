"""A closing parenthesis has no opening one."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "unexpected-close",
    Severity.ERROR,
    "a closing parenthesis has no opening one",
    demand="Every closing parenthesis has an opening one.",
    why="One too many ends a rule too early or hides that another one is missing.",
    source=KIF,
    bad="(role white))",
    good="(role white)",
)
