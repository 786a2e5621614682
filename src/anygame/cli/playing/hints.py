"""Hints: what a strategy would play in a person's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.search import Search

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["best_move"]


def best_move(game: Game, state: State, role: Role, seconds: float, seed: int) -> Term:
    """Return the move that a search finds for a role in a state of a game, in some seconds.

    Compiling may take as long once more; where that does not do, the reasoner searches.
    """
    search = Search(game, seed=seed)
    search.compile(seconds)
    return search.run(state, seconds=seconds).best(role)
