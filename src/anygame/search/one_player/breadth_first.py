"""Layered breadth-first search: all states, in the order of their distance, while memory lasts.

What it finds first is shortest, and what it has not found when no states are left does not exist.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.search.one_player.visited import VisitedStates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Successors
    from anygame.search.one_player.visited import Incumbent

#: About so many children are made at a time, so that what lists them stays small beside the states.
_CHILDREN: Final = 1 << 15


class BreadthFirst:
    """All states from the first one; see the module.

    Args:
        successors: continues states.
        key: what of a state counts.
        incumbent: takes the lines that are found.
        memory: bytes for states and the ways to them.

    Attributes:
        name: what it is called in results.
        key: as given.
        depth: all lines of so many moves were looked at, but those to goals for which the key is not safe.
        is_complete: whether all states were looked at.
        is_over: whether there is nothing more to do: all was looked at, or memory does not last.
    """

    name = "breadth first"

    def __init__(self, successors: Successors, key: StateKey, incumbent: Incumbent, memory: int) -> None:
        self._successors, self._incumbent, self._memory = successors, incumbent, memory
        self.key = key
        self._rest = self._next_rest = key.rest(successors.root[0])
        self._visited = VisitedStates(key.of(successors.root))
        self._done, self._layer_end = 0, 1
        self._branching, self._pace = 1.0, 1e-3
        self.depth = 0
        self.is_complete = self.is_over = False

    def advance(self, seconds: float) -> None:
        """Go on for about so long."""
        until = perf_counter() + seconds
        while not self.is_over and (left := until - perf_counter()) > 0:
            self._expand(self._chunk(left))

    def _chunk(self, seconds: float) -> int:
        """Return how many states to expand next."""
        in_time = int(seconds / self._pace) + 1
        few = int(_CHILDREN / self._branching) + 1
        return min(self._successors.width, in_time, few, self._layer_end - self._done)

    def _expand(self, count: int) -> None:
        visited, successors = self._visited, self._successors
        began, first = perf_counter(), self._done
        needed = visited.bytes_with(int(2 * self._branching * count) + 1) + successors.bytes
        if needed > self._memory or len(visited) > np.iinfo(np.int32).max // 2:
            self.is_over = True
            return
        states = self.key.restored(visited.part(first, first + count), self._rest)
        options = successors.options(states)
        for at in range(0, len(options.moves), successors.width):
            sources = options.sources[at : at + successors.width]
            moves = options.moves[at : at + successors.width]
            children = successors.children(states[sources], moves)
            self._incumbent.offer(
                children, self.depth + 1, self.name, partial(self._line, first + sources, moves)
            )
            on = np.flatnonzero(~children.ended)
            if len(on):
                self._next_rest = self.key.rest(children.states[on[0]])
                visited.add(self.key.of(children.states[on]), first + sources[on], moves[on])
        self._done += count
        self._branching = max(1.0, len(options.moves) / count)
        self._pace = max(1e-7, (perf_counter() - began) / count)
        if self._done == self._layer_end:
            self.depth += 1
            self._rest = self._next_rest
            self._layer_end = len(visited)
            self.is_complete = self.is_over = self._done == self._layer_end

    def _line(self, sources: NDArray[np.int64], moves: NDArray[np.int32], child: int) -> list[int]:
        return [*self._visited.line(int(sources[child])), int(moves[child])]
