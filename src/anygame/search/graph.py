"""The graph of all states that can be reached: found breadth first, kept in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

    from anygame.language.terms import Term
    from anygame.network.state_set import StateSet

__all__ = ["MANY_STATES", "MOST_AT_A_TIME", "Expansion", "Found", "StateGraph", "explore"]

#: States expanded at a time: enough to fill lanes, few enough for their arrays to stay in the caches.
MOST_AT_A_TIME: Final = 4096
#: From so many states on, compiled loops save more than the half second that they take to load.
MANY_STATES: Final = 200_000
#: What the values of a state take: two bounds and a distance, and as much while they are computed.
_BYTES_OF_VALUES: Final = 40
#: About so many joint moves are made at a time, so that what lists them stays small beside the graph.
_EDGES: Final = 1 << 18
#: The most states: their numbers have 31 bits.
_MOST_STATES: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Found:
    """What an expansion says of some states.

    Attributes:
        options: int32 [states, roles]; how many legal moves each role has; all zero where the match is over
            and where a role that should move cannot.
        terminal: bool [states].
        goals: float [states, roles]; nan where there is no goal or several; to be read at the end alone.
        children: int32 [edges]; the state after each joint move, state after state; the move of the last role
            changes fastest.
    """

    options: NDArray[np.int32]
    terminal: NDArray[np.bool_]
    goals: NDArray[np.float64]
    children: NDArray[np.int32]


class Expansion(Protocol):
    """Numbers states from 0, the first one, in the order in which they are met."""

    def __len__(self) -> int:
        """Return how many states were met so far."""

    def expand(self, first: int, end: int) -> Found:
        """Continue a range of states by every joint move."""

    def bytes_with(self, more: int) -> int:
        """Return the bytes that it takes while so many states are met."""

    def packed(self) -> tuple[tuple[Term, ...], StateSet]:
        """Return facts, and all states by their numbers with a bit for each of these."""


@dataclass(frozen=True, slots=True)
class StateGraph:
    """States, numbered in the order of their distance from the first one, and the joint moves between them.

    Attributes:
        layers: int64 [layers + 1]; where the states of each distance begin; the last one is their number.
        expanded: how many states were continued; the others, at the end, are known by name alone.
        offsets: int64 [expanded + 1]; where the children of each state begin.
        children: int32 [edges]; see ``Found``.
        options: int32 [expanded, roles].
        ends: int64; the terminal states among the expanded ones, ascending.
        goals: float [ends, roles].
        stopped: why not all states were expanded; empty if they were.
        bytes: memory.
    """

    layers: NDArray[np.int64]
    expanded: int
    offsets: NDArray[np.int64]
    children: NDArray[np.int32]
    options: NDArray[np.int32]
    ends: NDArray[np.int64]
    goals: NDArray[np.float64]
    stopped: str
    bytes: int

    @property
    def complete(self) -> bool:
        """Whether all states were expanded."""
        return not self.stopped

    @property
    def depth(self) -> int:
        """The greatest distance at which, and below which, all states were expanded; -1 if none was."""
        return int(np.searchsorted(self.layers[1:], self.expanded, side="right")) - 1

    @property
    def states(self) -> int:
        """How many states."""
        return int(self.layers[-1])


class _Growing:
    """An array that grows at its end."""

    def __init__(self, width: int, dtype: DTypeLike) -> None:
        self._data = np.empty((MOST_AT_A_TIME, width), dtype)
        self.count = 0

    @property
    def bytes(self) -> int:
        return self._data.nbytes

    @property
    def rows(self) -> NDArray[Any]:
        return self._data[: self.count]

    def bytes_with(self, more: int) -> int:
        needed = self.count + more
        return self.bytes if needed <= len(self._data) else self.bytes * 3

    def extend(self, rows: NDArray[Any]) -> None:
        needed = self.count + len(rows)
        if needed > len(self._data):
            grown = np.empty((max(needed, 2 * len(self._data)), self._data.shape[1]), self._data.dtype)
            grown[: self.count] = self.rows
            self._data = grown
        self._data[self.count : needed] = rows
        self.count = needed


class _Exploration:
    """A graph in the making."""

    def __init__(self, expansion: Expansion, roles: int, memory: int) -> None:
        self._expansion = expansion
        self._memory = memory
        self._children, self._options = _Growing(1, np.int32), _Growing(roles, np.int32)
        self._ends, self._goals = _Growing(1, np.int64), _Growing(roles, np.float64)
        self._layers = [0, 1]
        self._width = 1.0

    def run(self, progress: Callable[[int, int], None] | None) -> str:
        """Expand states until there are no more; return why it stopped before, or nothing."""
        done = 0
        while done < self._layers[-1]:
            # The joint moves of the last states foretell those of the next, twice over.
            count = max(1, min(MOST_AT_A_TIME, int(_EDGES / self._width), self._layers[-1] - done))
            expected = int(2 * self._width * count) + 1
            needed = self._bytes_with(expected)
            if needed > self._memory:
                return f"{self._memory / 2**30:.3g} GiB do not hold them"
            if len(self._expansion) + expected > _MOST_STATES:
                return f"they are more than {_MOST_STATES:,}"
            self._enter(done, self._expansion.expand(done, done + count))
            done += count
            if done == self._layers[-1] and len(self._expansion) > done:
                self._layers.append(len(self._expansion))
            if progress:
                progress(done, len(self._expansion))
        return ""

    def _bytes_with(self, edges: int) -> int:
        per_state = self._options.bytes_with(MOST_AT_A_TIME) + self._goals.bytes_with(MOST_AT_A_TIME)
        growing = self._children.bytes_with(edges) + per_state
        values = (len(self._expansion) + edges) * _BYTES_OF_VALUES
        return self._expansion.bytes_with(edges) + growing + values

    def _enter(self, first: int, found: Found) -> None:
        over = np.flatnonzero(found.terminal)
        self._children.extend(found.children[:, None])
        self._ends.extend((first + over)[:, None])
        self._goals.extend(found.goals[over])
        # The last of all: an interrupt before it leaves these states out.
        self._options.extend(found.options)
        self._width = max(1.0, len(found.children) / len(found.options))

    def graph(self, stopped: str) -> StateGraph:
        """Return what was found."""
        expanded, found = self._options.count, len(self._expansion)
        layers = self._layers if not stopped else [n for n in self._layers if n <= expanded] + [found]
        ends = int(np.searchsorted(self._ends.rows[: self._goals.count, 0], expanded))
        offsets = np.zeros(expanded + 1, np.int64)
        np.cumsum(self._options.rows.astype(np.int64).prod(axis=1), out=offsets[1:])
        arrays = (self._children, self._options, self._ends, self._goals)
        return StateGraph(
            layers=np.array(layers, np.int64),
            expanded=expanded,
            offsets=offsets,
            children=self._children.rows[: offsets[-1], 0],
            options=self._options.rows,
            ends=self._ends.rows[:ends, 0],
            goals=self._goals.rows[:ends],
            stopped=stopped,
            bytes=self._expansion.bytes_with(0) + offsets.nbytes + sum(array.bytes for array in arrays),
        )


def explore(
    expansion: Expansion,
    roles: int,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
) -> StateGraph:
    """Find all states; stop at a bound of memory, or at Ctrl-C, with what was found.

    Args:
        expansion: continues states; it knows the first one.
        roles: how many.
        memory: bytes, those of the values to be computed later among them.
        progress: called now and then with the numbers of states expanded and found.
    """
    exploration = _Exploration(expansion, roles, memory)
    try:
        stopped = exploration.run(progress)
    except KeyboardInterrupt:
        stopped = "the search for them was ended early"
    return exploration.graph(stopped)
