"""States in and out of a block of lanes, a bit at a time turned 64 by 64 (Warren, Hacker's Delight, 7-3)."""

from __future__ import annotations

import numpy as np

from anygame.search.native.marking import compiled

LANES, WORDS = 512, 8


def words_for(bits: int) -> int:
    """Return how many words of 64 bits hold so many, at least one."""
    return max(1, -(-bits // 64))


@compiled
def turn(square):
    """Turn a square of 64 words of 64 bits, in place."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        k = 0
        while k < 64:
            for low in range(k, k + width):
                moved = ((square[low] >> shift) ^ square[low + width]) & mask
                square[low + width] ^= moved
                square[low] ^= moved << shift
            k += 2 * width
        width >>= 1
        if width:
            mask ^= mask << np.uint64(width)


@compiled
def popcount(word):
    """Return how many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def lowest_bit(word):
    """Return the number of the lowest bit that is set; there must be one."""
    return popcount(~word & (word - np.uint64(1)))


@compiled
def word_of(rows, literal, word):
    """Return a word of a bit literal: of its row, or of the opposite."""
    found = rows[literal >> 1, word]
    return ~found if literal & 1 else found


@compiled
def load_states(rows, first, fluents, lanes, states, sources, count, square):
    """Put states into lanes; the other lanes keep theirs.

    Args:
        rows: uint64 [rows, 8].
        first: the row of the first fluent.
        fluents: how many there are.
        lanes: int32 [count]; ascending.
        states: uint64 [any, words].
        sources: int32 [count]; which of the states each lane gets.
        count: how many lanes.
        square: uint64 [64], for scratch.
    """
    at = 0
    words = states.shape[1]
    while at < count:
        group = lanes[at] >> 6
        end = at
        mask = np.uint64(0)
        while end < count and lanes[end] >> 6 == group:
            mask |= np.uint64(1) << np.uint64(lanes[end] & 63)
            end += 1
        keep = ~mask
        for word in range(words):
            for bit in range(64):
                square[bit] = np.uint64(0)
            for index in range(at, end):
                square[lanes[index] & 63] = states[sources[index], word]
            turn(square)
            base = 64 * word
            for bit in range(min(64, fluents - base)):
                row = first + base + bit
                rows[row, group] = (rows[row, group] & keep) | square[bit]
        at = end


@compiled
def read_states(rows, first, fluents, count, states, square):
    """Read the states of the first lanes: uint64 [count or more, words]."""
    words = states.shape[1]
    for group in range((count + 63) >> 6):
        last = min(64, count - 64 * group)
        for word in range(words):
            base = 64 * word
            held = min(64, fluents - base)
            for bit in range(64):
                square[bit] = rows[first + base + bit, group] if bit < held else np.uint64(0)
            turn(square)
            for lane in range(last):
                states[64 * group + lane, word] = square[lane]
