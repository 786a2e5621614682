"""Random rows: eight generators xoshiro256++ side by side, a 64-bit word of a row each.

Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021. They are seeded as the authors
say, by splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import WORDS
from anygame.network.kernels.rows import RANDOM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.kernels.function import FunctionBuilder

#: The state of the generators takes so many rows, from row RANDOM on.
STATE_ROWS = 4
_GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


class Xoshiro:
    """xoshiro256++ inside a function: state from the rows into registers, and back."""

    def __init__(self, code: FunctionBuilder) -> None:
        self._code = code
        self._state = [code.variable(code.load(RANDOM + number)) for number in range(STATE_ROWS)]

    def row(self) -> str:
        """Return 512 random bits."""
        code = self._code
        s0, s1, s2, s3 = (code.read(pointer) for pointer in self._state)
        result = code.add(code.rotate_left(code.add(s0, s3), 23), s0)
        shifted = code.shift_left(s1, 17)
        s2 = code.xor(s2, s0)
        s3 = code.xor(s3, s1)
        s1 = code.xor(s1, s2)
        s0 = code.xor(s0, s3)
        s2 = code.xor(s2, shifted)
        s3 = code.rotate_left(s3, 45)
        for pointer, value in zip(self._state, (s0, s1, s2, s3), strict=True):
            code.write(pointer, value)
        return result

    def save(self) -> None:
        """Put the state back into its rows."""
        for number, pointer in enumerate(self._state):
            self._code.store(RANDOM + number, self._code.read(pointer))


def seed_rows(seed: int, block: int) -> NDArray[np.uint64]:
    """Return the state of the generators of a block, uint64 [4, 8]: splitmix64 of the seed and the block.

    Each half of the state is drawn from the seed and the block alone, so blocks may be played in any order.
    """
    words = []
    state = _mix(_mix(seed & _WORD) ^ _mix(_mix(seed >> 64 & _WORD) + 1) ^ _mix(block + 2))
    for _ in range(STATE_ROWS * WORDS):
        state = (state + _GOLDEN) & _WORD
        words.append(_mix(state))
    return np.array(words, np.uint64).reshape(STATE_ROWS, WORDS)


def _mix(word: int) -> int:
    """Return the output function of splitmix64."""
    word &= _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)
