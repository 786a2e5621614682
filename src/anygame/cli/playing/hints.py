"""Hints: what a strategy would play in a person's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.players.clock import Clock
from anygame.players.loading import make_player

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["best_move"]


def best_move(game: Game, state: State, role: Role, seconds: float, seed: int) -> Term:
    """Return the move that Monte Carlo tree search finds for a role in a state of a game, in some seconds."""
    player = make_player("mcts", seed=seed)
    player.start(game, role, Clock.of(seconds))
    return player.move(state, Clock.of(seconds))
