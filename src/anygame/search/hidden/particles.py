"""Particles: states in which a match may be, each with one way of getting there and a weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.search.hidden.observing import row_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Particles:
    """States side by side.

    Attributes:
        states: uint64 [n, words], a bit for each fluent.
        keys: uint64 [n, roles]; equal where a role has observed the same.
        weights: float [n], in all 1.
        moves: int32 [n, turns, roles], the actions that led from the start to each of them.
        choices: int32 [n, turns, roles], of how many actions those were drawn; 1 where they are known.
        before: int [n], by place the particles whose ways they go on; of no use once they have those, too.
    """

    states: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    moves: NDArray[np.int32]
    choices: NDArray[np.int32]
    before: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)

    @classmethod
    def joined(cls, parts: Sequence[Particles]) -> Particles:
        """Return all that are in the parts, with their weights as they are."""
        return cls(
            np.concatenate([part.states for part in parts]),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.moves for part in parts]),
            np.concatenate([part.choices for part in parts]),
            np.concatenate([part.before for part in parts]),
        )

    def taken(self, places: NDArray[np.int64], weights: NDArray[np.float64]) -> Particles:
        """Return those at some places, with other weights."""
        return Particles(
            self.states[places],
            self.keys[places],
            weights,
            self.moves[places],
            self.choices[places],
            self.before[places],
        )

    def following(self, earlier: Particles) -> Particles:
        """Return those that know their last turn alone with the ways of those before them."""
        return replace(
            self,
            moves=np.concatenate([earlier.moves[self.before], self.moves], axis=1),
            choices=np.concatenate([earlier.choices[self.before], self.choices], axis=1),
        )

    def without_ways(self) -> Particles:
        """Return them without the ways that led to them."""
        return replace(self, moves=self.moves[:, :0], choices=self.choices[:, :0])

    def drawn(self, count: int, random: np.random.Generator) -> Particles:
        """Return so many of them, drawn by their weights: systematic resampling, which varies least."""
        points = (np.arange(count) + random.random()) / count
        places = np.searchsorted(np.cumsum(self.weights), points).clip(0, len(self) - 1)
        return self.taken(places, np.full(count, 1 / count))

    def merged(self) -> Particles:
        """Return each state once, as far as the roles have observed the same."""
        marks = np.concatenate([self.states, self.keys], axis=1)
        _, first, group = np.unique(row_keys(marks), return_index=True, return_inverse=True)
        weights = np.bincount(group.reshape(-1), self.weights)
        return self.taken(first, weights / weights.sum())
