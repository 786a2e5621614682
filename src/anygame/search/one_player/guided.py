"""Searches guided by estimates: best-first search, and depth-first search over the parts of a goal.

The parts of a goal are literals whose conjunction is the goal. A part is open while it is false.

Best-first search alternates between three queues, as the planner LAMA does (Richter and Westphal 2010). One
queue is ordered by estimated distance, one by novelty, and one by the goal that holds in the state. A state
is novel if one of its fluents held in no earlier state with the same number of open parts (Lipovetzky and
Geffner 2017).

Depth-first search treats the parts of a goal as the variables of a constraint satisfaction problem. In each
state, the search chooses the open part that the fewest moves satisfy (smallest domain first: Haralick and
Elliott 1980), and tries only moves that satisfy the chosen part. If the order of moves does not matter, the
restriction loses no solution; otherwise a failed search proves nothing. The search prunes states from which
no better goal can be reached (forward checking). Each restart allows more expansions than the last one (Luby,
Sinclair and Zuckerman 1993). After every second restart, the search also prunes a state if all moves that
satisfy some open part lead to pruned states.
"""

from __future__ import annotations

from heapq import heappop, heappush
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

#: Maximum size in bytes of a state's queue entries.
_BYTES_OF_A_STATE: Final = 500


class Expanded(NamedTuple):
    """New states that were not pruned."""

    numbers: NDArray[np.int64]  # [n]; the numbers of the states
    keys: NDArray[np.uint64]  # [n, words of a key]
    estimates: Estimates
    lost: NDArray[np.bool_]  # [m, parts]; the open parts of the m pruned states


class EstimatedStates:
    """Visits and estimates states, and prunes states from which no better goal can be reached.

    Attributes:
        root: the estimates of the first state, which has number 0.
    """

    def __init__(
        self, successors: Successors, key: StateKey, relaxation: Relaxation, incumbent: Incumbent, method: str
    ) -> None:
        self._key, self._relaxation, self._incumbent = key, relaxation, incumbent
        self._width = successors.width
        self._visited = VisitedStates(successors, key, incumbent, method)
        self._depths = [0]
        self.root = relaxation.estimate(successors.root, self._wanted())

    @property
    def bytes(self) -> int:
        """Approximate size in bytes after another expansion."""
        return self._visited.bytes_with(self._width) + len(self._visited) * _BYTES_OF_A_STATE

    def _wanted(self) -> list[int]:
        """Return the indices of the goals that are better than the goal of the best known line."""
        best = self._incumbent.goal
        return [place for place, goal in enumerate(self._relaxation.goals) if best is None or goal > best]

    def expand(self, numbers: NDArray[np.int64]) -> Expanded:
        """Expand states by every move; at most ``Successors.width`` states are allowed."""
        first = len(self._visited)
        depths = np.array([self._depths[number] for number in numbers.tolist()], np.int64)
        parents, states = self._visited.expand(numbers, depths)
        self._depths += (depths[parents] + 1).tolist()
        estimates = self._relaxation.estimate(states, self._wanted())
        alive = np.flatnonzero(estimates.costs < ENDLESS)
        return Expanded(
            first + alive,
            self._key.of(states[alive]),
            Estimates(estimates.costs[alive], estimates.goals[alive], estimates.open_parts[alive]),
            estimates.open_parts[estimates.costs == ENDLESS],
        )


#: Number of states expanded per step. With more states, the search follows the estimates less closely.
_AT_A_TIME: Final = 24

#: Queue entry: two sort keys, and the negative number of the state.
_Entry = tuple[int, int, int]


class BestFirst:
    """Best-first search; see the module docstring.

    Attributes:
        is_complete: whether the search has proven that no line leads to a better goal.
        is_over: whether the search has ended.
    """

    def __init__(
        self, successors: Successors, key: StateKey, relaxation: Relaxation, incumbent: Incumbent, memory: int
    ) -> None:
        self._states = EstimatedStates(successors, key, relaxation, incumbent, "best first")
        self.key, self._memory = key, memory
        self._queues: list[list[_Entry]] = [[(0, 0, 0)] for _ in range(3)]
        self._expanded: set[int] = set()
        self._seen: dict[int, NDArray[np.uint64]] = {}
        self._turn = 0
        self.is_complete = self.is_over = False

    def step(self, seconds: float) -> None:
        """Expand the next states; one step takes only milliseconds."""
        numbers = [] if self._states.bytes > self._memory else self._next_states()
        if numbers:
            self._push(self._states.expand(np.array(numbers, np.int64)))
        else:
            self.is_over = True
            self.is_complete = not any(self._queues) and self.key.safe_goals is None

    def _next_states(self) -> list[int]:
        """Return the numbers of the states to expand next. The queues take turns."""
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

    def _push(self, expanded: Expanded) -> None:
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
            # Of several states with equal sort keys, the search takes the newest first.
            heappush(self._queues[0], (cost, -goal, -number))
            heappush(self._queues[1], (-is_novel, count, -number))
            heappush(self._queues[2], (-goal, cost, -number))

    def _novel(self, expanded: Expanded, parts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which states are novel; see the module docstring."""
        novel = np.zeros(len(parts), np.bool_)
        for count in np.unique(parts).tolist():
            here = np.flatnonzero(parts == count)
            keys = expanded.keys[here]
            seen = self._seen.setdefault(count, np.zeros(keys.shape[1], np.uint64))
            novel[here] = (keys & ~seen).any(axis=1)
            seen |= np.bitwise_or.reduce(keys, axis=0)
        return novel


#: Number of states that the search expands before its first restart.
_FIRST: Final = 64
#: Factor by which the number of states between restarts grows with each restart.
_FACTOR: Final = 1.3
#: Maximum number of states until a restart, so that the number never overflows.
_MOST: Final = 1 << 30


class DepthFirst:
    """Depth-first search with restarts; see the module docstring. ``fresh`` returns new states."""

    is_over = False  # The search can always restart.

    def __init__(self, fresh: Callable[[], EstimatedStates], memory: int, seed: int) -> None:
        self._fresh, self._memory = fresh, memory
        self._random = np.random.default_rng(seed)
        self._limit = float(_FIRST)
        self._is_strict = False
        self._restart()

    def _restart(self) -> None:
        self._states = self._fresh()
        self._stack = [(0, self._states.root.open_parts[0])]
        self._budget = int(self._limit)
        self._limit = min(self._limit * _FACTOR, _MOST)
        self._is_strict = not self._is_strict

    def step(self, seconds: float) -> None:
        """Expand one state. If the stack is empty or a limit is reached, restart first."""
        if not self._stack or not self._budget or self._states.bytes > self._memory:
            self._restart()
        number, is_open = self._stack.pop()
        self._budget -= 1
        self._push(self._states.expand(np.array([number], np.int64)), is_open)

    def _push(self, expanded: Expanded, is_open: NDArray[np.bool_]) -> None:
        """Find the part that the fewest states satisfy, and push these states, the most promising last."""
        estimates = expanded.estimates
        satisfied = ~estimates.open_parts & is_open
        ways = satisfied.sum(axis=0)
        if self._is_strict and ((~expanded.lost & is_open).any(axis=0) & (ways == 0)).any():
            # An open part is satisfied only by states that were pruned.
            return
        chosen = np.arange(len(expanded.numbers))
        if ways.any():
            fewest = np.where(ways > 0, ways, ways.max() + 1) + self._random.random(len(ways)) / 2
            chosen = np.flatnonzero(satisfied[:, int(fewest.argmin())])
        costs = estimates.costs[chosen] + self._random.random(len(chosen)) / 2
        for place in chosen[np.argsort(-costs)].tolist():
            self._stack.append((int(expanded.numbers[place]), estimates.open_parts[place]))
