"""Learner that trains the value network of a game by self-play.

Practice on a start clock and long trainings both use ``Learner``. The state of a learner can be saved and
restored.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from anygame.native.marking import table_of
from anygame.search.evaluation.network import MANY_UNITS, UNITS, NetworkEstimates, first_weights
from anygame.search.lanes import refresh
from anygame.search.learning.self_play import (
    FILLED,
    GIVEN_UP,
    LISTED,
    LONGEST,
    NEXT,
    PLAYED,
    POSITIONS,
    SHARED,
    make_practice,
    practise,
    recent_states,
)
from anygame.search.tree.searcher import DEFAULT_SETTINGS, estimating
from anygame.search.tree.store import COMPETITIVE, make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from anygame.search.tree.searcher import TreeSearcher

#: Maximum size in bytes of the search trees of self-play.
_MEMORY: Final = 1 << 23
#: Shortest training, in seconds of self-play, that has many hidden units in spite of windows.
_LONG_TRAINING: Final = 2_100.0
#: A game is shared if its goals are unequal and do not add up to 1. ``Progress.is_shared`` is true if the
#: share of shared games exceeds 1 divided by this number.
_GAMES_PER_SHARED_END: Final = 20


class Progress(NamedTuple):
    """Progress of one learner, or of several learners together."""

    games: int = 0  # Number of finished games.
    given_up: int = 0  # Number of games without a result: a role had no move or the game was too long.
    positions: int = 0  # Number of states in the finished games.
    squared_error: float = 0.0  # Sum over all states of the squared difference between estimate and result.
    is_shared: bool = False  # Whether over 5 % of the games have unequal goals that do not add up to 1.

    @property
    def begun(self) -> int:
        """Number of games that are finished or abandoned."""
        return self.games + self.given_up


class Learner:
    """Plays a game against itself, and learns from the results.

    The same seed and number of games give the same weights, however the games are divided into calls of
    ``play``. ``units`` is the number of units of the hidden layer. ``learners`` learners share the maximum
    size of the replay memory equally.
    """

    def __init__(self, searcher: TreeSearcher, seed: int, units: int = UNITS, learners: int = 1) -> None:
        self._kernel, code = searcher.kernel, searcher.code
        start = searcher.packed(searcher.game.initial_state())
        self._estimates = NetworkEstimates(
            first_weights(searcher.shape, units, seed), searcher.gating, searcher.patterns
        )
        self._code = self._estimates.used_by(code)
        first = searcher.shape.inputs + 1
        windows = first + searcher.patterns.lines, first + searcher.patterns.rows
        self._practice = make_practice(start, self.weights, *_symmetric_images(searcher), windows, learners)
        self._store = make_store(len(start), len(code.random), _MEMORY)
        self._store.counts[COMPETITIVE] = len(code.random) == 2
        self._worker = make_worker(self._kernel, seed, 1, estimating(DEFAULT_SETTINGS, 1))
        bundles = (self._store, self._worker, self._code, self._practice)
        self._tables = [table_of(bundle) for bundle in bundles]

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play up to a total number of games; return False if a state has too many joint moves.

        ``games`` includes abandoned games and the games of earlier calls. ``deadline`` is a time of
        ``perf_counter``. Play also stops if ``stop``, which is called after each move of the games, returns
        True.
        """
        addresses = [table.ctypes.data for table in self._tables]
        while self.progress.begun < games and perf_counter() < deadline and not stop():
            refresh(self._code, self._kernel)
            if not practise(*addresses):
                return False
        return True

    @property
    def weights(self) -> NDArray[np.float32]:
        """Weights of the network; see ``ValueNetwork``. Calls of ``play`` change the array."""
        return self._estimates.network.weights

    def take(self, weights: NDArray[np.float32]) -> None:
        """Replace the weights of the network."""
        self.weights[...] = self._practice.weights[...] = weights

    @property
    def progress(self) -> Progress:
        """The progress so far."""
        played, given_up, positions, shared = self._practice.counts[
            [PLAYED, GIVEN_UP, POSITIONS, SHARED]
        ].tolist()
        return Progress(
            played,
            given_up,
            positions,
            float(self._practice.errors[0]),
            _GAMES_PER_SHARED_END * shared > played,
        )

    def _saved(
        self, lengths: NDArray[np.int32], counts: NDArray[np.int64]
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_] | slice]]:
        """Return the arrays on which learning depends, each with the rows that a saved state contains.

        ``lengths`` are the lengths of running games. Of the replay memory, only states that can still be
        sampled are saved.
        """
        practice, all_rows = self._practice, slice(None)
        complete = ("weights", "moments", "squares", "row_steps", "counts", "errors", "lengths", "openings")
        is_made = (np.arange(LONGEST) < lengths[:, None]).reshape(-1)
        ages = (counts[NEXT] - 1 - np.arange(len(practice.targets))) % len(practice.targets)
        is_recent = ages < recent_states(counts)
        rows: dict[str, NDArray[np.bool_] | slice] = dict.fromkeys(complete, all_rows)
        rows |= dict.fromkeys(("trail", "values", "is_cut"), is_made)
        rows |= dict.fromkeys(("states", "targets"), is_recent)
        return {name: (getattr(practice, name), saved) for name, saved in rows.items()} | {
            "means": (self.weights, all_rows),
            "random": (self._worker.random, all_rows),
            "opposed": (self._store.counts[COMPETITIVE : COMPETITIVE + 1], all_rows),
        }

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays on which learning depends, for ``restore``."""
        saved = self._saved(self._practice.lengths, self._practice.counts)
        return {name: array[rows].copy() for name, (array, rows) in saved.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a saved state of a learner of the same game.

        Raises:
            ValueError: the state is damaged or belongs to another game. The learner remains unchanged.
        """
        practice = self._practice
        _check(state, {"lengths": practice.lengths, "counts": practice.counts})
        lengths, counts = state["lengths"], state["counts"]
        saved = self._saved(lengths, counts)
        _check(state, {name: array[rows] for name, (array, rows) in saved.items()})
        capacity = len(practice.targets)
        is_in_range = counts[FILLED] <= capacity and bool(((lengths >= 0) & (lengths <= LONGEST)).all())
        if not (is_in_range and 0 <= counts[NEXT] < capacity and (counts >= 0).all() and not counts[LISTED]):
            raise ValueError("counts in the saved state are out of range")
        floats = [array for array in state.values() if array.dtype.kind == "f"]
        is_negative = (state["squares"] < 0).any() or (state["row_steps"] < 0).any()
        if not all(np.isfinite(array).all() for array in floats) or is_negative:
            raise ValueError("weights in the saved state are not finite, or squares or steps are negative")
        for name, (array, rows) in saved.items():
            array[rows] = state[name]


def _check(state: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> None:
    for name, array in expected.items():
        found = state.get(name)
        if found is None or found.shape != array.shape or found.dtype != array.dtype:
            raise ValueError(f"the saved state has no array {name!r} of the expected shape and type")


def units_of_training(searcher: TreeSearcher, seconds: float) -> int:
    """Return the number of hidden units. With few, a short training with windows learns from more games."""
    has_windows = searcher.patterns.rows > searcher.patterns.lines
    return UNITS if has_windows and seconds < _LONG_TRAINING else MANY_UNITS


def _symmetric_images(searcher: TreeSearcher) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the image of each input and output of the network under each symmetry of the game."""
    fluents, roles = searcher.symmetries
    images = np.tile(np.arange(searcher.shape.inputs, dtype=np.int32), (len(fluents), 1))
    images[:, : fluents.shape[1]] = fluents
    return images, roles[:, : searcher.shape.outputs].copy()
