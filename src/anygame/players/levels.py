"""Opponents by level of play.

Pages, ``anygame play`` and the documentation use this table. Each level is a player with options
(`anygame.players.make_player`); ``docs/results/strength.md`` compares their strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Level:
    """An opponent.

    Attributes:
        name: the name, for people and for `make_player`.
        spec: the player, with its options.
        about: a short description.
    """

    name: str
    spec: str
    about: str


#: From weak to strong. Less search and more random moves weaken a level in every game.
LEVELS: Final = {
    level.name: level
    for level in (
        Level("beginner", "mcts:iterations=40,noise=0.6,model=yes", "more than half of its moves are random"),
        Level(
            "easy",
            "mcts:iterations=40,noise=0.25,model=yes",
            "looks a little ahead; one move in four is random",
        ),
        Level(
            "medium", "mcts:iterations=300,noise=0.12,model=yes", "sees what comes next, and slips at times"
        ),
        Level("hard", "mcts:iterations=2000,noise=0.02,model=yes", "looks further ahead, and seldom slips"),
        Level("strong", "mcts", "searches as long as its clock allows"),
    )
}
#: The default opponent.
USUAL: Final = "medium"
