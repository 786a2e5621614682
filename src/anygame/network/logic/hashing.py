"""Hashes of whole columns of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]

#: Odd constants for two multiplicative hashes: keys are as good as certain where both agree.
SEEDS: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03))


def mixed(values: Keys, seed: np.uint64 = SEEDS[0]) -> Keys:
    """Return a hash of each number; sums of them are hashes of rows."""
    values = values * seed
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return values ^ (values >> np.uint64(29))
