"""Successors from the lanes of a network: hundreds of states at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.search.one_player.choosing import SeveralChooseError
from anygame.search.one_player.successors import Children, Options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term


class LaneSuccessors:
    """States of a compiled game, packed to a bit a fluent; see ``Successors``.

    Args:
        game: with a network.
        lanes: one for each state that is continued at a time.
        start: the first state.
        chooser: the index of the role that chooses.

    Raises:
        PositionError: the network does not know the first state.
    """

    def __init__(self, game: Game, lanes: int, start: State, chooser: int) -> None:
        self._batch = batch = game.batch(lanes, seed=0)
        self._chooser = game.roles[chooser]
        self._others = [role for place, role in enumerate(game.roles) if place != chooser]
        self._actions: tuple[Term, ...] = game.actions(self._chooser)
        batch.set_state(0, start)
        self.root: NDArray[np.uint64] = batch.packed()[:1].copy()
        self.words: int = self.root.shape[1]
        self.width = batch.lanes
        self.bytes = 0

    def options(self, states: NDArray[np.uint64]) -> Options:
        """Return the legal moves of states; see ``Successors``."""
        self._load(states)
        legal = self._batch.legal_mask(self._chooser)[: len(states)]
        for role in self._others:
            counts = self._batch.legal_mask(role)[: len(states)].sum(axis=1, dtype=np.int32)
            if (counts > 1).any():
                raise SeveralChooseError(role)
            legal = legal & (counts > 0)[:, None]
        sources, moves = np.nonzero(np.ascontiguousarray(legal))
        return Options(sources, moves.astype(np.int32))

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make a legal move in each of some states; see ``Successors``."""
        batch, count = self._batch, len(states)
        self._load(states)
        chosen: dict[str, ArrayLike] = {self._chooser: self._everywhere(moves)}
        for role in self._others:
            chosen[role] = batch.legal_mask(role).argmax(axis=1)
        batch.step(chosen)
        ended: NDArray[np.bool_] = batch.terminal[:count]
        goals = np.full(count, np.nan)
        if ended.any():
            goals[ended] = batch.goals(self._chooser)[:count][ended]
        return Children(batch.packed()[:count], ended, goals)

    def move(self, number: int) -> Term:
        """Return the move of a number."""
        return self._actions[number]

    def number(self, move: Term) -> int:
        """Return the number of a legal move."""
        return self._actions.index(move)

    def forget(self) -> None:
        """Forget nothing: states are their rows."""

    def _load(self, states: NDArray[np.uint64]) -> None:
        """Put states into the first lanes, and the first of them into the others."""
        filled = np.empty((self.width, self.words), np.uint64)
        filled[: len(states)] = states
        filled[len(states) :] = states[0]
        self._batch.set_packed(filled)

    def _everywhere(self, moves: NDArray[np.int32]) -> NDArray[np.int32]:
        filled = np.full(self.width, moves[0], np.int32)
        filled[: len(moves)] = moves
        return filled
