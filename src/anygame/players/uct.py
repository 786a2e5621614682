"""Plain Monte Carlo tree search over states; see `anygame.search.state_tree`.

The strong player is ``mcts``, which uses `anygame.search.Search`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from anygame.game.machine import FallbackWarning
from anygame.players.player import Player, check_option
from anygame.search.state_tree import StateSearcher

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock

#: The share of the start clock for compiling.
_COMPILING: Final = 0.5
#: Seconds between two updates of the best move.
_SLICE: Final = 0.05


class UctPlayer(Player):
    """Searches until the clock is up, and plays the best move. The tree is kept from move to move.

    A leaf is evaluated with 512 playouts if the game can be compiled within half of the start clock,
    otherwise with one playout.

    Attributes:
        iterations: maximum number of leaves evaluated for a move; None if only the clock is the limit.
            ``tries`` is its former name.
        search: search of the game.
    """

    def __init__(
        self, seed: int | None = None, *, iterations: int | None = None, tries: int | None = None
    ) -> None:
        super().__init__(seed)
        self.iterations = iterations if tries is None else tries
        check_option("iterations", self.iterations, 1)
        self.remembers = self.iterations is not None

    def start(self, clock: Clock) -> None:
        """Compile the game, if half of the clock is enough."""
        game = self.game
        if not game.is_settled and not clock.is_up:
            with suppress(FallbackWarning):
                game.compile(seconds=clock.remaining() * _COMPILING)
        in_lanes = game.is_settled and game.machine == "network"
        self.search = StateSearcher(game, seed=self.random.getrandbits(32), in_lanes=in_lanes)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the best move."""
        legal = state.legal_moves(self.role)
        self.best = self.random.choice(legal)
        if len(legal) == 1 or clock.is_up:
            return self.best
        search, role, leaves = self.search, self.game.role_index(self.role), 0
        search.begin(state)
        while not (search.is_done or clock.is_up) and leaves != self.iterations:
            limit = None if self.iterations is None else self.iterations - leaves
            leaves += search.advance(min(_SLICE, clock.remaining()), limit)
            self.best = search.best(role)
        return search.best(role)
