"""A fluent becomes true that base does not declare."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import VALIDATOR, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "fluent-outside-base",
    Severity.WARNING,
    "a fluent becomes true that base does not declare",
    demand="Everything that becomes true is declared by `base`, where there is one.",
    why="Systems that trust `base` lose what it does not declare, and play another game.",
    source=VALIDATOR,
    bad=f"{GAME}\n(base (at 1)) (base (at 2))",
    good=f"{GAME}\n(base (at 1)) (base (at 2)) (base (at 3))",
)
