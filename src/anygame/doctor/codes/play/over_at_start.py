"""The game is over before anybody moves."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import PLAY, Code
from anygame.doctor.codes.play.game import GAME
from anygame.language.diagnostics import Severity

CODE: Final = Code(
    "over-at-start",
    Severity.WARNING,
    "the game is over before anybody moves",
    demand="The initial state is not terminal.",
    why="A game without a move is none; most often a condition of `terminal` lacks its `not`.",
    source=PLAY,
    bad="(role solo)\n(init (at 1))\n(legal solo go)\n(goal solo 0)\n(<= terminal (not (true (at 9))))",
    good=GAME,
)
