"""Successors from the lanes of a network: hundreds of states at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.search.lane_pool import LanePool, packed_state
from anygame.search.one_player.choosing import SeveralChooseError
from anygame.search.one_player.successors import Children, Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        machine = game.backends.needed_network()
        self._chooser = chooser
        self._others = [role for role in game.roles if role != game.roles[chooser]]
        self._actions: tuple[Term, ...] = machine.compiled.actions[chooser]
        self._pool = LanePool(machine.kernel, list(map(len, machine.compiled.actions)))
        self.root: NDArray[np.uint64] = packed_state(game, start)
        self.words: int = self.root.shape[1]
        self.width = lanes
        self.bytes = 0

    def options(self, states: NDArray[np.uint64]) -> Options:
        """Return the legal moves of states; see ``Successors``."""
        legal = [mask[: len(states)] for mask in self._pool.legal(self._pool.holding(states))]
        own = legal.pop(self._chooser)
        for role, mask in zip(self._others, legal, strict=True):
            counts = mask.sum(axis=1, dtype=np.int32)
            if (counts > 1).any():
                raise SeveralChooseError(role)
            own = own & (counts > 0)[:, None]
        sources, moves = np.nonzero(np.ascontiguousarray(own))
        return Options(sources, moves.astype(np.int32))

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make a legal move in each of some states; see ``Successors``."""
        pool, count = self._pool, len(states)
        lanes = pool.holding(states)
        own = moves.astype(np.int64)
        chosen = [mask[:count].argmax(axis=1) for mask in pool.legal(lanes)] if self._others else [own]
        chosen[self._chooser] = own
        pool.step(lanes, chosen)
        ended = lanes.terminal[:count]
        goals = np.full(count, np.nan)
        if ended.any():
            goals[ended] = pool.goals(lanes)[self._chooser][:count][ended]
        return Children(lanes.packed()[:count], ended, goals)

    def move(self, number: int) -> Term:
        """Return the move of a number."""
        return self._actions[number]

    def number(self, move: Term) -> int:
        """Return the number of a legal move."""
        return self._actions.index(move)

    def forget(self) -> None:
        """Forget nothing: states are their rows."""
