"""Learners on the workers of a cluster.

What a learner knows follows from a state of it, and from which means it took since, after how many games. So
one whose process dies begins from its last state in another process, plays the same games, takes the same
means where it took them before, and nothing is lost but time.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from anygame.errors import WorkerLostError
from anygame.search.tree.learner import Learner
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game

    Weights = NDArray[np.float32]

#: Seconds of a call at most: Ctrl-C is heard between two.
_SLICE: Final = 1.0
#: How often a call is made whose process dies. One that kills its process every time ends all.
_TRIES: Final = 5
#: Bytes of the tree that tells the learner of the game.
_MEMORY: Final = 1 << 20

_Item = TypeVar("_Item")


class Actor(Protocol):
    """An object that lives in a process of its own (Hewitt, Bishop and Steiger 1973)."""

    def call(self, method: str, *arguments: object) -> Any:
        """Return what a method of the object returns; everything is pickled.

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
        count: how many cores they have.
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
        """Have an object made of each item, which lives in a process of its own until the block ends.

        Everything is pickled. An object takes a core; where there are too few, the last ones share those of
        others.

        Args:
            make: a function or class of a module that the processes can import.
            items: what each object is made of.

        Raises:
            ClusterError: there is nobody to make them, or one died.
        """


class Beginning(NamedTuple):
    """What a learner is made of: the game, the hidden units, how many learn together, and a state."""

    game: Game
    units: int
    learners: int
    state: Mapping[str, NDArray[Any]]


class Report(NamedTuple):
    """How far a learner is; ``taken`` is how many means it took in a call; see `Learner` for the others."""

    is_suited: bool
    taken: int
    weights: Weights
    games: int
    given_up: int
    positions: int
    squared_error: float
    is_shared: bool

    @classmethod
    def of(cls, learner: Learner, is_suited: bool = True, taken: int = 0) -> Report:
        """Return a report of a learner."""
        return cls(
            is_suited,
            taken,
            learner.weights.copy(),
            learner.games,
            learner.given_up,
            learner.positions,
            learner.squared_error,
            learner.is_shared,
        )


def searcher_of(game: Game) -> TreeSearcher:
    """Return a searcher that tells learners of a game.

    Raises:
        LimitError: it cannot be compiled.
    """
    game.compile_if_worth_it()
    return TreeSearcher(game, seed=1, memory=_MEMORY)


class PlacedLearner:
    """A learner in the process of a worker, which a `RemoteLearner` asks."""

    def __init__(self, beginning: Beginning) -> None:
        game, units, learners, state = beginning
        self._learner = Learner(searcher_of(game), 0, units, learners)
        self._learner.restore(state)

    def play(self, means: Sequence[tuple[float, Weights]], games: float, seconds: float) -> Report:
        """Take means, each after so many games, and play until so many games have been played in all."""
        learner, deadline, taken = self._learner, perf_counter() + seconds, 0
        for enough, mean in [*means, (games, None)]:
            if not learner.play(enough, deadline=deadline):
                return Report.of(learner, is_suited=False)
            if mean is None or learner.games + learner.given_up < enough:
                break
            learner.take(mean)
            taken += 1
        return Report.of(learner, taken=taken)

    def state(self, means: Sequence[tuple[float, Weights]]) -> dict[str, NDArray[Any]]:
        """Take means, each after so many games, and return all that learning depends on."""
        self.play(means, 0, inf)
        return self._learner.state()


class RemoteLearner:
    """As `Learner`, for one that lives on a worker as a `PlacedLearner`.

    Args:
        actor: the learner there.
        beginning: what it was made of.
        report: how far it was then.
    """

    def __init__(self, actor: Actor, beginning: Beginning, report: Report) -> None:
        self._actor, self._beginning, self._report = actor, beginning, report
        #: Those since the beginning, each with the games after which it is to be taken; the first are taken.
        self._means: list[tuple[float, Weights]] = []
        self._taken = 0
        self._enough = 0.0

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play until so many games have been played in all; return whether the game is one to learn from."""
        self._enough = games
        while self._is_behind(games) and (left := deadline - perf_counter()) > 0 and not stop():
            self._report = self._call("play", games, min(left, _SLICE))
            self._taken += self._report.taken
            if not self._report.is_suited:
                return False
        return True

    def _is_behind(self, games: float) -> bool:
        return self._taken < len(self._means) or self.games + self.given_up < games

    def _call(self, method: str, *arguments: object) -> Any:
        """Make a call, and give it the means that were not taken yet; after a death, catch up first."""
        lost: WorkerLostError | None = None
        for _ in range(_TRIES):
            try:
                if lost is not None:
                    self._actor.renew(self._beginning)
                    reached = self.games + self.given_up
                    self._taken = self._actor.call("play", self._means, reached, inf).taken
                return self._actor.call(method, self._means[self._taken :], *arguments)
            except WorkerLostError as error:
                lost = error
        assert lost is not None
        raise lost

    def take(self, weights: Weights) -> None:
        """Go on from other weights."""
        self._means.append((self._enough, weights))
        self._report = self._report._replace(weights=weights)

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return all that learning depends on: from there it goes on where its process dies."""
        state: Mapping[str, NDArray[Any]] = self._call("state")
        self._beginning = self._beginning._replace(state=state)
        self._means, self._taken = [], 0
        return state

    @property
    def weights(self) -> Weights:
        """What was learned when the last call ended."""
        return self._report.weights

    @property
    def games(self) -> int:
        """How many games were played to their end."""
        return self._report.games

    @property
    def given_up(self) -> int:
        """How many games were given up."""
        return self._report.given_up

    @property
    def positions(self) -> int:
        """How many positions of games were learned from."""
        return self._report.positions

    @property
    def squared_error(self) -> float:
        """The sum, over positions, of squares: of the estimate less how the game ended, 0 to 1."""
        return self._report.squared_error

    @property
    def is_shared(self) -> bool:
        """Whether games end with something for both roles, and not by a draw."""
        return self._report.is_shared
