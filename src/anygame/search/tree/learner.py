"""A learning: estimates of states, and all that is needed to go on as if nothing had been between.

Practice on the start clock and trainings of hours play and learn by it alike.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.search.native.marking import table_of
from anygame.search.tree.game_code import refresh
from anygame.search.tree.self_play import (
    GAMES,
    GIVEN_UP,
    LONGEST,
    PLAYED,
    POSITIONS,
    SHARED,
    first_weights,
    make_practice,
    practise,
)
from anygame.search.tree.store import make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from anygame.search.tree.searcher import TreeSearcher

#: Bytes of the states of self-play.
_MEMORY: Final = 1 << 20
#: Of so many games one may end otherwise than the games of opponents do.
_FEW: Final = 20


class Learner:
    """Has a game of two roles play with itself, and learns from how the games end.

    Args:
        searcher: for the game.
        seed: of random numbers. The same seed and the same numbers of games teach the same, however they are
            cut into calls.
    """

    def __init__(self, searcher: TreeSearcher, seed: int) -> None:
        self._kernel, code = searcher.kernel, searcher.code
        start = searcher.packed(searcher.game.initial_state())
        self._code = code._replace(
            functions=code.functions.copy(), weights=first_weights(code.weights.shape, seed)
        )
        self._practice = make_practice(start)
        self._store = make_store(len(start), 2, _MEMORY)
        self._worker = make_worker(self._kernel, seed, 1, searcher.settings)
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
        """What was learned, of estimates: float32 [64 words + 2, units]; it changes with each game."""
        return self._code.weights

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

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of all that learning depends on; see ``restore``."""
        practice = self._practice
        trail = practice.trail.reshape(GAMES, LONGEST, -1)
        return {
            "weights": self._code.weights.copy(),
            "squares": practice.squares.copy(),
            "counts": practice.counts.copy(),
            "errors": practice.errors.copy(),
            "lengths": practice.lengths.copy(),
            "trail": trail[self._is_made()],
            "states": self._store.states[:GAMES].copy(),
            "random": self._worker.random.copy(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that a learner of the same game was in.

        Raises:
            ValueError: it is none; nothing is changed then.
        """
        practice = self._practice
        targets: dict[str, NDArray[Any]] = {
            "weights": self._code.weights,
            "squares": practice.squares,
            "counts": practice.counts,
            "errors": practice.errors,
            "lengths": practice.lengths,
            "states": self._store.states[:GAMES],
            "random": self._worker.random,
        }
        for name, target in targets.items():
            found = state.get(name)
            if found is None or found.shape != target.shape or found.dtype != target.dtype:
                raise ValueError(f"the state of a learning has no {name} of this game")
        lengths, trail = state["lengths"], state.get("trail")
        is_in_range = bool(((lengths >= 0) & (lengths <= LONGEST)).all())
        rows = (int(lengths.sum()) if is_in_range else -1, practice.trail.shape[1])
        if trail is None or trail.shape != rows or trail.dtype != practice.trail.dtype:
            raise ValueError("the state of a learning has other games under way than it says")
        if not (_is_sound(state["weights"]) and _is_sound(state["squares"]) and (state["squares"] > 0).all()):
            raise ValueError("the weights of a learning are no numbers")
        for name, target in targets.items():
            target[...] = state[name]
        practice.trail.reshape(GAMES, LONGEST, -1)[self._is_made()] = trail

    def _is_made(self) -> NDArray[np.bool_]:
        """Return which states of the trails are of games under way: bool [games, moves]."""
        return np.arange(LONGEST) < self._practice.lengths[:, None]


def _is_sound(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array).all())
