"""The file is not UTF-8 text."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import KIF, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "bad-encoding",
    Severity.ERROR,
    "the file is not UTF-8 text",
    demand="A rule sheet is a file of UTF-8 text.",
    why="Every system exchanges rules as plain text; bytes that are no text cannot be shown at a place.",
    source=KIF,
)
