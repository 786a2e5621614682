"""Turns: whether roles move one after the other, and whose turn it is in a state."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.envs.rewards import players_of
from anygame.errors import SimultaneousMovesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game

#: Games whose turns are remembered.
_KEPT: Final = 8
#: Random matches that are looked at, side by side, which costs as much as one.
_LANES: Final = 512
#: Joint moves in each: where roles choose together at all, most sheets let them do so early on.
_MOVES: Final = 200


class Turns:
    """Whose turn it is, in a game in which no two roles ever choose at the same time.

    That is found by play: in some hundred random matches no two roles but ``random`` have several legal moves
    at once. A state of play in which they have is an error when it is met.

    A move is one of waiting (``noop``, say) if it was a role's only one there while another role had a
    choice. Where nobody has a choice, it is the turn of the one role whose move is none of waiting, if there
    is one.

    Attributes:
        waiting: per role the numbers of its moves of waiting.

    Raises:
        SimultaneousMovesError: two roles choose at the same time.
    """

    def __init__(self, game: Game) -> None:
        self._name = game.name
        self._roles = game.roles
        self._players = players_of(game)
        self.waiting = self._find_waiting(game)

    def _find_waiting(self, game: Game) -> list[frozenset[int]]:
        batch = game.batch(_LANES, seed=1)
        waiting: list[set[int]] = [set() for _ in game.roles]
        for _ in range(_MOVES):
            masks = batch.legal_masks()
            going = ~batch.terminal & ~batch.stuck
            options = np.stack([mask.sum(axis=1) for mask in masks])
            choosing = (options > 1) & going
            together = np.flatnonzero(choosing[self._players].sum(axis=0) > 1)
            if len(together):
                raise self._error(np.flatnonzero(choosing[:, together[0]]).tolist())
            for role, mask in enumerate(masks):
                alone = (options[role] == 1) & choosing.any(axis=0)
                waiting[role].update(np.flatnonzero(mask[alone].any(axis=0)).tolist())
            batch.step_random()
            batch.reset(batch.terminal | batch.stuck)
        return list(map(frozenset, waiting))

    def _error(self, choosing: Sequence[int]) -> SimultaneousMovesError:
        roles = " and ".join(self._roles[role] for role in choosing if role in self._players)
        return SimultaneousMovesError(
            f"{roles} choose at the same time in {self._name}; an environment of turns is for games "
            "in which they never do: use the parallel one"
        )

    def mover(self, legal: Sequence[Sequence[int]]) -> int | None:
        """Return the index of the role to move; None where it is none but ``random``, or nobody's turn.

        Args:
            legal: per role the numbers of its legal moves.

        Raises:
            SimultaneousMovesError: two roles choose at the same time.
        """
        choosing = [role for role in self._players if len(legal[role]) > 1]
        if len(choosing) > 1:
            raise self._error(choosing)
        if choosing:
            return choosing[0]
        acting = [
            role
            for role, moves in enumerate(legal)
            if len(moves) > 1 or (moves and moves[0] not in self.waiting[role])
        ]
        return acting[0] if len(acting) == 1 and acting[0] in self._players else None


@lru_cache(_KEPT)
def turns_of(game: Game) -> Turns:
    """Return whose turn it is in a game, found once for all that ask. Raises SimultaneousMovesError."""
    return Turns(game)
