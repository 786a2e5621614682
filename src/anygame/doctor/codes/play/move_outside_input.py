"""A move is legal that input does not declare."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import VALIDATOR, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "move-outside-input",
    Severity.WARNING,
    "a move is legal that input does not declare",
    demand="Every legal move is declared by `input`, where there is one.",
    why="Systems that trust `input` cannot make the others.",
    source=VALIDATOR,
    bad=f"{GAME}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 2))",
    good=f"{GAME}\n(legal solo (wait 1))\n(input solo go) (input solo (wait 1))",
)
