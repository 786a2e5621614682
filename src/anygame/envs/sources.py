"""What an environment is made of: a game, however it is named, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.game.game import Game
from anygame.game.loading import load

if TYPE_CHECKING:
    import os

__all__ = ["compiled_game"]


def compiled_game(source: Game | str | os.PathLike[str]) -> Game:
    """Return a compiled game.

    Args:
        source: a game, a rule sheet, or the name of a game that comes with the package.

    Raises:
        RuleSheetError: the rules cannot be used.
        LimitError: the game has no network, which gives its moves and fluents their numbers.
    """
    game = source if isinstance(source, Game) else load(source)
    game.backends.needed_network()
    return game
