"""Layered breadth-first search, and what all ways to search share: the states visited, and the best line.

Breadth first come all states, in the order of their distance, while memory lasts. What it finds first is
shortest, and what it has not found when no states are left does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.state_set import StateSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Children, Successors

#: A new table of ways: as many as a new set of states has room for.
_FEWEST: Final = 1024


class VisitedStates:
    """A set of states that numbers them and knows, for each, the state before it and the move.

    Args:
        root: uint64 [1, words]; the first state, number 0.
    """

    def __init__(self, root: NDArray[np.uint64]) -> None:
        self._states = StateSet(root.shape[1])
        self._states.add(root)
        self._before = np.full((_FEWEST, 2), -1, np.int32)

    def __len__(self) -> int:
        return len(self._states)

    def part(self, first: int, end: int) -> NDArray[np.uint64]:
        """Return a copy of the states of these numbers: uint64 [n, words]."""
        return self._states.part(first, end)

    def at(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return a copy of the states of some numbers: uint64 [n, words]."""
        return self._states.at(numbers)

    def bytes_with(self, more: int) -> int:
        """Return the bytes that it takes while so many states are added, if all are new."""
        needed, room = len(self._states) + more, len(self._before)
        while room < needed:
            room *= 2
        ways = self._before.nbytes + (room * 8 if room > len(self._before) else 0)
        return ways + self._states.bytes_with(more)

    def add(
        self, states: NDArray[np.uint64], before: NDArray[np.int64], moves: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Add states that moves lead to; return which of them are new, each once: int64 [new]."""
        known = len(self._states)
        numbers = self._states.add(states)
        greatest = np.maximum.accumulate(numbers)
        first = np.flatnonzero((numbers >= known) & (greatest > np.concatenate(([-1], greatest[:-1]))))
        end = len(self._states)
        if end > len(self._before):
            room = len(self._before)
            while room < end:
                room *= 2
            grown = np.empty((room, 2), np.int32)
            grown[:known] = self._before[:known]
            self._before = grown
        self._before[known:end, 0] = before[first]
        self._before[known:end, 1] = moves[first]
        return first

    def line(self, number: int) -> list[int]:
        """Return the moves that led to a state first."""
        moves = []
        while number:
            number, move = self._before[number].tolist()
            moves.append(move)
        return moves[::-1]


@dataclass
class Incumbent:
    """The best line so far.

    Attributes:
        goal: at its end; None where no end with a goal was met.
        line: the numbers of the moves to it.
        method: what found it.
        states: how many states were looked at by all.
        most: no end that can be reached has a greater goal; None where that is not known.
        misses_goal: whether an end was met without a goal.
    """

    goal: int | None = None
    line: list[int] = field(default_factory=list)
    method: str = "none"
    states: int = 0
    most: int | None = None
    misses_goal: bool = False

    @property
    def is_best(self) -> bool:
        """Whether no line can reach a greater goal."""
        return self.goal is not None and self.most is not None and self.goal >= self.most

    def improves(self, goal: float, length: int) -> bool:
        """Return whether a line of so many moves to such a goal would be better, or as good and shorter."""
        if goal != goal:  # a missing goal is not a number
            return False
        return self.goal is None or goal > self.goal or (goal == self.goal and length < len(self.line))

    def offer(
        self,
        children: Children,
        lengths: int | NDArray[np.int64],
        method: str,
        line: Callable[[int], list[int]],
    ) -> None:
        """Look at states that were reached, and keep the line to the best end among them.

        Args:
            children: the states.
            lengths: how many moves lead to each, or to all.
            method: what found them.
            line: returns the numbers of the moves that lead to one of them.
        """
        self.states += len(children.states)
        if not children.ended.any():
            return
        missing = np.isnan(children.goals)
        self.misses_goal |= bool((missing & children.ended).any())
        goals = np.where(missing, -np.inf, children.goals)
        best = int(np.lexsort((-np.broadcast_to(lengths, goals.shape), goals))[-1])
        length = int(np.broadcast_to(lengths, goals.shape)[best])
        if np.isfinite(goals[best]) and self.improves(float(goals[best]), length):
            self.goal, self.line, self.method = int(goals[best]), line(best), method


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
