"""Nothing changes any more, and the game is not over."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "standstill",
    Severity.WARNING,
    "nothing changes any more, and the game is not over",
    demand="Until the game is over some move changes something.",
    why="From such a state on the game never ends; most often a fluent that rules ask about is lost.",
    source=PLAY,
    bad="(role solo)\n(init (at 1))\n(legal solo go)\n(goal solo 0)\n(<= terminal (true (at 9)))\n"
    "(<= (next (at ?x)) (true (at ?x)))",
    good=GAME,
)
