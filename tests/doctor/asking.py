"""What tests ask one part of the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.doctor.play.checking import Bounds, PlayCheck, game_or_faults

if TYPE_CHECKING:
    from anygame.doctor.finding import Finding
    from anygame.game.game import Game
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Program


def check_rules(program: Program) -> list[Diagnostic]:
    """Return why the reasoner refuses a program."""
    return game_or_faults(program)[1]


def check_play(game: Game, bounds: Bounds | None = None) -> list[Finding]:
    """Return what play shows."""
    check = PlayCheck(game, bounds or Bounds())
    check.run()
    return check.findings()
