"""Learners in worker processes of a cluster.

A learner alternately plays games and replaces its weights with the mean weights of all learners. The weights
of a learner depend only on its last saved state, on the means taken since that state, and on the number of
games before each mean. If the process of a learner dies, another process resumes from the last saved state.
The new process repeats the same games and takes the same means, so only time is lost.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from anygame.errors import WorkerLostError
from anygame.search.learning.learner import Learner, Progress
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game

    Weights = NDArray[np.float32]

#: Maximum duration in seconds of a remote call. The main process notices Ctrl-C only between calls.
_SLICE: Final = 1.0
#: Maximum number of attempts at a call if the processes die. The training fails after the last attempt.
_TRIES: Final = 5
#: Size in bytes of the tree of a searcher that only describes the game and never searches.
_MEMORY: Final = 1 << 20

_Item = TypeVar("_Item")


class Actor(Protocol):
    """An object in its own process (an actor; Hewitt, Bishop and Steiger 1973)."""

    def call(self, method: str, *arguments: object) -> Any:
        """Call a method of the object, and return its result; both are pickled.

        Raises:
            WorkerLostError: the process of the object has died.
        """

    def renew(self, item: object) -> None:
        """Replace the object with an object made from another item, in a new process.

        Raises:
            WorkerLostError: the new process has died, too.
        """


class Hosts(Protocol):
    """Worker processes on this machine or on others; see ``anygame.cluster``."""

    @property
    def count(self) -> int:
        """Number of cores of the processes. Raises ClusterError if there is no process."""

    def actors(
        self, make: Callable[[_Item], object], items: Sequence[_Item]
    ) -> AbstractContextManager[Sequence[Actor]]:
        """Make each item into an object in its own process. The processes end when the block ends.

        ``make`` and the items are pickled, so the processes must be able to import ``make``. Each object
        occupies one core. If there are too few cores, the last objects share cores with earlier objects.

        Raises:
            ClusterError: no process can make the objects, or a process died.
        """


class Beginning(NamedTuple):
    """Data from which a learner starts in a process: its game, the number of learners and a saved state."""

    game: Game
    learners: int
    state: Mapping[str, NDArray[Any]]


class Report(NamedTuple):
    """Report of a learner after a call."""

    progress: Progress
    weights: Weights  # A copy of the weights of the learner.
    taken: int = 0  # Number of mean weights that the learner took in the call.
    is_suited: bool = True  # Whether the game is suited to learning.

    @classmethod
    def of(cls, learner: Learner, taken: int = 0, *, is_suited: bool = True) -> Report:
        """Return the report of a learner."""
        return cls(learner.progress, learner.weights.copy(), taken, is_suited)


def searcher_of(game: Game) -> TreeSearcher:
    """Return a searcher that describes a game to the learners of a training.

    Raises:
        LimitError: the game cannot be compiled.
    """
    game.compile_if_worth_it()
    searcher = TreeSearcher(game, seed=1, memory=_MEMORY)
    searcher.windows = True
    return searcher


class PlacedLearner:
    """A learner in a worker process, called by a `RemoteLearner`."""

    def __init__(self, beginning: Beginning) -> None:
        game, learners, state = beginning
        self._learner = Learner(searcher_of(game), 0, state["weights"].shape[1], learners)
        self._learner.restore(state)

    def play(self, means: Sequence[tuple[float, Weights]], games: float, seconds: float) -> Report:
        """Play up to a total number of games; take each mean in ``means`` after the given number of games."""
        learner, deadline, taken = self._learner, perf_counter() + seconds, 0
        for games_before, mean in [*means, (games, None)]:
            if not learner.play(games_before, deadline=deadline):
                return Report.of(learner, is_suited=False)
            if mean is None or learner.progress.begun < games_before:
                break
            learner.take(mean)
            taken += 1
        return Report.of(learner, taken)

    def state(self, means: Sequence[tuple[float, Weights]]) -> dict[str, NDArray[Any]]:
        """Play until all weights in ``means`` are taken, and return the state of the learner."""
        self.play(means, 0, inf)
        return self._learner.state()


class RemoteLearner:
    """A `PlacedLearner` on a worker, with the interface of `Learner`.

    ``actor`` is the placed learner, made from ``beginning``. ``report`` is the first report of the learner.
    """

    def __init__(self, actor: Actor, beginning: Beginning, report: Report) -> None:
        self._actor, self._beginning, self._report = actor, beginning, report
        #: Mean weights taken since the last saved state, each with the number of games before the mean.
        self._means: list[tuple[float, Weights]] = []
        #: Number of entries of ``_means`` that the learner has taken.
        self._taken = 0
        self._games = 0.0

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play up to a total number of games; see `Learner`."""
        self._games = games
        while self._taken < len(self._means) or self.progress.begun < games:
            seconds = deadline - perf_counter()
            if seconds <= 0 or stop():
                break
            self._report = self._call("play", games, min(seconds, _SLICE))
            self._taken += self._report.taken
            if not self._report.is_suited:
                return False
        return True

    def _call(self, method: str, *arguments: object) -> Any:
        """Call a method with the means not yet taken. If the process dies, a new process repeats games."""
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
        """Replace the weights."""
        self._means.append((self._games, weights))
        self._report = self._report._replace(weights=weights)

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return the learner's state. If the process dies later, the learner resumes from that state."""
        state: Mapping[str, NDArray[Any]] = self._call("state")
        self._beginning = self._beginning._replace(state=state)
        self._means, self._taken = [], 0
        return state

    @property
    def weights(self) -> Weights:
        """Weights of the learner after the last call."""
        return self._report.weights

    @property
    def progress(self) -> Progress:
        """Progress of the learner after the last call."""
        return self._report.progress
