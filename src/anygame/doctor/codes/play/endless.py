"""A playout does not come to an end."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "endless",
    Severity.WARNING,
    "a playout does not come to an end",
    demand="Every game ends after finitely many steps.",
    why=(
        "Players cannot think to the end of a game that has none. That random games did not end within "
        "the bound is no proof; a counter of steps makes sure."
    ),
    source=PLAY,
    bad="(role solo)\n(legal solo go)\n(goal solo 0)\n(<= terminal (true over))\n"
    "(<= (next over) (does solo stop) (legal solo stop))",
    good=GAME,
)
