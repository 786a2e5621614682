"""The game is over and a role has no goal."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import END, GAME, STEPS
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "goal-missing",
    Severity.ERROR,
    "the game is over and a role has no goal",
    demand="When the game is over every role has a goal.",
    why="Who has none does not know how the game ended.",
    source=PLAY,
    bad=f"{STEPS}{END}(<= (goal solo 100) (true (at 2)))",
    good=GAME,
)
