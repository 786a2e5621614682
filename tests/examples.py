"""How many random examples the laws are tried on: few in every run of the tests, many now and then."""

from __future__ import annotations

import os
from typing import Final

__all__ = ["examples"]

_TIMES: Final = int(os.environ.get("ANYGAME_EXAMPLES") or 1)


def examples(count: int) -> int:
    """Return how many examples a law is tried on: so many, or ANYGAME_EXAMPLES times as many."""
    return count * _TIMES
