"""Best-first search with several orders in turn: by estimated distance, by novelty, by the goal so far.

Queues that take turns are those of the planner LAMA (Richter and Westphal 2010); a state is novel if it is
the first with some fluent among those that have as many parts of the goal open (Lipovetzky and Geffner 2017,
"Best-first width search").
"""

from __future__ import annotations

from heapq import heappop, heappush
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.search.one_player.estimated import EstimatedStates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.one_player.estimated import Grown
    from anygame.search.one_player.incumbent import Incumbent
    from anygame.search.one_player.relaxation import Relaxation
    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Successors

#: States expanded at a time: more fill lanes better, fewer follow the estimates better.
_AT_A_TIME: Final = 24

#: What orders a queue, then the number of the state.
_Entry = tuple[int, int, int]


class BestFirst:
    """Continues the most promising states first; see the module.

    Args:
        successors: continues states.
        key: what of a state counts.
        relaxation: estimates states.
        incumbent: takes the lines that are found.
        memory: bytes to use at most, about.

    Attributes:
        key: as given.
        is_complete: whether no line to a better goal is left.
        is_over: whether there is nothing more to do.
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
        """Go on for about so long."""
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
        """Return the states that are expanded next, from one queue after the other."""
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

    def _enter(self, grown: Grown) -> None:
        estimates = grown.estimates
        parts = estimates.open_parts.sum(axis=1)
        novel = self._novel(grown, parts)
        rows = zip(
            grown.numbers.tolist(),
            estimates.costs.tolist(),
            estimates.goals.tolist(),
            parts.tolist(),
            novel.tolist(),
            strict=True,
        )
        for number, cost, goal, count, is_novel in rows:
            # Of equals the one met last goes first: it is the deepest.
            heappush(self._queues[0], (cost, -goal, -number))
            heappush(self._queues[1], (-is_novel, count, -number))
            heappush(self._queues[2], (-goal, cost, -number))

    def _novel(self, grown: Grown, parts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which states are the first with some fluent, among those with as many open parts."""
        novel = np.zeros(len(parts), np.bool_)
        for count in np.unique(parts).tolist():
            here = np.flatnonzero(parts == count)
            keys = grown.keys[here]
            seen = self._seen.setdefault(count, np.zeros(keys.shape[1], np.uint64))
            novel[here] = (keys & ~seen).any(axis=1)
            seen |= np.bitwise_or.reduce(keys, axis=0)
        return novel
