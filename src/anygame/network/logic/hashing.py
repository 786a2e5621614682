"""Equal rows of numbers: candidates are found by hashes of whole columns, and compared in full.

Whoever writes a sheet can find rows with the same hash, so that no hash decides alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.ragged import places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


def mixed(values: Keys) -> Keys:
    """Return a hash of each number; sums of them are hashes of rows."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> np.uint64(29))


def candidates(order: Numbers, keys: Keys, lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Return which rows may equal an earlier one, and the earlier one of each; see ``equal_rows``."""
    same = np.zeros(len(order), np.bool_)
    same[1:] = (keys[order[1:]] == keys[order[:-1]]) & (lengths[order[1:]] == lengths[order[:-1]])
    leaders = order[np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))]
    return order[same], leaders[same]


def all_in_rows(lengths: Numbers, holds: Mask) -> Mask:
    """Return for rows of some lengths, one after the other, whether something holds of all elements."""
    found = np.ones(len(lengths), np.bool_)
    found[np.repeat(np.arange(len(lengths)), lengths)[~holds]] = False
    return found


def equal_rows(
    order: Numbers, keys: Keys, firsts: Numbers, lengths: Numbers, literals: Numbers
) -> tuple[Numbers, Numbers]:
    """Return which rows equal an earlier one, and the earlier one of each.

    Args:
        order: numbers of rows by ascending key.
        keys: a hash of each row.
        lengths: of each row.
        firsts: where the literals of each row begin.
        literals: of all rows, in each in the same order.
    """
    again, first = candidates(order, keys, lengths)
    counts = lengths[again]
    same = literals[places(firsts[again], counts)] == literals[places(firsts[first], counts)]
    equal = all_in_rows(counts, same)
    return again[equal], first[equal]
