"""A learner: estimates of states from self-play, and all that is needed to resume learning.

Practice on the start clock and trainings of hours use the same learner.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from anygame.native.marking import table_of
from anygame.search.evaluation.network import (
    UNITS,
    UNITS_OF_TRAININGS,
    NetworkEstimates,
    first_weights,
)
from anygame.search.lanes import refresh
from anygame.search.learning.self_play import (
    FILLED,
    GIVEN_UP,
    LONGEST,
    NEXT,
    PLAYED,
    POSITIONS,
    SHARED,
    make_practice,
    practise,
)
from anygame.search.tree.searcher import DEFAULT_SETTINGS, estimating
from anygame.search.tree.store import COMPETITIVE, make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from anygame.search.tree.searcher import TreeSearcher

#: Bytes of the trees of self-play.
_MEMORY: Final = 1 << 23
#: ``is_shared`` if more than one game in this number ends otherwise than games of opponents do.
_FEW: Final = 20


class Progress(NamedTuple):
    """How far one learner is, or several together.

    Attributes:
        games: games played to their end.
        given_up: games given up, because a role had no move or the game was too long.
        positions: positions learned from.
        squared_error: sum over positions of the squared difference of estimate and end, 0 to 1.
        is_shared: whether games end with something for both roles, and not with a draw.
    """

    games: int = 0
    given_up: int = 0
    positions: int = 0
    squared_error: float = 0.0
    is_shared: bool = False

    @property
    def begun(self) -> int:
        """Games played to their end or given up."""
        return self.games + self.given_up

    @classmethod
    def of_all(cls, parts: Iterable[Progress]) -> Progress:
        """Return the progress of several learners together."""
        games, given_up, positions, errors, are_shared = zip(*parts, strict=True)
        return cls(sum(games), sum(given_up), sum(positions), sum(errors), any(are_shared))


class Learner:
    """Plays a game against itself, and learns from the ends.

    Args:
        searcher: for the game.
        seed: of random numbers. The same seed and the same numbers of games give the same weights, however
            they are divided into calls.
        units: number of units of the hidden layer, see ``UNITS``.
        learners: number of learners that share the replay memory.
    """

    def __init__(self, searcher: TreeSearcher, seed: int, units: int = UNITS, learners: int = 1) -> None:
        self._kernel, code = searcher.kernel, searcher.code
        start = searcher.packed(searcher.game.initial_state())
        self._estimates = NetworkEstimates(
            first_weights(searcher.shape, units, seed), searcher.gating, searcher.patterns
        )
        self._code = self._estimates.used_by(code)
        self._practice = make_practice(
            start, self.weights, *_symmetric_images(searcher), searcher.window_rows, learners
        )
        self._store = make_store(len(start), len(code.random), _MEMORY)
        self._store.counts[COMPETITIVE] = len(code.random) == 2
        self._worker = make_worker(self._kernel, seed, 1, estimating(DEFAULT_SETTINGS, 1))
        self._tables = [table_of(each) for each in (self._store, self._worker, self._code, self._practice)]

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play up to a total number of games; return whether the game is suited to learning.

        Args:
            games: total, games given up and those of earlier calls included.
            deadline: in the time of ``perf_counter``.
            stop: asked often whether to end at once.
        """
        addresses = [table.ctypes.data for table in self._tables]
        while self.progress.begun < games and perf_counter() < deadline and not stop():
            refresh(self._code, self._kernel)
            if not practise(*addresses):
                return False
        return True

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weights, see ``ValueNetwork``; they change with each game."""
        return self._estimates.network.weights

    def take(self, weights: NDArray[np.float32]) -> None:
        """Continue from other weights."""
        self.weights[...] = self._practice.weights[...] = weights

    @property
    def progress(self) -> Progress:
        """How far it is."""
        played, given_up, positions, shared = self._practice.counts[
            [PLAYED, GIVEN_UP, POSITIONS, SHARED]
        ].tolist()
        return Progress(played, given_up, positions, float(self._practice.errors[0]), _FEW * shared > played)

    def _fixed(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a state holds whole."""
        practice = self._practice
        names = ("weights", "moments", "squares", "row_steps", "counts", "errors", "lengths", "openings")
        return {name: getattr(practice, name) for name in names} | {
            "means": self.weights,
            "random": self._worker.random,
            "opposed": self._store.counts[COMPETITIVE : COMPETITIVE + 1],
        }

    def _growing(
        self, lengths: NDArray[np.int32], filled: int
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
        """Return the arrays of which a state holds some rows, and which: by lengths of games and states."""
        practice = self._practice
        is_made = (np.arange(LONGEST) < lengths[:, None]).reshape(-1)
        is_filled = np.arange(len(practice.targets)) < filled
        rows = dict.fromkeys(("trail", "values", "is_cut"), is_made) | dict.fromkeys(
            ("states", "targets"), is_filled
        )
        return {name: (getattr(practice, name), which) for name, which in rows.items()}

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that learning depends on; see ``restore``."""
        growing = self._growing(self._practice.lengths, int(self._practice.counts[FILLED]))
        parts = {name: array[which] for name, (array, which) in growing.items()}
        return {name: array.copy() for name, array in self._fixed().items()} | parts

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state of a learner of the same game.

        Raises:
            ValueError: it is none; nothing is changed then.
        """
        fixed = self._fixed()
        for name, target in fixed.items():
            array = state.get(name)
            if array is None or array.shape != target.shape or array.dtype != target.dtype:
                raise ValueError(f"a state of learning without {name} of this game")
        lengths, filled = state["lengths"], int(state["counts"][FILLED])
        growing = self._growing(lengths, filled)
        for name, (target, which) in growing.items():
            array = state.get(name)
            shape = (which.sum(), *target.shape[1:])
            if array is None or array.shape != shape or array.dtype != target.dtype:
                raise ValueError(f"a state of learning with a wrong number of {name}")
        room = len(self._practice.targets)
        is_in_range = filled <= room and bool(((lengths >= 0) & (lengths <= LONGEST)).all())
        if not (is_in_range and 0 <= state["counts"][NEXT] < room and (state["counts"] >= 0).all()):
            raise ValueError("a state of learning with counts out of range")
        numbers = [array for array in state.values() if array.dtype.kind == "f"]
        if not all(np.isfinite(array).all() for array in numbers) or (state["squares"] < 0).any():
            raise ValueError("a state of learning with weights that are no numbers")
        for name, target in fixed.items():
            target[...] = state[name]
        for name, (target, which) in growing.items():
            target[which] = state[name]


def units_of_training(searcher: TreeSearcher) -> int:
    """Return the number of units of the hidden layer in a training: few where there are windows."""
    return UNITS if searcher.windows else UNITS_OF_TRAININGS


def _symmetric_images(searcher: TreeSearcher) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the images of the inputs and outputs of estimates under the symmetries of a game."""
    fluents, roles = searcher.symmetries
    images = np.tile(np.arange(searcher.shape.inputs, dtype=np.int32), (len(fluents), 1))
    images[:, : fluents.shape[1]] = fluents
    return images, roles[:, : searcher.shape.outputs].copy()
