"""Rows of different lengths in one array, as in the compressed rows of a sparse matrix; and sorted sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def starts_of(lengths: Numbers) -> Numbers:
    """Return where rows of some lengths begin, and behind them all where the last one ends.

    >>> import numpy as np
    >>> starts_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def places(firsts: Numbers, lengths: Numbers) -> Numbers:
    """Return where the elements of some rows lie, row after row.

    >>> import numpy as np
    >>> places(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    before = np.cumsum(lengths) - lengths
    found: Numbers = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(firsts - before, lengths)
    return found


def distinct(numbers: Numbers) -> Numbers:
    """Return some numbers in ascending order, each once (``numpy.unique`` hashes, and takes longer).

    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers, kind="stable")  # by merging runs, of which most that comes here is made
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


#: Fewer numbers are sorted faster in one go.
_FEW: Final = 3_000
_DIGIT: Final = 16


def order_of(numbers: NDArray[np.int32 | np.int64 | np.uint64]) -> Numbers:
    """Return the places of some numbers, none negative, in ascending order; equal ones stay in order.

    It is what ``numpy.argsort`` returns. That merges; but numbers of sixteen bits it puts where they belong,
    digit by digit. So many numbers in no order are sorted by two such digits of theirs, the highest ones,
    and merged from there.

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
    """Return how far each node lies above those that read none; -1 in cycles, and above them.

    Args:
        reader: per edge of a graph, the node that reads.
        read: per edge, the node that it reads.
        count: how many nodes there are.

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
