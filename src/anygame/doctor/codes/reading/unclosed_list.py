"""An opening parenthesis has no closing one."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "unclosed-list",
    Severity.ERROR,
    "an opening parenthesis has no closing one",
    demand="Every opening parenthesis has a closing one.",
    why="Rules are lists, and without its end nobody knows what belongs to a list.",
    source=KIF,
    bad="(role white\n(role black)",
    good="(role white)\n(role black)",
)
