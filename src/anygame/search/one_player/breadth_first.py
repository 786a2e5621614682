"""Breadth-first search, and two classes that other searches use too: visited states and the best line.

Breadth-first search visits all states in the order of their distance until memory is used up. So the first
line to a goal is a shortest one. After all states are visited, a goal that was not found cannot be reached.
"""

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
    """Visited states, numbered from 0, each with its predecessor and the move between them."""

    def __init__(self, successors: Successors, key: StateKey, incumbent: Incumbent, method: str) -> None:
        self._successors, self._key = successors, key
        self._incumbent, self._method = incumbent, method
        root = key.of(successors.root)
        self._states, self._ways = StateSet(root.shape[1]), GrowingArray(2, np.int32)
        self._states.add(root)
        self._ways.extend(np.full((1, 2), -1, np.int32))
        # The part of states outside their keys, by the number of moves that lead to them.
        self._rests = [key.rest(successors.root[0])]

    def __len__(self) -> int:
        return len(self._states)

    def bytes_with(self, more: int) -> int:
        """Return the memory in bytes after adding new states."""
        return self._ways.bytes_with(more) + self._states.bytes_with(more)

    def expand(
        self, numbers: NDArray[np.int64], depths: NDArray[np.int64] | int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Expand states by every move, and offer terminal states to the incumbent.

        Args:
            numbers: numbers of the states; at most as many as the width of the successors.
            depths: the number of moves that lead to each state, or one number for all states.

        Returns:
            The indices of the parents of the new states in ``numbers``, and the new states. New states have
            consecutive numbers.
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
            for depth in np.unique(lengths[sources[new]]).tolist():
                if depth == len(self._rests):
                    child = new[int((lengths[sources[new]] == depth).argmax())]
                    self._rests.append(key.rest(children.states[child]))
        return np.concatenate(parents), np.concatenate(new_states)

    def _add(
        self, keys: NDArray[np.uint64], before: NDArray[np.int64], moves: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Add states; return the index of the first occurrence of each new one: int64 [new]."""
        count = len(self._states)
        numbers = self._states.add(keys)
        greatest = np.maximum.accumulate(numbers)
        first = np.flatnonzero((numbers >= count) & (greatest > np.concatenate(([-1], greatest[:-1]))))
        self._ways.extend(np.stack([before[first], moves[first]], axis=1).astype(np.int32))
        return first

    def _line(self, numbers: NDArray[np.int64], moves: NDArray[np.int32], child: int) -> list[int]:
        """Return the numbers of the moves from the first state to a child."""
        number, line = int(numbers[child]), [int(moves[child])]
        while number:
            number, move = self._ways.rows[number].tolist()
            line.append(move)
        return line[::-1]


@dataclass
class Incumbent:
    """The best line so far.

    Attributes:
        goal: the goal at the end of the line; None if no search has visited a terminal state with a goal.
        line: the numbers of the moves of the line.
        method: the search that found the line.
        states: number of states visited by all searches.
        most: upper bound of the goals that can be reached; None if no bound is known.
        misses_goal: whether a search has visited a terminal state without a goal.
    """

    goal: int | None = None
    line: list[int] = field(default_factory=list)
    method: str = "none"
    states: int = 0
    most: int | None = None
    misses_goal: bool = False

    @property
    def is_best(self) -> bool:
        """Whether the line leads to the greatest goal that can be reached."""
        return self.goal is not None and self.most is not None and self.goal >= self.most

    def offer(
        self,
        children: Children,
        lengths: int | NDArray[np.int64],
        method: str,
        line: Callable[[int], list[int]],
    ) -> None:
        """Count visited states, and keep the line to the best terminal state among them.

        Args:
            children: the visited states.
            lengths: the number of moves that lead to each state, or one number for all states.
            method: the search that visited the states.
            line: returns the numbers of the moves that lead to the state with a given index.
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


#: Approximate number of children made at a time, so that their arrays stay smaller than the visited states.
_CHILDREN: Final = 1 << 15


class BreadthFirst:
    """Breadth-first search from the first state.

    Attributes:
        depth: number of moves up to which all lines were visited, except to goals that the key can miss.
        is_complete: whether all states were visited.
        is_over: whether the search has ended, because all states were visited or memory is used up.
    """

    def __init__(self, successors: Successors, key: StateKey, incumbent: Incumbent, memory: int) -> None:
        self._successors, self._incumbent, self._memory = successors, incumbent, memory
        self.key = key
        self._visited = VisitedStates(successors, key, incumbent, "breadth first")
        self._done, self._layer_end = 0, 1
        self._branching, self._pace = 1.0, 1e-3
        self.depth = 0
        self.is_complete = self.is_over = False

    def advance(self, seconds: float) -> None:
        """Search for about the given number of seconds."""
        until = perf_counter() + seconds
        while not self.is_over and (remaining := until - perf_counter()) > 0:
            in_time = int(remaining / self._pace) + 1
            within_arrays = int(_CHILDREN / self._branching) + 1
            self._expand(min(self._successors.width, in_time, within_arrays, self._layer_end - self._done))

    def _expand(self, count: int) -> None:
        visited, successors = self._visited, self._successors
        began, first = perf_counter(), self._done
        needed = visited.bytes_with(int(2 * self._branching * count) + 1) + successors.bytes
        if needed > self._memory or len(visited) > np.iinfo(np.int32).max // 2:
            self.is_over = True
            return
        before = self._incumbent.states
        visited.expand(np.arange(first, first + count), self.depth)
        self._done += count
        self._branching = max(1.0, (self._incumbent.states - before) / count)
        self._pace = max(1e-7, (perf_counter() - began) / count)
        if self._done == self._layer_end:
            self.depth += 1
            self._layer_end = len(visited)
            self.is_complete = self.is_over = self._done == self._layer_end
