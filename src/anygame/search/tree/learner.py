"""A learning: estimates of states, and all that is needed to go on as if nothing had been between.

Practice on the start clock and trainings of hours play and learn by it alike.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.native.marking import table_of
from anygame.search.tree.game_code import UNITS, refresh
from anygame.search.tree.searcher import DEFAULT_SETTINGS, estimating
from anygame.search.tree.self_play import (
    FILLED,
    GIVEN_UP,
    LONGEST,
    NEXT,
    PLAYED,
    POSITIONS,
    SHARED,
    first_weights,
    make_practice,
    practise,
)
from anygame.search.tree.store import COMPETITIVE, make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from anygame.search.tree.searcher import TreeSearcher

#: Bytes of the trees of self-play.
_MEMORY: Final = 1 << 23
#: Of so many games one may end otherwise than the games of opponents do.
_FEW: Final = 20


class Learner:
    """Has a game play with itself, and learns from how the games end.

    Args:
        searcher: for the game.
        seed: of random numbers. The same seed and the same numbers of games teach the same, however they are
            cut into calls.
        units: of the hidden layer, a power of two up to ``MOST_UNITS``.
        learners: how many learn together, and share the memory for states.
    """

    def __init__(self, searcher: TreeSearcher, seed: int, units: int = UNITS, learners: int = 1) -> None:
        self._kernel, code = searcher.kernel, searcher.code
        start = searcher.packed(searcher.game.initial_state())
        self._code = searcher.patterns.put_into(code)._replace(
            functions=code.functions.copy(), weights=first_weights((*searcher.shape, units), seed)
        )
        self._practice = make_practice(
            start, self._code.weights, *_under_symmetries(searcher), learners=learners
        )
        self._store = make_store(len(start), len(code.random), _MEMORY)
        self._store.counts[COMPETITIVE] = len(code.random) == 2
        self._worker = make_worker(self._kernel, seed, 1, estimating(DEFAULT_SETTINGS, 1))
        self._tables = [table_of(each) for each in (self._store, self._worker, self._code, self._practice)]

    def play(
        self, games: float = inf, *, deadline: float = inf, stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Play until so many games have been played in all; return whether the game is one to learn from.

        Args:
            games: how many are enough, those that were given up and those of earlier calls among them.
            deadline: when it must be over, as ``perf_counter`` counts.
            stop: asked often whether to end at once.
        """
        addresses = [table.ctypes.data for table in self._tables]
        counts = self._practice.counts
        while counts[PLAYED] + counts[GIVEN_UP] < games and perf_counter() < deadline and not stop():
            refresh(self._code, self._kernel)
            if not practise(*addresses):
                return False
        return True

    @property
    def weights(self) -> NDArray[np.float32]:
        """What was learned; it changes with each game.

        float32 [64 words + 1 + outputs + rows of patterns, units].
        """
        return self._code.weights

    def take(self, weights: NDArray[np.float32]) -> None:
        """Go on from other weights."""
        self._code.weights[...] = self._practice.weights[...] = weights

    @property
    def games(self) -> int:
        """How many games were played to their end."""
        return int(self._practice.counts[PLAYED])

    @property
    def given_up(self) -> int:
        """How many games were given up: somebody had no move, or they went on and on."""
        return int(self._practice.counts[GIVEN_UP])

    @property
    def positions(self) -> int:
        """How many positions of games were learned from."""
        return int(self._practice.counts[POSITIONS])

    @property
    def squared_error(self) -> float:
        """The sum, over positions, of squares: of the estimate less how the game ended, 0 to 1."""
        return float(self._practice.errors[0])

    @property
    def is_shared(self) -> bool:
        """Whether games end with something for both roles, and not by a draw."""
        return bool(_FEW * self._practice.counts[SHARED] > self._practice.counts[PLAYED])

    def _fixed(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of which all is needed to go on."""
        practice = self._practice
        return {
            "means": self._code.weights,
            "weights": practice.weights,
            "moments": practice.moments,
            "squares": practice.squares,
            "counts": practice.counts,
            "errors": practice.errors,
            "lengths": practice.lengths,
            "openings": practice.openings,
            "random": self._worker.random,
            "opposed": self._store.counts[COMPETITIVE : COMPETITIVE + 1],
        }

    def _growing(
        self, lengths: NDArray[np.int32], filled: int
    ) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
        """Return the arrays of which a part is needed, and which: lengths of games and states say it."""
        practice = self._practice
        is_made = (np.arange(LONGEST) < lengths[:, None]).reshape(-1)
        is_filled = np.arange(len(practice.targets)) < filled
        return {
            "trail": (practice.trail, is_made),
            "values": (practice.values, is_made),
            "is_cut": (practice.is_cut, is_made),
            "states": (practice.states, is_filled),
            "targets": (practice.targets, is_filled),
        }

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that learning depends on; see ``restore``."""
        practice = self._practice
        growing = self._growing(practice.lengths, int(practice.counts[FILLED]))
        parts = {name: array[which] for name, (array, which) in growing.items()}
        return {name: array.copy() for name, array in self._fixed().items()} | parts

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that a learner of the same game was in.

        Raises:
            ValueError: it is none; nothing is changed then.
        """
        fixed = self._fixed()
        for name, target in fixed.items():
            found = state.get(name)
            if found is None or found.shape != target.shape or found.dtype != target.dtype:
                raise ValueError(f"the state of a learning has no {name} of this game")
        lengths, filled = state["lengths"], int(state["counts"][FILLED])
        growing = self._growing(lengths, filled)
        for name, (target, which) in growing.items():
            found = state.get(name)
            shape = (which.sum(), *target.shape[1:])
            if found is None or found.shape != shape or found.dtype != target.dtype:
                raise ValueError(f"the state of a learning has other {name} than it says")
        room = len(self._practice.targets)
        is_in_range = filled <= room and bool(((lengths >= 0) & (lengths <= LONGEST)).all())
        if not (is_in_range and 0 <= state["counts"][NEXT] < room and (state["counts"] >= 0).all()):
            raise ValueError("the state of a learning counts what it has not")
        numbers = [array for array in state.values() if array.dtype.kind == "f"]
        if not all(np.isfinite(array).all() for array in numbers) or (state["squares"] < 0).any():
            raise ValueError("the weights of a learning are no numbers")
        for name, target in fixed.items():
            target[...] = state[name]
        for name, (target, which) in growing.items():
            target[which] = state[name]


def _under_symmetries(searcher: TreeSearcher) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return what symmetries of a game make of the inputs and the outputs of estimates."""
    inputs, outputs, _ = searcher.shape
    fluents, roles = searcher.symmetries
    images = np.tile(np.arange(inputs, dtype=np.int32), (len(fluents), 1))
    images[:, : fluents.shape[1]] = fluents
    # One output says by how much the first of two roles does better.
    return images, roles[:, :outputs].copy()
