"""Games and states: the public interface, and the machines that answer questions about them."""

from __future__ import annotations

from anygame.game.batch import Batch, Snapshot
from anygame.game.counting import perft, perft_divide
from anygame.game.encoding import Encoding
from anygame.game.game import Game
from anygame.game.loading import LenientReadingWarning, load, loads
from anygame.game.machine import FallbackWarning
from anygame.game.outcomes import Stuck
from anygame.game.roles import Role
from anygame.game.simulation import Playout, SimulationResult
from anygame.game.state import Bindings, State

__all__ = ["Batch", "Bindings", "Encoding", "FallbackWarning", "Game", "Playout", "Role", "SimulationResult"]
__all__ += ["LenientReadingWarning", "Snapshot", "State", "Stuck", "load", "loads", "perft", "perft_divide"]
