"""What the moves of a state are worth, for heat on its board and for the plot of a match."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.search import Search

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State

#: Bytes of the tree of a match: an eighth of what its process may take.
_MEMORY: Final = 512 * 2**20
#: Seconds for which an answer waits until the game is compiled; compiling goes on behind it.
_COMPILING: Final = 2.0
#: Moves of a role of which a page tells the values.
_MOST_MOVES: Final = 200


class Values:
    """Searches states of a game, one question after the other; what was learned of a state is kept.

    Args:
        game: the rules.
    """

    def __init__(self, game: Game) -> None:
        self._search = Search(game, memory=_MEMORY)
        self._lock = Lock()

    def of(self, state: State, seconds: float) -> dict[str, Any]:
        """Return what is known of a state after searching it for some seconds more, as plain data."""
        with self._lock:
            self._search.compile(_COMPILING)
            end = monotonic() + seconds
            found = self._search.run(state, stop=lambda: monotonic() >= end).to_json()
        for moves in found["moves"].values():
            del moves[_MOST_MOVES:]
            for move in moves:
                del move["line"]
        return found
