"""Hash table of distinct packed states, numbered in order of insertion, in native code.

The table uses open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section
6.4). The hash mixes the words of a state as in SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.native.marking import Int32s, UInt64Rows, compiled, exported

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

#: Number of slots of a new table, which takes 8 KiB.
_FEWEST_SLOTS: Final = 2048
#: Minimum number of slots per state. With 2 slots, a successful look-up reads on average at most 1.5 slots.
_SLOTS_PER_STATE: Final = 2
#: Number of rows of a new array.
_FEWEST_ROWS: Final = 4096
#: A full array of n rows grows by n shifted right by this number of bits, which is n / 4.
_GROWTH: Final = 2

#: Multiplier of SplitMix64.
_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)


@exported
def _number_states(
    states: UInt64Rows, slots: Int32s, store: UInt64Rows, used: int, ids: Int32s, keep: int
) -> int:
    """Write the number of each state to ``ids``; return how many states the store then holds.

    A slot holds the number of a stored state plus one, or 0 if the slot is free. With ``keep``, the function
    stores new states. Otherwise, the function writes -1 for new states.
    """
    mask = len(slots) - 1
    for row in range(len(states)):
        slot = np.int64(_hash(states, row)) & mask
        while slots[slot] and not _are_equal(states, row, store, slots[slot] - 1):
            slot = (slot + 1) & mask
        if keep and not slots[slot]:
            for word in range(states.shape[1]):
                store[used, word] = states[row, word]
            used += 1
            slots[slot] = used
        ids[row] = slots[slot] - 1
    return used


@compiled
def _hash(states: UInt64Rows, row: int) -> np.uint64:
    mixed = np.uint64(0)
    for word in range(states.shape[1]):
        mixed ^= states[row, word]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FACTOR
        mixed ^= mixed >> np.uint64(27)
    return mixed


@compiled
def _are_equal(states: UInt64Rows, row: int, store: UInt64Rows, other: int) -> bool:
    word, words = 0, len(states[row])
    while word < words and states[row, word] == store[other, word]:
        word += 1
    return word == words


class GrowingArray:
    """Array that grows at its end. An array of uint8 becomes an array of uint32 when a value exceeds 255."""

    def __init__(self, width: int, dtype: DTypeLike, rows: int = _FEWEST_ROWS) -> None:
        self._data = np.empty((rows, width), dtype)
        self.count = 0

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return self._data.nbytes

    @property
    def rows(self) -> NDArray[Any]:
        """The rows. Drop all views of ``rows`` before you add rows."""
        return self._data[: self.count]

    def bytes_with(self, more: int) -> int:
        """Return the size in bytes after adding ``more`` rows."""
        return self._capacity(self.count + more) * self._data.shape[1] * self._data.itemsize

    def _capacity(self, needed: int) -> int:
        capacity = len(self._data)
        return capacity if needed <= capacity else max(needed, capacity + (capacity >> _GROWTH))

    def with_room(self, more: int) -> NDArray[Any]:
        """Return the array with room for ``more`` rows. The caller writes the new rows and sets ``count``."""
        needed = self.count + more
        if needed > len(self._data):
            self._data.resize((self._capacity(needed), self._data.shape[1]), refcheck=False)
        return self._data

    def extend(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        if self._data.dtype.kind == "u" and len(rows) and rows.max() > np.iinfo(self._data.dtype).max:
            self._data = self._data.astype(np.uint32)
        self.with_room(len(rows))[self.count : self.count + len(rows)] = rows
        self.count += len(rows)


class StateSet:
    """A set of packed states with consecutive numbers.

    Args:
        words: number of 64-bit words of a state, at least one.

    >>> import numpy as np
    >>> states = StateSet(words=1)
    >>> states.add(np.array([[5], [7], [5]], np.uint64)).tolist()
    [0, 1, 0]
    >>> states.add(np.array([[9], [7]], np.uint64)).tolist(), len(states)
    ([2, 1], 3)
    >>> states.find(np.array([[9], [4]], np.uint64)).tolist()
    [2, -1]
    """

    def __init__(self, words: int) -> None:
        if words < 1:
            raise ValueError(f"expected states of at least one word, got {words}")
        self.words = words
        self._states = GrowingArray(words, np.uint64, _FEWEST_SLOTS // _SLOTS_PER_STATE)
        self._slots = np.zeros(_FEWEST_SLOTS, np.int32)

    def __len__(self) -> int:
        return self._states.count

    def at(self, numbers: NDArray[np.integer] | slice) -> NDArray[np.uint64]:
        """Return a copy of the states with given numbers: uint64 [n, words]."""
        return np.array(self._states.rows[numbers])

    @property
    def bytes(self) -> int:
        """Size in bytes."""
        return self._states.bytes + self._slots.nbytes

    def bytes_with(self, more: int) -> int:
        """Return the size in bytes after adding ``more`` states, if all added states are new."""
        return self._states.bytes_with(more) + self._slots_for(len(self) + more) * 4

    def add(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Add states, uint64 [n, words], and return the number of each: int32 [n]."""
        states = self._checked(states)
        store = self._states.with_room(len(states))
        slots = self._slots_for(len(self) + len(states))
        if slots != len(self._slots):
            # Free the old slots before the allocation of new ones. All states are rehashed from the store.
            self._slots = np.zeros(0, np.int32)
            self._slots = np.zeros(slots, np.int32)
            _number_states(self._states.rows, self._slots, store, 0, np.empty(len(self), np.int32), True)
        ids = np.empty(len(states), np.int32)
        self._states.count = int(_number_states(states, self._slots, store, len(self), ids, True))
        return ids

    def find(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each state, uint64 [n, words], or -1 if the set lacks the state: int32 [n]."""
        states = self._checked(states)
        ids = np.empty(len(states), np.int32)
        store = self._states.with_room(0)
        _number_states(states, self._slots, store, len(self), ids, False)
        return ids

    def _checked(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        states = np.ascontiguousarray(states, np.uint64)
        if states.ndim != 2 or states.shape[1] != self.words:
            raise ValueError(f"expected states [n, {self.words}], got shape {states.shape}")
        return states

    def _slots_for(self, count: int) -> int:
        slots = len(self._slots)
        while count * _SLOTS_PER_STATE > slots:
            slots *= 2
        return slots
