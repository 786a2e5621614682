"""A character that cannot be part of a rule sheet."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "control-character",
    Severity.ERROR,
    "a character that cannot be part of a rule sheet",
    demand="A sheet has no control characters but tabs and line ends.",
    why="They cannot be seen, and some systems take them for blanks and others for parts of names.",
    source=KIF,
    bad="(role white\x07)",
    good="(role white)",
)
