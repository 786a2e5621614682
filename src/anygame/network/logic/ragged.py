"""Rows of different lengths in one array, as in the compressed rows of a sparse matrix; and sorted sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    ordered = np.sort(numbers)
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]
