"""Opponents by level of play.

Pages, ``anygame play`` and the documentation use this table. Each level is a player with options (see
`anygame.players.make_player`). ``docs/results/strength.md`` compares the strength of the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Level:
    """An opponent: its name, its player with options, and a short description."""

    name: str
    spec: str
    about: str


#: Levels from weak to strong. Less search and more random moves weaken a level in every game.
LEVELS: Final = {
    level.name: level
    for level in (
        Level("beginner", "mcts:iterations=40,noise=0.6,model=yes", "more than half of its moves are random"),
        Level("novice", "mcts:iterations=40,noise=0.4,model=yes", "two moves in five are random"),
        Level(
            "easy",
            "mcts:iterations=40,noise=0.25,model=yes",
            "looks a little ahead; one move in four is random",
        ),
        Level(
            "medium", "mcts:iterations=300,noise=0.12,model=yes", "looks some moves ahead, with some mistakes"
        ),
        Level("hard", "mcts:iterations=1500,noise=0.03,model=yes", "looks further ahead, with few mistakes"),
        Level(
            "expert",
            "mcts:iterations=5000,noise=0.01,model=yes",
            "looks far ahead; one move in 100 is random",
        ),
        Level("strong", "mcts", "searches until its clock runs out"),
    )
}
#: The default opponent.
USUAL: Final = "medium"
