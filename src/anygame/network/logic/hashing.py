"""Equal rows of numbers: candidates are found by hashes of whole columns, and compared in full.

Equal conjunctions, gates and disjunctions are all found this way. Authors of sheets can construct rows with
equal hashes, so a hash alone never decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.ragged import places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


#: Two numbers below 2**32 are packed into one, the first of them in the upper half.
SHIFT: Final = 32
LOW: Final = (1 << SHIFT) - 1


def mixed(values: Keys) -> Keys:
    """Return a hash of each number; a sum of hashes is a hash of a row."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> np.uint64(29))


def keys_of_rows(literals: Numbers, firsts: Numbers, lengths: Numbers) -> Keys:
    """Return a hash of each row of literals, whatever their order."""
    hashes = mixed(literals.astype(np.uint64) + np.uint64(1))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes)])
    keys: Keys = sums[firsts + lengths] - sums[firsts]
    return keys


def candidates(order: Numbers, keys: Keys, lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Return rows with the hash of an earlier row, and that row; see ``equal_rows``."""
    same = np.zeros(len(order), np.bool_)
    same[1:] = (keys[order[1:]] == keys[order[:-1]]) & (lengths[order[1:]] == lengths[order[:-1]])
    leaders = order[np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))]
    return order[same], leaders[same]


def all_in_rows(lengths: Numbers, holds: Mask) -> Mask:
    """Return for concatenated rows of some lengths whether all elements of each are true."""
    result = np.ones(len(lengths), np.bool_)
    result[np.repeat(np.arange(len(lengths)), lengths)[~holds]] = False
    return result


def equal_rows(
    order: Numbers, keys: Keys, firsts: Numbers, lengths: Numbers, literals: Numbers
) -> tuple[Numbers, Numbers]:
    """Return rows that equal an earlier row, and the first such row for each.

    Rows are sorted by key, a hash, in ``order``. Literals of all rows are in the same order within each row.
    """
    again, first = candidates(order, keys, lengths)
    counts = lengths[again]
    same = literals[places(firsts[again], counts)] == literals[places(firsts[first], counts)]
    equal = all_in_rows(counts, same)
    return again[equal], first[equal]
