"""Opponents by how well they play, under names that everybody understands.

This table is the only one: pages, ``anygame play`` and the documents read it. Each level is a player with
options (`anygame.players.make_player`); what they are worth against each other is in ``docs/guide/web.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Level:
    """An opponent.

    Attributes:
        name: for people; players are made by it, too.
        spec: the player that it is.
        about: what it is, in a few words.
    """

    name: str
    spec: str
    about: str


#: From weak to strong. Less search and more chance make a level weaker, in every game alike.
LEVELS: Final = {
    level.name: level
    for level in (
        Level("beginner", "mcts:iterations=40,noise=0.6,model=yes", "more than half of its moves are drawn"),
        Level(
            "easy",
            "mcts:iterations=40,noise=0.25,model=yes",
            "looks a little ahead; one move of four is drawn",
        ),
        Level(
            "medium", "mcts:iterations=300,noise=0.12,model=yes", "sees what comes next, and slips at times"
        ),
        Level("hard", "mcts:iterations=2000,noise=0.02,model=yes", "looks further ahead, and seldom slips"),
        Level("strong", "mcts", "searches as long as its clock allows"),
    )
}
#: Whom people meet who choose nobody.
USUAL: Final = "medium"
