"""Equal disjunctions: what holds where one of the same literals does is the same, however it is put together.

::

    a = x or y        b = y or z        c = a or z        d = x or b

Here ``c`` is ``d``: either holds where ``x``, ``y`` or ``z`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.logic.hashing import equal_rows, mixed
from anygame.network.ragged import distinct, order_of, places, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_SHIFT: Final = 32
_LOW: Final = (1 << _SHIFT) - 1
#: Disjunctions of disjunctions are followed so deep.
_MOST_LEVELS: Final = 8
#: What has more literals in the end counts as one.
_MOST_LITERALS: Final = 100


def equal_disjunctions(owners: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return disjunctions that are equal to others.

    Args:
        owners: int64 [literals], ascending; the number of the disjunction that has each.
        literals: int64 [literals]; twice such a number or another one, plus one where it is inverted.

    Returns:
        Numbers of disjunctions, and for each the one that is equal; none of these depends on the former.
    """
    count = int(max(owners.max(initial=0), literals.max(initial=0) >> 1)) + 1
    lengths = np.bincount(owners, minlength=count)
    starts = starts_of(lengths)
    #: Where the literals of each are in the end, and how many: -1 where that is not known, or it is none.
    firsts, sizes = np.zeros(count, np.int64), np.where(lengths > 0, -1, 0)
    found = np.zeros(0, np.int64)
    levels: list[Numbers] = []
    pending = np.flatnonzero(lengths)
    for _ in range(_MOST_LEVELS):
        of = np.repeat(pending, lengths[pending])
        read = literals[places(starts[pending], lengths[pending])]
        is_part = (read & 1 == 0) & (lengths[read >> 1] > 0)
        blocked = np.zeros(count, np.bool_)
        blocked[of[is_part & (sizes[read >> 1] < 0)]] = True
        fits = ~blocked[of]
        of, read, is_part = of[fits], read[fits], is_part[fits]
        inner = read[is_part] >> 1
        whole = np.concatenate(
            [
                of[~is_part] << _SHIFT | read[~is_part],
                np.repeat(of[is_part], sizes[inner]) << _SHIFT | found[places(firsts[inner], sizes[inner])],
            ]
        )
        whole = distinct(whole)
        level = distinct(whole >> _SHIFT)
        held = np.bincount(whole >> _SHIFT, minlength=count)
        firsts[level] = len(found) + np.searchsorted(whole >> _SHIFT, level)
        sizes[level] = held[level]
        found = np.concatenate([found, whole & _LOW])
        # What is too large stands for itself where it is read.
        lengths[level[held[level] > _MOST_LITERALS]] = 0
        levels.append(level[held[level] <= _MOST_LITERALS])
        pending = pending[blocked[pending]]
        if not len(pending) or not len(level):
            break
    return _equal(np.concatenate(levels), firsts, sizes, found)


def _equal(numbers: Numbers, firsts: Numbers, sizes: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return which sets of literals are there before, and which ones these are."""
    sums = np.cumsum(mixed(literals.astype(np.uint64) + np.uint64(1)))
    sums = np.concatenate([np.zeros(1, np.uint64), sums])
    firsts, sizes = firsts[numbers], sizes[numbers]
    keys = sums[firsts + sizes] - sums[firsts]
    # Stable: of equal ones, the first is of the lowest level.
    again, first = equal_rows(order_of(keys), keys, firsts, sizes, literals)
    return numbers[again], numbers[first]
