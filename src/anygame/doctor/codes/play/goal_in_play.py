"""The game is over and a goal is no integer from 0 to 100."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import END, GAME, STEPS
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "goal-in-play",
    Severity.ERROR,
    "the game is over and a goal is no integer from 0 to 100",
    demand="When the game is over every goal is an integer from 0 to 100.",
    why="Players and tournaments count on the range.",
    source=PLAY,
    bad=f"{STEPS}{END}(<= (goal solo ?x) (points ?x))\n(points many)",
    good=GAME,
)
