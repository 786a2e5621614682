"""A character that has no meaning in the infix form."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import INFIX, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "infix-character",
    Severity.ERROR,
    "a character that has no meaning in the infix form",
    demand="The infix form knows letters, digits, _ and quotes, and the marks :- & | ~ ( ) , and the period.",
    why="Other characters can stand in names only between single quotes.",
    source=INFIX,
    bad="role(white) :- open # 3.",
    good="role(white) :- open3.",
)
