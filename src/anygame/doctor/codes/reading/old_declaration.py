"""A `base` or `input` sentence of an older style, which is ignored."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import VALIDATOR, Code
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "old-declaration",
    Severity.WARNING,
    "a `base` or `input` sentence of an older style, which is ignored",
    demand="`base` takes a fluent, `input` a role and a move.",
    why="Older sheets use the words with other arguments; such items are ignored.",
    source=VALIDATOR,
    bad="(base cell 1 x)",
    good="(base (cell 1 x))",
)
