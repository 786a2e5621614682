"""Players, which choose moves within a time limit."""

from __future__ import annotations

from anygame.players.loading import (
    STRATEGIES,
    is_address,
    is_strategy,
    make_player,
    player_class,
    split_options,
)
from anygame.players.mcts import MctsPlayer
from anygame.players.player import Clock, Player
from anygame.players.simple import GreedyPlayer, LegalPlayer, RandomPlayer, UctPlayer

__all__ = [
    "STRATEGIES",
    "Clock",
    "GreedyPlayer",
    "LegalPlayer",
    "MctsPlayer",
    "Player",
    "RandomPlayer",
    "UctPlayer",
    "is_address",
    "is_strategy",
    "make_player",
    "player_class",
    "split_options",
]
