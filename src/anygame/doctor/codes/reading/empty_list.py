"""A list with nothing in it."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "empty-list",
    Severity.ERROR,
    "a list with nothing in it",
    demand="A list starts with the name of a relation or function.",
    why="() names nothing.",
    source=KIF,
    bad="(init ())",
    good="(init empty)",
)
