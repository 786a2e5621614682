"""Distinct states, numbered in order of insertion: a hash table of packed states in native code.

It uses open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
Each word of a state is mixed into the hash by a multiplication and shifts, as in splitmix64 (Steele, Lea and
Flood 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.native.marking import Int32s, UInt64Rows, compiled, exported

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Slots of a new table: 8 KiB, so that small sets are cheap.
_FEWEST_SLOTS: Final = 2048
#: At most half of the slots are taken: a successful probe then reads 1.5 slots on average.
_SLOTS_PER_STATE: Final = 2

#: The array of states grows by a quarter, in place if the system allows it.
_GROWTH: Final = 2

#: Multiplier of splitmix64.
_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)


@exported
def _number_states(
    states: UInt64Rows, slots: Int32s, store: UInt64Rows, used: int, ids: Int32s, keep: int
) -> int:
    """Write the number of each state into ``ids``; return the number of stored states.

    A slot holds the number of a stored state plus one, or 0. A new state is stored, or without ``keep`` gets
    the number -1.
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


class StateSet:
    """A set of packed states with consecutive numbers.

    Args:
        words: 64-bit words of a state, at least one.

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
        self._count = 0
        self._store = np.zeros((_FEWEST_SLOTS // _SLOTS_PER_STATE, words), np.uint64)
        self._slots = np.zeros(_FEWEST_SLOTS, np.int32)

    def __len__(self) -> int:
        return self._count

    def part(self, first: int, end: int) -> NDArray[np.uint64]:
        """Return a copy of the states from number ``first`` to before ``end``: uint64 [n, words]."""
        return self._store[first : min(end, self._count)].copy()

    def at(self, numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return a copy of the states of some numbers: uint64 [n, words]."""
        return np.asarray(self._store[: self._count][numbers])

    @property
    def bytes(self) -> int:
        """Bytes of memory."""
        return self._store.nbytes + self._slots.nbytes

    def bytes_with(self, more: int) -> int:
        """Return the bytes of memory after ``more`` states are added, if all of them are new."""
        needed = self._count + more
        return self._capacity(needed) * self.words * 8 + self._slots_for(needed) * 4

    def add(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Add states, uint64 [n, words], and return the number of each: int32 [n]."""
        states = self._checked(states)
        self._make_room(self._count + len(states))
        ids = np.empty(len(states), np.int32)
        self._count = self._number(states, self._count, ids, keep=True)
        return ids

    def find(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each state, uint64 [n, words], or -1 if it is not in the set: int32 [n]."""
        states = self._checked(states)
        ids = np.empty(len(states), np.int32)
        self._number(states, self._count, ids, keep=False)
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

    def _capacity(self, needed: int) -> int:
        capacity = len(self._store)
        return capacity if needed <= capacity else max(needed, capacity + (capacity >> _GROWTH))

    def _make_room(self, count: int) -> None:
        if count > len(self._store):
            self._store.resize((self._capacity(count), self.words), refcheck=False)
        slots = self._slots_for(count)
        if slots != len(self._slots):
            # The old slots are freed first, since the states are rehashed into the new ones.
            self._slots = np.zeros(0, np.int32)
            self._slots = np.zeros(slots, np.int32)
            self._number(self._store[: self._count], 0, np.empty(self._count, np.int32), keep=True)

    def _number(self, states: NDArray[np.uint64], used: int, ids: NDArray[np.int32], *, keep: bool) -> int:
        count: int = _number_states(states, self._slots, self._store, used, ids, keep)
        return count
