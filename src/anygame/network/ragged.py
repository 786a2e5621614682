"""Rows of different lengths in one array, as in a compressed sparse row matrix; and sorted sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def starts_of(lengths: Numbers) -> Numbers:
    """Return where rows of these lengths begin in one array, followed by the end of the last row.

    >>> import numpy as np
    >>> starts_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def places(firsts: Numbers, lengths: Numbers) -> Numbers:
    """Return the indices of all elements of some rows, row after row.

    >>> import numpy as np
    >>> places(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    before = np.cumsum(lengths) - lengths
    found: Numbers = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(firsts - before, lengths)
    return found


def distinct(numbers: Numbers) -> Numbers:
    """Return the distinct numbers in ascending order; ``numpy.unique`` hashes them, and takes longer.

    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers, kind="stable")  # merges runs, and most arguments consist of sorted runs
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


#: Fewer numbers are sorted faster by one call of ``numpy.argsort``.
_FEW: Final = 3_000
_DIGIT: Final = 16


def order_of(numbers: NDArray[np.int32 | np.int64 | np.uint64]) -> Numbers:
    """Return the stable sorting order of non-negative numbers, as ``numpy.argsort`` does.

    ``numpy.argsort`` uses a radix sort only for 16-bit numbers, and merges others. So this function sorts by
    the highest 32 bits as two 16-bit digits. If lower bits remain, ``argsort`` merges the nearly sorted rest.

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
    """Return per node the longest path down to a node that reads none; -1 in cycles and above them.

    Args:
        reader: per edge of a graph, the node that reads.
        read: per edge, the node that is read.
        count: number of nodes.

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
