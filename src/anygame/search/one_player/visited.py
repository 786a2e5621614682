"""States that were visited, each with the way that led to it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.state_set import StateSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
