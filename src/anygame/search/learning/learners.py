"""Parallel learners, one per core, on this machine or a cluster, whose weights are averaged periodically.

The method is local stochastic gradient descent, or federated averaging (McMahan, Moore, Ramage, Hampson and
Agüera y Arcas 2017, "Communication-efficient learning of deep networks from decentralized data"). Each
learner plays its own games. The mean of all learners' weights plays better than the weights of one learner.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil, inf
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.search.evaluation.network import UNITS
from anygame.search.learning.learner import Learner, Progress
from anygame.search.learning.remote import Beginning, PlacedLearner, RemoteLearner, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.search.learning.remote import Hosts
    from anygame.search.tree.searcher import TreeSearcher

#: Number of games that each learner plays between two averagings of the weights.
ROUND: Final = 256


class Learners:
    """Several learners, one per core, with the interface of `Learner`.

    The same seed, number of learners and number of games give the same weights, however the games are divided
    into calls of ``play``.
    """

    def __init__(self, searcher: TreeSearcher, seed: int, count: int = 1, units: int = UNITS) -> None:
        seeds = [seed, *np.random.SeedSequence(seed).generate_state(count - 1).tolist()]
        self._game = searcher.game
        self._here = [Learner(searcher, learner_seed, units, count) for learner_seed in seeds]
        self._learners: Sequence[Learner | RemoteLearner] = self._here
        self._round = 1
        self._set(self._here[0].weights)

    def __len__(self) -> int:
        return len(self._learners)

    @contextmanager
    def placed(self, hosts: Hosts) -> Iterator[None]:
        """Move the learners to the workers of a cluster until the block ends."""
        beginnings = [Beginning(self._game, len(self), learner.state()) for learner in self._here]
        with hosts.actors(PlacedLearner, beginnings) as actors:
            self._learners = [
                RemoteLearner(actor, beginning, Report.of(learner))
                for actor, beginning, learner in zip(actors, beginnings, self._here, strict=True)
            ]
            yield

    def play(self, games: float = inf, *, deadline: float = inf) -> bool:
        """Play up to a total number of games; see `Learner`."""
        if len(self) == 1:
            return self._learners[0].play(games, deadline=deadline)
        ended = Event()
        with ThreadPoolExecutor(len(self)) as pool:
            try:
                while not self.have_played(games) and perf_counter() < deadline:
                    enough = min(self._share(games), ROUND * self._round)
                    calls = [
                        pool.submit(learner.play, enough, deadline=deadline, stop=ended.is_set)
                        for learner in self._learners
                    ]
                    if not all(call.result() for call in calls):
                        return False
                    if self._each_played(ROUND * self._round):
                        self._round += 1
                        self._set(self.weights)
            finally:  # After Ctrl-C, make the learners stop after their current move.
                ended.set()
        return True

    def have_played(self, games: float) -> bool:
        """Return whether each learner has played its share of a total number of games."""
        return self._each_played(self._share(games))

    def _share(self, games: float) -> float:
        return games if games == inf else ceil(games / len(self))

    def _each_played(self, games: float) -> bool:
        return all(learner.progress.begun >= games for learner in self._learners)

    def _set(self, weights: NDArray[np.float32]) -> None:
        for learner in self._learners:
            learner.take(weights)

    @property
    def weights(self) -> NDArray[np.float32]:
        """The mean weights of all learners, as a new array."""
        mean: NDArray[np.float32] = np.mean([learner.weights for learner in self._learners], axis=0)
        return mean

    @property
    def progress(self) -> Progress:
        """The progress of all learners together."""
        parts = [learner.progress for learner in self._learners]
        games, given_up, positions, errors, are_shared = zip(*parts, strict=True)
        return Progress(sum(games), sum(given_up), sum(positions), sum(errors), any(are_shared))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays on which learning depends, for ``restore``."""
        state: dict[str, NDArray[Any]] = {"round": np.array([self._round])}
        for number, learner in enumerate(self._learners):
            state |= {f"{number} {name}": array for name, array in learner.state().items()}
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a saved state; raise ValueError if the game or the number of learners differs."""
        rounds = state.get("round")
        if rounds is None or rounds.shape != (1,) or rounds.dtype != np.int64 or rounds[0] < 1:
            raise ValueError("the saved state has no valid number of rounds")
        self._round = int(rounds[0])
        for number, learner in enumerate(self._here):
            prefix = f"{number} "
            learner.restore(
                {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}
            )
