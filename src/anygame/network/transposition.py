"""Turning bits: 64 states of 64 fluents each become 64 fluents of 64 states each, and back.

By halves, quarters and so on (Warren, Hacker's Delight, section 7-3), with all blocks of an array at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What changes places in each step: squares of so many bits, the lower half of every two.
_STEPS: Final = tuple(
    (width, np.uint64(sum(((1 << width) - 1) << at for at in range(0, 64, 2 * width))))
    for width in (32, 16, 8, 4, 2, 1)
)


def transpose_bits(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return blocks of 64 words, uint64 [..., 64], with bit i of word j at bit j of word i.

    >>> import numpy as np
    >>> block = np.zeros(64, np.uint64)
    >>> block[3] = 1 << 5
    >>> turned = transpose_bits(block)
    >>> np.flatnonzero(turned).tolist(), int(turned[5]) == 1 << 3
    ([5], True)
    """
    turned = np.array(words, np.uint64, order="C")
    for width, mask in _STEPS:
        halves = turned.reshape(-1, 2, width)
        low, high = halves[:, 0], halves[:, 1]
        moved = low >> np.uint64(width)
        moved ^= high
        moved &= mask
        high ^= moved
        moved <<= np.uint64(width)
        low ^= moved
    return turned
