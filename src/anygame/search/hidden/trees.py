"""The tree of one role: a bandit for each information set, found by the key of what the role has observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Nodes for which there is room at first.
_FIRST_NODES: Final = 256
#: What is not known yet of a move counts as if it had been tried so often, and brought the mean.
_PRIOR_TRIES: Final = 1.0


class RoleTree:
    """Statistics of a role's actions in its information sets.

    Args:
        actions: how many the role has.
        most: nodes at most.

    Attributes:
        tries: float64 [nodes, actions]; how often an action was taken.
        sums: float64 [nodes, actions]; what that brought in all, each time from 0 to 1.
    """

    def __init__(self, actions: int, most: int) -> None:
        self._most = most
        self._places: dict[int, int] = {}
        self.tries = np.zeros((min(most, _FIRST_NODES), actions))
        self.sums = np.zeros_like(self.tries)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the node of each key: -1 where there is none."""
        get = self._places.get
        return np.array([get(key, -1) for key in keys.tolist()], np.int64)

    def add(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the node of each key, made where there is none; -1 where there is no room."""
        places = self._places
        for key in dict.fromkeys(keys.tolist()):
            if key not in places and len(places) < self._most:
                places[key] = len(places)
        while len(places) > len(self.tries):
            more = min(2 * len(self.tries), self._most) - len(self.tries)
            room = np.zeros((more, self.tries.shape[1]))
            self.tries = np.concatenate([self.tries, room])
            self.sums = np.concatenate([self.sums, room])
        return self.find(keys)

    def choose(
        self,
        nodes: NDArray[np.int64],
        legal: NDArray[np.bool_],
        spread: float,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return an action for each lane, by Thompson sampling.

        Lanes choose at the same time, so that a bound on what an action may bring would send all of them the
        same way; draws from what it may bring do not (Chapelle and Li, "An empirical evaluation of Thompson
        sampling", 2011).

        Args:
            nodes: where each lane is.
            legal: bool [lanes, actions].
            spread: the standard deviation of what play brings.
            random: what is drawn from.
        """
        tries, sums = self.tries[nodes], self.sums[nodes]
        visits = tries.sum(axis=1, keepdims=True)
        mean = sums.sum(axis=1, keepdims=True) / np.maximum(visits, 1)
        expected = (sums + _PRIOR_TRIES * mean) / (tries + _PRIOR_TRIES)
        noise = random.standard_normal(tries.shape, np.float32)
        scores = expected + spread * noise / np.sqrt(tries + _PRIOR_TRIES)
        scores[~legal] = -np.inf
        best: NDArray[np.int64] = scores.argmax(axis=1)
        return best

    def learn(
        self, nodes: NDArray[np.int64], actions: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        """Add what actions brought."""
        np.add.at(self.tries, (nodes, actions), 1)
        np.add.at(self.sums, (nodes, actions), values)
