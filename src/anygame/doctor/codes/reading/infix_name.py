"""A name in quotes that KIF cannot spell."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "infix-name",
    Severity.ERROR,
    "a name in quotes that KIF cannot spell",
    demand="A name in quotes must be one that KIF can spell: without blanks, parentheses and semicolons.",
    why="Rules are exchanged in KIF, so that every name must be possible there.",
    source=KIF,
    bad="role('the white').",
    good="role('the-white').",
)
