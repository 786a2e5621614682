"""Depth-first search that commits itself: of many parts of a goal it settles the one with fewest ways first.

As in the search for solutions of constraints: the variable with the smallest domain first (Haralick and
Elliott 1980), values without hope left out by looking ahead, and restarts after ever more states (Luby,
Sinclair and Zuckerman 1993). Other moves than those that settle the part are not tried in a state; so it is
no proof if nothing is found, but where the order of moves does not matter, nothing is lost either. Every
second dive trusts in that so far that it leaves a state in which a part can only be settled without hope.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anygame.search.one_player.estimated import EstimatedStates, Grown
    from anygame.search.one_player.incumbent import Incumbent

#: States after which the first restart comes; the next ones come after ever more.
_FIRST: Final = 64
_FACTOR: Final = 1.3
#: ... but not more than these, which no dive reaches: small games restart some thousands of times.
_MOST: Final = 1 << 30


class Committed:
    """Dives for the goal; see the module.

    Args:
        fresh: returns the first state, with estimates, as if nothing had been visited.
        incumbent: takes the lines that are found.
        memory: bytes to use at most, about.
        seed: of the random numbers.

    Attributes:
        is_over: whether there is nothing more to do: no dive is longer than the first ones.
    """

    def __init__(
        self, fresh: Callable[[], EstimatedStates], incumbent: Incumbent, memory: int, seed: int
    ) -> None:
        self._fresh, self._incumbent, self._memory = fresh, incumbent, memory
        self._random = np.random.default_rng(seed)
        self._limit = float(_FIRST)
        self._is_strict = False
        self.is_over = False
        self._restart()

    def _restart(self) -> None:
        self._states = self._fresh()
        self._stack = [(0, self._states.root.open_parts[0])]
        self._left = int(self._limit)
        self._limit = min(self._limit * _FACTOR, _MOST)
        self._is_strict = not self._is_strict

    def advance(self, seconds: float) -> None:
        """Go on for about so long."""
        until = perf_counter() + seconds
        while not self.is_over and not self._incumbent.is_best and perf_counter() < until:
            if not self._stack or not self._left or self._states.bytes > self._memory:
                self._restart()
            number, is_open = self._stack.pop()
            self._left -= 1
            self._push(self._states.expand(np.array([number], np.int64)), is_open)

    def _push(self, grown: Grown, is_open: NDArray[np.bool_]) -> None:
        """Push the states that settle the part with fewest ways, the most promising one last."""
        estimates = grown.estimates
        settled = ~estimates.open_parts & is_open
        ways = settled.sum(axis=0)
        if self._is_strict and ((~grown.lost & is_open).any(axis=0) & (ways == 0)).any():
            # Some part can be settled by moves without hope alone.
            return
        chosen = np.arange(len(grown.numbers))
        if ways.any():
            fewest = np.where(ways > 0, ways, ways.max() + 1) + self._random.random(len(ways)) / 2
            chosen = np.flatnonzero(settled[:, int(fewest.argmin())])
        costs = estimates.costs[chosen] + self._random.random(len(chosen)) / 2
        for place in chosen[np.argsort(-costs)].tolist():
            self._stack.append((int(grown.numbers[place]), estimates.open_parts[place]))
