"""Learners side by side, a core each, here or on a cluster, whose weights are averaged now and then.

Local stochastic gradient descent, known as federated averaging (McMahan, Moore, Ramage, Hampson and Agüera y
Arcas 2017, "Communication-efficient learning of deep networks from decentralized data"): the mean of what
several have learned from games of their own plays better than each of them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil, inf
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.search.tree.learner import Learner
from anygame.training.remote import Beginning, PlacedLearner, RemoteLearner, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.search.tree.searcher import TreeSearcher
    from anygame.training.remote import Hosts

#: Games of each learner between two averages.
ROUND: Final = 256
#: Of the hidden layer: a training has the time to fill a larger one than a start clock has.
UNITS: Final = 128


class Learners:
    """As `Learner`, for several cores.

    Args:
        searcher: for the game.
        seed: of random numbers. The same seed, count and number of games teach the same, however they are cut
            into calls.
        count: how many learn. One is a `Learner`.
    """

    def __init__(self, searcher: TreeSearcher, seed: int, count: int = 1) -> None:
        seeds = [seed, *np.random.SeedSequence(seed).generate_state(count - 1).tolist()]
        self._game = searcher.game
        self._here = [Learner(searcher, each, UNITS, count) for each in seeds]
        self._learners: Sequence[Learner | RemoteLearner] = self._here
        self._round = 1
        self._set(self._here[0].weights)

    def __len__(self) -> int:
        return len(self._learners)

    @contextmanager
    def placed(self, hosts: Hosts) -> Iterator[None]:
        """Have the learners live on workers until the block ends; then they have learned what they have.

        Raises:
            ClusterError: there is nobody to play; one died again and again.
            LimitError: a worker cannot compile the game.
        """
        beginnings = [Beginning(self._game, UNITS, len(self), each.state()) for each in self._here]
        with hosts.actors(PlacedLearner, beginnings) as actors:
            self._learners = [
                RemoteLearner(actor, beginning, Report.of(each))
                for actor, beginning, each in zip(actors, beginnings, self._here, strict=True)
            ]
            yield

    def play(self, games: float = inf, *, deadline: float = inf) -> bool:
        """Play until so many games have been played in all; return whether the game is one to learn from.

        Args:
            games: how many are enough, those that were given up and those of earlier calls among them.
            deadline: when it must be over, as ``perf_counter`` counts.
        """
        if len(self) == 1:
            return self._learners[0].play(games, deadline=deadline)
        ended = Event()
        with ThreadPoolExecutor(len(self)) as pool:
            try:
                while not self.have_played(games) and perf_counter() < deadline:
                    enough = min(self._share(games), ROUND * self._round)
                    calls = [
                        pool.submit(each.play, enough, deadline=deadline, stop=ended.is_set)
                        for each in self._learners
                    ]
                    if not all(call.result() for call in calls):
                        return False
                    if self._each_played(ROUND * self._round):
                        self._round += 1
                        self._set(self.weights)
            finally:  # Ctrl-C, too, leaves each at the end of a move
                ended.set()
        return True

    def have_played(self, games: float) -> bool:
        """Return whether each has played its share of so many games."""
        return self._each_played(self._share(games))

    def _share(self, games: float) -> float:
        return games if games == inf else ceil(games / len(self))

    def _each_played(self, games: float) -> bool:
        return all(each.games + each.given_up >= games for each in self._learners)

    def _set(self, weights: NDArray[np.float32]) -> None:
        for each in self._learners:
            each.take(weights)

    @property
    def weights(self) -> NDArray[np.float32]:
        """A copy of what was learned so far: the mean of all."""
        mean: NDArray[np.float32] = np.mean([each.weights for each in self._learners], axis=0)
        return mean

    @property
    def games(self) -> int:
        """How many games were played to their end."""
        return sum(each.games for each in self._learners)

    @property
    def positions(self) -> int:
        """How many positions of games were learned from."""
        return sum(each.positions for each in self._learners)

    @property
    def squared_error(self) -> float:
        """The sum, over positions, of squares: of the estimate less how the game ended, 0 to 1."""
        return sum(each.squared_error for each in self._learners)

    @property
    def is_shared(self) -> bool:
        """Whether games end with something for both roles, and not by a draw."""
        return any(each.is_shared for each in self._learners)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that learning depends on; see ``restore``."""
        state: dict[str, NDArray[Any]] = {"round": np.array([self._round])}
        for number, each in enumerate(self._learners):
            state |= {f"{number} {name}": array for name, array in each.state().items()}
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that as many learners of the same game were in.

        Raises:
            ValueError: it is none.
        """
        found = state.get("round")
        if found is None or found.shape != (1,) or found.dtype != np.int64 or found[0] < 1:
            raise ValueError("the state of a learning does not say how often it was averaged")
        self._round = int(found[0])
        for number, each in enumerate(self._here):
            start = f"{number} "
            each.restore(
                {name.removeprefix(start): array for name, array in state.items() if name.startswith(start)}
            )
