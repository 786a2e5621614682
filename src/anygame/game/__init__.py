"""Games and states as people use them: the contract, and the machines that fulfil it."""

from __future__ import annotations

from anygame.game.game import Game, load, loads
from anygame.game.playouts import Playout, perft, perft_divide
from anygame.game.roles import Role
from anygame.game.state import Bindings, State

__all__ = ["Bindings", "Game", "Playout", "Role", "State", "load", "loads", "perft", "perft_divide"]
