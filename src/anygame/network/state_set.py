"""Distinct states, numbered in order of insertion: a hash table of packed states in native code.

It uses open addressing with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
Each word of a state is mixed into the hash by a multiplication and shifts, as in splitmix64 (Steele, Lea and
Flood 2014).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.native.code import compile_library

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.native.code import Library

#: Slots of a new table: 8 KiB, so that small sets are cheap.
_FEWEST_SLOTS: Final = 2048
#: At most half of the slots are taken: a successful probe then reads 1.5 slots on average.
_SLOTS_PER_STATE: Final = 2

#: The array of states grows by a quarter, in place if the system allows it.
_GROWTH: Final = 2

_CODE: Final = """
define i64 @number(ptr %keys, i64 %n, i64 %words, ptr noalias %slots, i64 %mask, ptr %store,
                  i64 %used, ptr noalias %ids, i1 %keep) {
entry:
  br label %state
state:                                            ; for each of n states
  %i = phi i64 [ 0, %entry ], [ %i.next, %known ]
  %count = phi i64 [ %used, %entry ], [ %count.next, %known ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %start, label %end
start:
  %from = mul i64 %i, %words
  %key = getelementptr i64, ptr %keys, i64 %from
  br label %mix
mix:                                              ; hash its words
  %w = phi i64 [ 0, %start ], [ %w.next, %mix ]
  %hash = phi i64 [ 0, %start ], [ %hash.next, %mix ]
  %word.at = getelementptr i64, ptr %key, i64 %w
  %word = load i64, ptr %word.at
  %joined = xor i64 %hash, %word
  %shifted = lshr i64 %joined, 30
  %folded = xor i64 %joined, %shifted
  %spread = mul i64 %folded, -4658895280553007687
  %high = lshr i64 %spread, 27
  %hash.next = xor i64 %spread, %high
  %w.next = add i64 %w, 1
  %mixed = icmp eq i64 %w.next, %words
  br i1 %mixed, label %probe, label %mix
probe:                                            ; look at slots until it or an empty one is found
  %at = phi i64 [ %hash.next, %mix ], [ %at.next, %other ]
  %slot = and i64 %at, %mask
  %slot.at = getelementptr i32, ptr %slots, i64 %slot
  %id = load i32, ptr %slot.at
  %empty = icmp eq i32 %id, 0
  br i1 %empty, label %new, label %taken
taken:
  %old = sub i32 %id, 1
  %old.wide = zext i32 %old to i64
  %old.from = mul i64 %old.wide, %words
  %old.key = getelementptr i64, ptr %store, i64 %old.from
  br label %compare
compare:
  %c = phi i64 [ 0, %taken ], [ %c.next, %same ]
  %mine.at = getelementptr i64, ptr %key, i64 %c
  %mine = load i64, ptr %mine.at
  %theirs.at = getelementptr i64, ptr %old.key, i64 %c
  %theirs = load i64, ptr %theirs.at
  %equal = icmp eq i64 %mine, %theirs
  br i1 %equal, label %same, label %other
same:
  %c.next = add i64 %c, 1
  %all = icmp eq i64 %c.next, %words
  br i1 %all, label %known, label %compare
other:
  %at.next = add i64 %slot, 1
  br label %probe
new:
  br i1 %keep, label %kept, label %known
kept:
  %count.small = trunc i64 %count to i32
  %number = add i32 %count.small, 1
  store i32 %number, ptr %slot.at
  %to = mul i64 %count, %words
  %copy.to = getelementptr i64, ptr %store, i64 %to
  %bytes = shl i64 %words, 3
  call void @llvm.memmove.p0.p0.i64(ptr %copy.to, ptr %key, i64 %bytes, i1 false)
  %count.more = add i64 %count, 1
  br label %known
known:
  %found = phi i32 [ %old, %same ], [ %count.small, %kept ], [ -1, %new ]
  %count.next = phi i64 [ %count, %same ], [ %count.more, %kept ], [ %count, %new ]
  %id.at = getelementptr i32, ptr %ids, i64 %i
  store i32 %found, ptr %id.at
  %i.next = add i64 %i, 1
  br label %state
end:
  ret i64 %count
}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""


@cache
def _library() -> Library:
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    parameters = (pointer, number, number, pointer, number, pointer, number, pointer, ctypes.c_bool)
    return compile_library(_CODE, {"number": (number, *parameters)})


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
        """Write the number of each state into ``ids``. A new state is kept, or gets -1 without ``keep``."""
        count: int = _library()["number"](
            states.ctypes.data,
            len(states),
            self.words,
            self._slots.ctypes.data,
            len(self._slots) - 1,
            self._store.ctypes.data,
            used,
            ids.ctypes.data,
            keep,
        )
        return count
