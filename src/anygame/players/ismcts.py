"""The player for games with hidden information: information-set tree search from what it believes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.players.mcts import MctsPlayer
from anygame.search.searching import DEFAULT_MEMORY

if TYPE_CHECKING:
    from anygame.game.game import Game


class IsmctsPlayer(MctsPlayer):
    """Searches information sets in every game, and plays the move that it tried most.

    What it believes are all states that agree with what it did and saw, with their probabilities, as long as
    they fit; beyond that many of them, drawn. It only plays what is legal in all of them, if anything is. On
    games without hidden information it searches from the state itself. Where the game has no network that
    knows what roles see, it searches a state that agrees with what it saw.

    Args:
        seed: of the random numbers.
        iterations: tries for a move, if the clock allows; None for as many as it allows.
        memory: bytes that the trees may take at most, about.
        aloud: whether it says what it thinks of its move.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        iterations: int | None = None,
        memory: int = DEFAULT_MEMORY,
        aloud: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, aloud=aloud, iterations=iterations)

    def _is_to_believe(self, game: Game) -> bool:
        return True
