"""Operations on arrays of numbers, and on rows of different lengths in one array, as in a CSR matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Keys = NDArray[np.uint64]


def starts_of(lengths: Numbers) -> Numbers:
    """Return the index at which each row begins, and the end of the last row, given the rows' lengths.

    >>> import numpy as np
    >>> starts_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def places(firsts: Numbers, lengths: Numbers) -> Numbers:
    """Return the indices of all elements of several rows, row after row.

    >>> import numpy as np
    >>> places(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    before = np.cumsum(lengths) - lengths
    indices: Numbers = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(firsts - before, lengths)
    return indices


def distinct(numbers: Numbers) -> Numbers:
    """Return the distinct numbers in ascending order, faster than ``numpy.unique``, which hashes them.

    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers, kind="stable")  # a merge sort, which is fast for sorted runs
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


#: Minimum length of an array that is sorted by digits. For shorter arrays, ``numpy.argsort`` is faster.
_FEW: Final = 3_000
#: Number of bits of a digit.
_DIGIT: Final = 16


def order_of(numbers: NDArray[np.int32 | np.int64 | np.uint64]) -> Numbers:
    """Return the stable sorting order of non-negative numbers, as ``numpy.argsort`` does.

    ``numpy.argsort`` uses a radix sort for 16-bit numbers, and a merge sort for larger numbers. So this
    function sorts by the highest 32 bits as two 16-bit digits. If the numbers have more bits, a merge sort of
    the nearly sorted numbers follows.

    >>> import numpy as np
    >>> order_of(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if len(numbers) < _FEW:
        return np.argsort(numbers, kind="stable")
    bits = int(numbers.max()).bit_length()
    order = np.argsort((numbers >> max(0, bits - 2 * _DIGIT)).astype(np.uint16), kind="stable")
    if bits > _DIGIT:
        high = (numbers >> max(_DIGIT, bits - _DIGIT)).astype(np.uint16)
        order = order[np.argsort(high[order], kind="stable")]
    if bits > 2 * _DIGIT:
        order = order[np.argsort(numbers[order], kind="stable")]
    return order


def levels_of(reader: Numbers, read: Numbers, count: int) -> Numbers:
    """Return per node the length of the longest path that begins at the node, or -1 if a path has a cycle.

    The edges of the graph lead from the nodes ``reader`` to the nodes ``read``.

    >>> import numpy as np
    >>> levels_of(np.array([1, 2, 2, 3, 4]), np.array([0, 0, 1, 4, 3]), 5).tolist()
    [0, 1, 2, -1, -1]
    """
    waiting = np.bincount(reader, minlength=count)
    starts = starts_of(np.bincount(read, minlength=count))
    reader = reader[order_of(read)]
    levels = np.full(count, -1, np.int64)
    ready = np.flatnonzero(waiting == 0)
    number = 0
    while len(ready):
        levels[ready] = number
        number += 1
        readers = reader[places(starts[ready], starts[ready + 1] - starts[ready])]
        np.subtract.at(waiting, readers, 1)
        ready = distinct(readers[waiting[readers] == 0])
    return levels


#: Two numbers below 2**32 are packed into one number: the second takes this many lower bits.
SHIFT: Final = 32
#: Mask of the lower ``SHIFT`` bits.
LOW: Final = (1 << SHIFT) - 1


def mixed(values: Keys) -> Keys:
    """Return a hash of each number. The sum of a row's hashes is a hash of the row."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> np.uint64(29))


def keys_of_rows(literals: Numbers, firsts: Numbers, lengths: Numbers) -> Keys:
    """Return a hash of each row of literals, independent of their order."""
    hashes = mixed(literals.astype(np.uint64) + np.uint64(1))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(hashes)])
    keys: Keys = sums[firsts + lengths] - sums[firsts]
    return keys


def candidates(order: Numbers, keys: Keys, lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Return each row with the same hash as an earlier row, and the first row with this hash."""
    same = np.zeros(len(order), np.bool_)
    same[1:] = (keys[order[1:]] == keys[order[:-1]]) & (lengths[order[1:]] == lengths[order[:-1]])
    leaders = order[np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))]
    return order[same], leaders[same]


def all_in_rows(lengths: Numbers, holds: Mask) -> Mask:
    """Return per row whether all its elements are true, given the rows' lengths and all elements."""
    result = np.ones(len(lengths), np.bool_)
    result[np.repeat(np.arange(len(lengths)), lengths)[~holds]] = False
    return result


def same_rows(some: Numbers, others: Numbers, firsts: Numbers, lengths: Numbers, literals: Numbers) -> Mask:
    """Return which pairs of rows have the same literals in the same order."""
    same_length = lengths[some] == lengths[others]
    counts = np.where(same_length, lengths[some], 0)
    same = literals[places(firsts[some], counts)] == literals[places(firsts[others], counts)]
    equal: Mask = same_length & all_in_rows(counts, same)
    return equal


def equal_rows(
    order: Numbers, keys: Keys, firsts: Numbers, lengths: Numbers, literals: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the rows that equal an earlier row, and for each of them the first equal row.

    ``keys`` are hashes of the rows, and ``order`` sorts the rows by key. Rows of the same literals are equal
    only if the literals are in the same order.
    """
    again, first = candidates(order, keys, lengths)
    equal = same_rows(again, first, firsts, lengths, literals)
    return again[equal], first[equal]
