"""Facts that exclude each other: of these no two hold in any state that play can lead to.

A network may rely on that. Positions that come from elsewhere are looked at here first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


class Exclusions:
    """Groups of fluents that exclude each other.

    Args:
        groups: int [fluents] each: the number of the group that a fluent is in, -1 for none. A fluent may be
            in a group of each array.
    """

    def __init__(self, groups: Sequence[Numbers] = ()) -> None:
        self.groups = tuple(groups)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def pair_among(self, fluents: Iterable[int]) -> tuple[int, int] | None:
        """Return two of some fluents that exclude each other; None if all of them can hold together."""
        present = np.unique(np.fromiter(fluents, np.int64))
        for groups in self.groups:
            numbers = present[np.argsort(groups[present], kind="stable")]
            for one, other in pairwise(numbers.tolist()):
                if groups[one] == groups[other] >= 0:
                    return one, other
        return None

    def pair_in(self, states: NDArray[Any]) -> tuple[int, int, int] | None:
        """Return the first of some states that cannot be, and why; None if all can.

        Args:
            states: truth values [states, fluents].

        Returns:
            The number of the state, and two of its fluents that exclude each other.
        """
        for groups in self.groups:
            members = np.flatnonzero(groups >= 0)
            order = members[np.argsort(groups[members], kind="stable")]
            if not len(order):
                continue
            starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
            several = (np.add.reduceat(states[:, order].astype(np.int64), starts, axis=1) > 1).any(axis=1)
            for state in np.flatnonzero(several)[:1].tolist():
                pair = self.pair_among(np.flatnonzero(states[state]).tolist())
                assert pair is not None
                return state, *pair
        return None
