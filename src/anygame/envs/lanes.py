"""Many matches of a compiled game side by side, in numbers: what vector environments are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anygame.envs.observing import Observer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.envs.observing import Form
    from anygame.game.game import Game


@dataclass(frozen=True)
class Mark:
    """Where all matches stood: states, joint moves made, and what each role had seen."""

    states: NDArray[np.uint64]
    moves: NDArray[np.int64]
    seen: list[NDArray[np.bool_]]


class EpisodeLanes:
    """Matches side by side: where they stand, what each role can do there, what it has seen on the way.

    Attributes:
        batch: the states.
        masks: per role which moves are legal: bool [lanes, actions].
        terminal: which matches have come to an end: bool [lanes].
        stuck: the first role that has no legal move though the match has not come to an end, -1 where all is
            well: int [lanes].
        moves: how many joint moves were made: int [lanes].
    """

    def __init__(self, game: Game, form: Form, lanes: int, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"expected a limit of at least one joint move, got {limit}")
        self.game = game
        self.batch = game.batch(lanes, seed=0)
        self.observer = Observer(game, form)
        self.moves = np.zeros(lanes, np.int64)
        self._limit = limit
        self._seen = [np.zeros((lanes, len(names)), np.bool_) for names in self.observer.names]
        self._look()

    def _look(self) -> None:
        self.masks = self.batch.legal_masks()
        self.terminal = self.batch.terminal
        lacking = np.stack([~mask.any(axis=1) for mask in self.masks])
        self.stuck = np.where(lacking.any(axis=0) & ~self.terminal, lacking.argmax(axis=0), -1)

    @property
    def cut(self) -> NDArray[np.bool_]:
        """Which matches cannot go on though they have not come to an end: bool [lanes]."""
        return ~self.terminal & ((self.stuck >= 0) | (self.moves >= self._limit))

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which matches are over: bool [lanes]."""
        return self.terminal | self.cut

    def begin(self, lanes: NDArray[np.bool_]) -> None:
        """Begin matches in some lanes: bool [lanes]."""
        self.batch.reset(lanes)
        self.moves[lanes] = 0
        for seen in self._seen:
            seen[lanes] = False
        self._look()

    def move(self, joint: Sequence[NDArray[np.int64]], lanes: NDArray[np.bool_]) -> None:
        """Make joint moves in some lanes, bool [lanes]: the numbers of legal moves, int [lanes] per role."""
        self.batch.step(dict(zip(self.game.roles, joint, strict=True)), lanes)
        self.moves[lanes] += 1
        if self.observer.hides:
            for role, seen in zip(self.game.roles, self._seen, strict=True):
                # Lanes that did not move have seen nothing new.
                seen |= self.batch.percepts(role)
        self._look()

    def forget(self, role: int, lanes: NDArray[np.bool_]) -> None:
        """Let a role look away from what it has seen so far in some lanes: bool [lanes]."""
        if self.observer.hides:
            self._seen[role][lanes] = False

    def mark(self) -> Mark:
        """Return where all matches stand."""
        seen = [array.copy() for array in self._seen] if self.observer.hides else []
        return Mark(self.batch.packed(), self.moves.copy(), seen)

    def go_back(self, mark: Mark, lanes: NDArray[np.bool_]) -> None:
        """Go back to where some matches stood: bool [lanes]."""
        states = self.batch.packed()
        states[lanes] = mark.states[lanes]
        self.batch.set_packed(states)
        self.moves[lanes] = mark.moves[lanes]
        for seen, before in zip(self._seen, mark.seen, strict=False):
            seen[lanes] = before[lanes]
        self._look()

    def observation(self, role: int, lanes: NDArray[np.intp] | None = None) -> NDArray[np.int8]:
        """Return what a role observes, in some lanes or all: int8 [lanes, *shape]."""
        if self.observer.hides:
            seen = self._seen[role]
            return self.observer.of_seen(role, seen if lanes is None else seen[lanes])
        states = self.batch.observation()
        return self.observer.of(states if lanes is None else states[lanes])

    def goals(self) -> NDArray[np.float64]:
        """Return the goals here: float [lanes, roles]; not a number where there is none, or several."""
        return np.stack([self.batch.goals(role) for role in self.game.roles], axis=1)
