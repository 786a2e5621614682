"""Breadth-first search, and two classes that all searches share: visited states and the best line so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.search.state_set import GrowingArray, StateSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anygame.search.one_player.state_key import StateKey
    from anygame.search.one_player.successors import Children, Successors


class VisitedStates:
    """Visited states, numbered from 0, each with its predecessor and the move from the predecessor."""

    def __init__(self, successors: Successors, key: StateKey, incumbent: Incumbent, method: str) -> None:
        self._successors, self._key = successors, key
        self._incumbent, self._method = incumbent, method
        root = key.of(successors.root)
        self._states, self._ways = StateSet(root.shape[1]), GrowingArray(2, np.int32)
        self._states.add(root)
        self._ways.extend(np.full((1, 2), -1, np.int32))
        # For each depth: the bits that the keys of the states at this depth omit.
        self._rests = [key.rest(successors.root[0])]

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return the size in bytes after adding ``more`` states."""
        return self._ways.bytes_with(more) + self._states.bytes_with(more)

    def expand(
        self, numbers: NDArray[np.int64], depths: NDArray[np.int64] | int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Expand states by every move, and offer terminal successors to the incumbent.

        Args:
            numbers: numbers of the states; at most ``Successors.width`` numbers.
            depths: the depth of each state, or one depth for all states.

        Returns:
            The index in ``numbers`` of each new state's parent, and the new states, which are numbered
            consecutively.
        """
        width, key = self._successors.width, self._key
        states = key.restored(self._states.at(numbers), np.array(self._rests)[depths])
        options = self._successors.options(states)
        lengths = np.broadcast_to(depths, numbers.shape) + 1
        parents, new_states = [np.zeros(0, np.int64)], [states[:0]]
        for at in range(0, len(options.moves), width):
            sources, moves = options.sources[at : at + width], options.moves[at : at + width]
            children = self._successors.children(states[sources], moves)
            line = partial(self._line, numbers[sources], moves)
            self._incumbent.offer(children, lengths[sources], self._method, line)
            on = np.flatnonzero(~children.ended)
            new = on[self._add(key.of(children.states[on]), numbers[sources[on]], moves[on])]
            parents.append(sources[new])
            new_states.append(children.states[new])
            is_deeper = lengths[sources[new]] == len(self._rests)
            if is_deeper.any():
                self._rests.append(key.rest(children.states[new[is_deeper.argmax()]]))
        return np.concatenate(parents), np.concatenate(new_states)

    def _add(
        self, keys: NDArray[np.uint64], before: NDArray[np.int64], moves: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Add states; return the index of the first occurrence of each new state: int64 [new]."""
        count = len(self._states)
        numbers = self._states.add(keys)
        greatest = np.maximum.accumulate(numbers)
        first = np.flatnonzero((numbers >= count) & (greatest > np.concatenate(([-1], greatest[:-1]))))
        self._ways.extend(np.stack([before[first], moves[first]], axis=1).astype(np.int32))
        return first

    def _line(self, numbers: NDArray[np.int64], moves: NDArray[np.int32], child: int) -> list[int]:
        """Return the move numbers of the line to a child."""
        number, line = int(numbers[child]), [int(moves[child])]
        while number:
            number, move = self._ways.rows[number].tolist()
            line.append(move)
        return line[::-1]


@dataclass
class Incumbent:
    """The best line so far; see ``Line`` for the fields with the same names."""

    goal: int | None = None
    line: list[int] = field(default_factory=list)  # the move numbers of the line
    method: str = "none"
    states: int = 0
    most: int | None = None
    misses_goal: bool = False

    @property
    def is_best(self) -> bool:
        """Whether the goal of the line equals the upper bound."""
        return self.goal is not None and self.most is not None and self.goal >= self.most

    def offer(
        self,
        children: Children,
        lengths: int | NDArray[np.int64],
        method: str,
        line: Callable[[int], list[int]],
    ) -> None:
        """Count visited states. If the line to a terminal state beats the best line, store that line.

        Args:
            children: the visited states.
            lengths: the length of the line to each state, or one length for all states.
            method: the search that visited the states.
            line: function that returns the line to the state with a given index.
        """
        self.states += len(children.states)
        if not children.ended.any():
            return
        missing = np.isnan(children.goals)
        self.misses_goal |= bool((missing & children.ended).any())
        goals = np.where(missing, -np.inf, children.goals)
        best = int(np.lexsort((-np.broadcast_to(lengths, goals.shape), goals))[-1])
        length = int(np.broadcast_to(lengths, goals.shape)[best])
        former = -np.inf if self.goal is None else self.goal
        if goals[best] > former or (goals[best] == self.goal and length < len(self.line)):
            self.goal, self.line, self.method = int(goals[best]), line(best), method


#: Approximate maximum number of successors per step. Larger steps take more memory than the visited states.
_CHILDREN: Final = 1 << 15


class BreadthFirst:
    """Breadth-first search, until all states are visited or memory is full.

    Attributes:
        depth: the search has visited all lines up to this length, unless ``key`` omits a step counter.
        is_complete: whether all states were visited.
        is_over: whether the search has ended.
    """

    def __init__(self, successors: Successors, key: StateKey, incumbent: Incumbent, memory: int) -> None:
        self._successors, self._incumbent, self._memory = successors, incumbent, memory
        self.key = key
        self._visited = VisitedStates(successors, key, incumbent, "breadth first")
        self._done, self._layer_end = 0, 1
        self._branching, self._pace = 1.0, 1e-3
        self.depth = 0
        self.is_complete = self.is_over = False

    def step(self, seconds: float) -> None:
        """Expand as many states as the given time and the size of arrays allow."""
        visited, successors = self._visited, self._successors
        in_time = int(seconds / self._pace) + 1
        within_arrays = int(_CHILDREN / self._branching) + 1
        count = min(successors.width, in_time, within_arrays, self._layer_end - self._done)
        needed = visited.bytes_with(int(2 * self._branching * count) + 1) + successors.bytes
        if needed > self._memory or len(visited) > np.iinfo(np.int32).max // 2:
            self.is_over = True
            return
        began, before = perf_counter(), self._incumbent.states
        visited.expand(np.arange(self._done, self._done + count), self.depth)
        self._done += count
        self._branching = max(1.0, (self._incumbent.states - before) / count)
        self._pace = max(1e-7, (perf_counter() - began) / count)
        if self._done == self._layer_end:
            self.depth += 1
            self._layer_end = len(visited)
            self.is_complete = self.is_over = self._done == self._layer_end
