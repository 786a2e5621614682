"""Facts about a game that are cheap to prove, for environments and solvers.

The numbers of gates and of solver conflicts are limited, not the time, so all machines prove the same facts.
Proofs are cached (``store``). A cached proof is checked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError, MissingExtraError
from anygame.proving.patience import Conflicts, Patience

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.proving.prover import Prover

#: Maximum number of games whose facts are cached.
_KEPT: Final = 16
#: Maximum number of gates of a game; proofs of larger games can take seconds.
_MOST_GATES: Final = 1_000
#: Maximum number of solver conflicts for all facts about a game.
_CONFLICTS: Final = 10_000


@dataclass(frozen=True)
class Facts:
    """Proved facts about a game.

    Attributes:
        takes_turns: whether, in every state, at most one role besides ``random`` has a choice; None if
            unknown.
        most_moves: maximum number of joint moves of a match; None if no bound is known.
        goal_sum: sum of the final goals of all roles besides ``random``; None if it is unknown or varies.
    """

    takes_turns: bool | None = None
    most_moves: int | None = None
    goal_sum: int | None = None


@lru_cache(_KEPT)
def facts_of(game: Game) -> Facts:
    """Return the proved facts about a game. For a large game, or without a solver, all facts are None.

    >>> import anygame
    >>> facts_of(anygame.load("connect_four"))
    Facts(takes_turns=True, most_moves=43, goal_sum=100)
    """
    from anygame.proving.prover import Prover

    try:
        if game.backends.needed_network().compiled.network.gates > _MOST_GATES:
            return Facts()
        return _facts(game, Prover.of(game, Patience(inf, conflicts=Conflicts(_CONFLICTS)), is_brief=True))
    except (LimitError, MissingExtraError):
        return Facts()


def _facts(game: Game, prover: Prover) -> Facts:
    from anygame.proving.properties import built_in, choosers

    properties = {each.name: each for each in built_in(game, prover.model, prover.sample)}
    asked = (choosers(game, prover.model), properties["playable"], properties["zero-sum"])
    most = prover.ends(inf).most_moves
    outcomes = [prover.decide(wanted, inf).outcome for wanted in asked]
    takes_turns = None if outcomes[0] == "open" else outcomes[0] == "proved"
    goal_sum = properties["zero-sum"].value if outcomes[1:] == ["proved", "proved"] else None
    return Facts(takes_turns, most, goal_sum)
