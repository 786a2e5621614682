"""Equal disjunctions: two are equal if they flatten to the same literals.

::

    a = x or y        b = y or z        c = a or z        d = x or b

Here ``c`` equals ``d``: both hold if ``x``, ``y`` or ``z`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.logic.hashing import LOW, SHIFT, equal_rows, keys_of_rows
from anygame.network.ragged import distinct, order_of, places, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: Maximum nesting of disjunctions that is followed.
_MOST_LEVELS: Final = 8
#: Maximum number of literals of a flattened disjunction; a larger disjunction counts as a literal.
_MOST_LITERALS: Final = 100


def equal_disjunctions(owners: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return disjunctions that equal other disjunctions.

    Args:
        owners: int64 [literals], ascending; the number of the disjunction of each literal.
        literals: int64 [literals]; twice a number of a disjunction or another node, plus one if inverted.

    Returns:
        Numbers of redundant disjunctions, and for each an equal one that does not depend on it.
    """
    count = int(max(owners.max(initial=0), literals.max(initial=0) >> 1)) + 1
    lengths = np.bincount(owners, minlength=count)
    starts = starts_of(lengths)
    #: Start and number of the flattened literals of each node; -1 if unknown, 0 if not a disjunction.
    firsts, sizes = np.zeros(count, np.int64), np.where(lengths > 0, -1, 0)
    flattened = np.zeros(0, np.int64)
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
                of[~is_part] << SHIFT | read[~is_part],
                np.repeat(of[is_part], sizes[inner]) << SHIFT
                | flattened[places(firsts[inner], sizes[inner])],
            ]
        )
        whole = distinct(whole)
        level = distinct(whole >> SHIFT)
        held = np.bincount(whole >> SHIFT, minlength=count)
        firsts[level] = len(flattened) + np.searchsorted(whole >> SHIFT, level)
        sizes[level] = held[level]
        flattened = np.concatenate([flattened, whole & LOW])
        # A disjunction that is too large counts as a literal.
        lengths[level[held[level] > _MOST_LITERALS]] = 0
        levels.append(level[held[level] <= _MOST_LITERALS])
        pending = pending[blocked[pending]]
        if not len(pending) or not len(level):
            break
    return _equal(np.concatenate(levels), firsts, sizes, flattened)


def _equal(numbers: Numbers, firsts: Numbers, sizes: Numbers, literals: Numbers) -> tuple[Numbers, Numbers]:
    """Return the disjunctions whose literals occurred before, and the first occurrence of each."""
    firsts, sizes = firsts[numbers], sizes[numbers]
    keys = keys_of_rows(literals, firsts, sizes)
    # The sort is stable, so the first of several equal disjunctions has the lowest level.
    again, first = equal_rows(order_of(keys), keys, firsts, sizes, literals)
    return numbers[again], numbers[first]
