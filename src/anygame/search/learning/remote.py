"""Learners on the workers of a cluster.

The weights of a learner follow from an earlier state, and from the means that it has taken since, each after
a number of games. If its process dies, a learner starts from its last state in another process. It plays the
same games and takes the same means at the same points, so only time is lost.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from anygame.errors import WorkerLostError
from anygame.search.learning.learner import Learner, Progress, units_of_training
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game

    Weights = NDArray[np.float32]

#: Seconds of a call at most: Ctrl-C is noticed between two calls.
_SLICE: Final = 1.0
#: Attempts at a call whose process dies. A call that kills its process every time ends the training.
_TRIES: Final = 5
#: Memory, in bytes, for the tree of a searcher that only describes the game.
_MEMORY: Final = 1 << 20

_Item = TypeVar("_Item")


class Actor(Protocol):
    """An object in its own process, an actor (Hewitt, Bishop and Steiger 1973)."""

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object, and return its result; everything is pickled.

        Raises:
            WorkerLostError: the process has died, and the object with it.
        """

    def renew(self, item: object) -> None:
        """Have the object made of another item, in another process, which may share a core.

        Raises:
            WorkerLostError: that process has died, too.
        """


class Hosts(Protocol):
    """Processes in which objects live, on this machine or on others; see ``anygame.cluster``.

    Attributes:
        count: their cores.
    """

    @property
    def count(self) -> int:
        """How many cores they have.

        Raises:
            ClusterError: there is none.
        """

    def actors(
        self, make: Callable[[_Item], object], items: Sequence[_Item]
    ) -> AbstractContextManager[Sequence[Actor]]:
        """Make an object from each item, each in its own process until the block ends.

        Everything is pickled. An object takes a core; if there are too few cores, the last objects share
        cores with others.

        Args:
            make: a function or class of a module that the processes can import.
            items: the argument from which each object is made.

        Raises:
            ClusterError: no process can make them, or one died.
        """


class Beginning(NamedTuple):
    """The parts of a learner: the game, whether it has windows, number of learners, and a state."""

    game: Game
    windows: bool
    learners: int
    state: Mapping[str, NDArray[Any]]


class Report(NamedTuple):
    """Report of a learner after a call.

    Attributes:
        progress: how far it is.
        weights: a copy of its weights.
        taken: number of means that it took in the call.
        is_suited: whether the game is suited to learning.
    """

    progress: Progress
    weights: Weights
    taken: int = 0
    is_suited: bool = True

    @classmethod
    def of(cls, learner: Learner, taken: int = 0, *, is_suited: bool = True) -> Report:
        """Return the report of a learner."""
        return cls(learner.progress, learner.weights.copy(), taken, is_suited)


def searcher_of(game: Game, *, windows: bool) -> TreeSearcher:
    """Return a searcher that describes a game to learners, with or without windows.

    Raises:
        LimitError: it cannot be compiled.
    """
    game.compile_if_worth_it()
    searcher = TreeSearcher(game, seed=1, memory=_MEMORY)
    searcher.windows = windows
    return searcher


class PlacedLearner:
    """A learner in the process of a worker, called by a `RemoteLearner`."""

    def __init__(self, beginning: Beginning) -> None:
        game, windows, learners, state = beginning
        searcher = searcher_of(game, windows=windows)
        self._learner = Learner(searcher, 0, units_of_training(searcher), learners)
        self._learner.restore(state)

    def play(self, means: Sequence[tuple[float, Weights]], games: float, seconds: float) -> Report:
        """Take means, each after a number of games, and play up to a total number of games."""
        learner, deadline, taken = self._learner, perf_counter() + seconds, 0
        for enough, mean in [*means, (games, None)]:
            if not learner.play(enough, deadline=deadline):
                return Report.of(learner, is_suited=False)
            if mean is None or learner.progress.begun < enough:
                break
            learner.take(mean)
            taken += 1
        return Report.of(learner, taken)

    def state(self, means: Sequence[tuple[float, Weights]]) -> dict[str, NDArray[Any]]:
        """Take means, each after a number of games, and return all that learning depends on."""
        self.play(means, 0, inf)
        return self._learner.state()


class RemoteLearner:
    """As `Learner`, for a `PlacedLearner` on a worker.

    Args:
        actor: the learner there.
        beginning: its parts.
        report: its report from then.
    """

    def __init__(self, actor: Actor, beginning: Beginning, report: Report) -> None:
        self._actor, self._beginning, self._report = actor, beginning, report
        #: Means since the beginning, each with the games after which to take it; the first are taken.
        self._means: list[tuple[float, Weights]] = []
        self._taken = 0
        self._enough = 0.0

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play up to a total number of games; see `Learner`."""
        self._enough = games
        while self._is_behind(games) and (left := deadline - perf_counter()) > 0 and not stop():
            self._report = self._call("play", games, min(left, _SLICE))
            self._taken += self._report.taken
            if not self._report.is_suited:
                return False
        return True

    def _is_behind(self, games: float) -> bool:
        return self._taken < len(self._means) or self.progress.begun < games

    def _call(self, method: str, *arguments: object) -> Any:
        """Make a call with the means that were not taken yet; after a death, catch up first."""
        lost: WorkerLostError | None = None
        for _ in range(_TRIES):
            try:
                if lost is not None:
                    self._actor.renew(self._beginning)
                    self._taken = self._actor.call("play", self._means, self.progress.begun, inf).taken
                return self._actor.call(method, self._means[self._taken :], *arguments)
            except WorkerLostError as error:
                lost = error
        assert lost is not None
        raise lost

    def take(self, weights: Weights) -> None:
        """Continue from other weights."""
        self._means.append((self._enough, weights))
        self._report = self._report._replace(weights=weights)

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return all that learning depends on; if the process dies, it resumes from there."""
        state: Mapping[str, NDArray[Any]] = self._call("state")
        self._beginning = self._beginning._replace(state=state)
        self._means, self._taken = [], 0
        return state

    @property
    def weights(self) -> Weights:
        """The weights when the last call ended."""
        return self._report.weights

    @property
    def progress(self) -> Progress:
        """How far it was then."""
        return self._report.progress
