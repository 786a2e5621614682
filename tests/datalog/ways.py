"""Ways of computing that a game would have to be large to see, chosen for small programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import anygame
from anygame.datalog.strategy import DEFAULT, Strategy
from anygame.game.machines.reasoner import ReasonerMachine

_ON_DEMAND: Final = replace(
    DEFAULT, suspicious=(0.0, 0.0, 0.0), trial_iterations=(0, 0, 0), trial_rows=(0, 0, 0)
)

WAYS: Final[dict[str, Strategy]] = {
    "on_demand": _ON_DEMAND,
    "on_demand_shallow": replace(_ON_DEMAND, nesting=1, table_keys=1),
    "on_demand_once_grown": replace(DEFAULT, outgrown=0),
    "counted": replace(DEFAULT, counted=0.0),
    "arguments_whole": replace(DEFAULT, shapes=1),
    "arguments_half_split": replace(DEFAULT, shapes=3),
    "few_copies": replace(DEFAULT, rule_copies=40),
    "few_columns": replace(DEFAULT, rule_columns=40),
    "few_positions": replace(DEFAULT, domain_positions=30),
    "few_steps": replace(DEFAULT, domain_steps=5),
    "positions_not_told_apart": replace(DEFAULT, domain_positions=0),
    "copies_refused": replace(DEFAULT, rule_copies=1),
}


def loads(text: str, strategy: Strategy = DEFAULT, *, limits: anygame.Limits | None = None) -> anygame.Game:
    """Load a game that the reasoner computes by a strategy."""
    game = anygame.loads(text, limits=limits, machine="reasoner")
    game.backends.reasoner = ReasonerMachine(game.program, limits, strategy)
    return game
