"""Searches guided by estimates: best first, and depth first by the parts of a goal.

Best-first search alternates between queues, as the planner LAMA does (Richter and Westphal 2010): by
estimated distance, by novelty, and by the goal so far. A state is novel if it is the first with some fluent
among the states with as many open parts of the goal (Lipovetzky and Geffner 2017).

Depth-first search treats the parts of a goal as constraint programming treats variables. It settles the part
with the fewest ways first (smallest domain first: Haralick and Elliott 1980). It prunes states from which no
better goal can be reached (forward checking), and restarts after ever more states (Luby, Sinclair and
Zuckerman 1993). In a state it tries only moves that settle the chosen part. So a failed search proves
nothing; where the order of moves does not matter, no solution is lost. Every second dive is strict: it also
leaves a state in which the only ways to settle some part are pruned.
"""

from __future__ import annotations

from heapq import heappop, heappush
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.search.one_player.breadth_first import VisitedStates
from anygame.search.one_player.relaxation import ENDLESS, Estimates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anygame.search.one_player.breadth_first import Incumbent
    from anygame.search.one_player.relaxation import Relaxation
    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Successors

#: Upper bound of the memory of a state besides its key: its entries in the queues.
_BYTES_OF_A_STATE: Final = 500


class Expanded(NamedTuple):
    """New states that may lead to a better goal than the best known one.

    Attributes:
        numbers: int64 [n].
        keys: uint64 [n, words of a key].
        estimates: of each state.
        lost: bool [m, parts]; the open parts of the new states from which no better goal can be reached.
    """

    numbers: NDArray[np.int64]
    keys: NDArray[np.uint64]
    estimates: Estimates
    lost: NDArray[np.bool_]


class EstimatedStates:
    """Visited states with estimates; states from which no better goal can be reached are not expanded.

    Attributes:
        root: the estimates of the first state, which has number 0.
    """

    def __init__(
        self,
        successors: Successors,
        key: StateKey,
        relaxation: Relaxation,
        incumbent: Incumbent,
        method: str,
    ) -> None:
        self._key, self._relaxation, self._incumbent = key, relaxation, incumbent
        self._width = successors.width
        self._visited = VisitedStates(successors, key, incumbent, method)
        self._depths = [0]
        self.root = relaxation.estimate(successors.root, self._wanted())

    @property
    def bytes(self) -> int:
        """Approximate memory in bytes after one more expansion."""
        return self._visited.bytes_with(self._width) + len(self._visited) * _BYTES_OF_A_STATE

    def _wanted(self) -> list[int]:
        """Return the places of the goals that are better than the best known one."""
        best = self._incumbent.goal
        return [place for place, goal in enumerate(self._relaxation.goals) if best is None or goal > best]

    def expand(self, numbers: NDArray[np.int64]) -> Expanded:
        """Expand states, at most ``width`` of the successors, by every move."""
        first = len(self._visited)
        depths = np.array([self._depths[number] for number in numbers.tolist()], np.int64)
        parents, states = self._visited.expand(numbers, depths)
        self._depths += (depths[parents] + 1).tolist()
        estimates = self._relaxation.estimate(states, self._wanted())
        alive = np.flatnonzero(estimates.costs < ENDLESS)
        return Expanded(
            first + alive,
            self._key.of(states[alive]),
            Estimates(*(of_states[alive] for of_states in estimates)),
            estimates.open_parts[estimates.costs == ENDLESS],
        )


#: States expanded at a time: more of them use lanes better, fewer follow the estimates more closely.
_AT_A_TIME: Final = 24

#: Two sort keys, and the negative number of a state.
_Entry = tuple[int, int, int]


class BestFirst:
    """Best-first search; see the module.

    Attributes:
        is_complete: whether it is proven that no line to a better goal is left.
        is_over: whether the search has ended.
    """

    def __init__(
        self,
        successors: Successors,
        key: StateKey,
        relaxation: Relaxation,
        incumbent: Incumbent,
        memory: int,
    ) -> None:
        self._states = EstimatedStates(successors, key, relaxation, incumbent, "best first")
        self.key, self._incumbent, self._memory = key, incumbent, memory
        self._queues: list[list[_Entry]] = [[(0, 0, 0)] for _ in range(3)]
        self._expanded: set[int] = set()
        self._seen: dict[int, NDArray[np.uint64]] = {}
        self._turn = 0
        self.is_complete = self.is_over = False

    def advance(self, seconds: float) -> None:
        """Search for about the given number of seconds."""
        until = perf_counter() + seconds
        while not self.is_over and not self._incumbent.is_best and perf_counter() < until:
            if self._states.bytes > self._memory:
                self.is_over = True
                return
            numbers = self._taken()
            if not numbers:
                self.is_over = True
                self.is_complete = self.key.safe_goals is None
                return
            self._enter(self._states.expand(np.array(numbers, np.int64)))

    def _taken(self) -> list[int]:
        """Return the states to expand next, from each queue in turn."""
        numbers: list[int] = []
        while len(numbers) < _AT_A_TIME and any(self._queues):
            self._turn = (self._turn + 1) % len(self._queues)
            queue = self._queues[self._turn]
            while queue:
                number = -heappop(queue)[-1]
                if number not in self._expanded:
                    self._expanded.add(number)
                    numbers.append(number)
                    break
        return numbers

    def _enter(self, expanded: Expanded) -> None:
        estimates = expanded.estimates
        parts = estimates.open_parts.sum(axis=1)
        novel = self._novel(expanded, parts)
        rows = zip(
            expanded.numbers.tolist(),
            estimates.costs.tolist(),
            estimates.goals.tolist(),
            parts.tolist(),
            novel.tolist(),
            strict=True,
        )
        for number, cost, goal, count, is_novel in rows:
            # Ties go to the newest state, which is the deepest.
            heappush(self._queues[0], (cost, -goal, -number))
            heappush(self._queues[1], (-is_novel, count, -number))
            heappush(self._queues[2], (-goal, cost, -number))

    def _novel(self, expanded: Expanded, parts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which states are the first with some fluent among states with as many open parts."""
        novel = np.zeros(len(parts), np.bool_)
        for count in np.unique(parts).tolist():
            here = np.flatnonzero(parts == count)
            keys = expanded.keys[here]
            seen = self._seen.setdefault(count, np.zeros(keys.shape[1], np.uint64))
            novel[here] = (keys & ~seen).any(axis=1)
            seen |= np.bitwise_or.reduce(keys, axis=0)
        return novel


#: Expanded states before the first restart, and the factor for each further restart.
_FIRST: Final = 64
_FACTOR: Final = 1.3
#: Upper bound of that number, for small games, which restart thousands of times.
_MOST: Final = 1 << 30


class DepthFirst:
    """Depth-first search; see the module.

    Attributes:
        is_over: always False: there is another dive to try.
    """

    is_over = False

    def __init__(
        self, fresh: Callable[[], EstimatedStates], incumbent: Incumbent, memory: int, seed: int
    ) -> None:
        self._fresh, self._incumbent, self._memory = fresh, incumbent, memory
        self._random = np.random.default_rng(seed)
        self._limit = float(_FIRST)
        self._is_strict = False
        self._restart()

    def _restart(self) -> None:
        self._states = self._fresh()
        self._stack = [(0, self._states.root.open_parts[0])]
        self._left = int(self._limit)
        self._limit = min(self._limit * _FACTOR, _MOST)
        self._is_strict = not self._is_strict

    def advance(self, seconds: float) -> None:
        """Search for about the given number of seconds."""
        until = perf_counter() + seconds
        while not self._incumbent.is_best and perf_counter() < until:
            if not self._stack or not self._left or self._states.bytes > self._memory:
                self._restart()
            number, is_open = self._stack.pop()
            self._left -= 1
            self._push(self._states.expand(np.array([number], np.int64)), is_open)

    def _push(self, expanded: Expanded, is_open: NDArray[np.bool_]) -> None:
        """Push the states that settle the part with the fewest ways, the most promising one last."""
        estimates = expanded.estimates
        settled = ~estimates.open_parts & is_open
        ways = settled.sum(axis=0)
        if self._is_strict and ((~expanded.lost & is_open).any(axis=0) & (ways == 0)).any():
            # Only pruned moves settle some part.
            return
        chosen = np.arange(len(expanded.numbers))
        if ways.any():
            fewest = np.where(ways > 0, ways, ways.max() + 1) + self._random.random(len(ways)) / 2
            chosen = np.flatnonzero(settled[:, int(fewest.argmin())])
        costs = estimates.costs[chosen] + self._random.random(len(chosen)) / 2
        for place in chosen[np.argsort(-costs)].tolist():
            self._stack.append((int(expanded.numbers[place]), estimates.open_parts[place]))
