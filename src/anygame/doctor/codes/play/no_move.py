"""A role has no legal move though the game is not over."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import GAME, GOAL, STEPS
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "no-move",
    Severity.ERROR,
    "a role has no legal move though the game is not over",
    demand="Until the game is over every role has a legal move.",
    why="All roles move at every step. With nothing to do a role needs a move such as noop.",
    source=PLAY,
    bad=f"{STEPS}(<= terminal (true (at 4)))\n(init (at 4 never))\n{GOAL}",
    good=GAME,
)
