"""The game is over and a role has several goals."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "goal-conflict",
    Severity.ERROR,
    "the game is over and a role has several goals",
    demand="When the game is over no role has two goals.",
    why="Nobody knows which of them counts; systems take either, or stop.",
    source=PLAY,
    bad=f"{GAME}\n(<= (goal solo 50) (true (at ?x)))",
    good=GAME,
)
