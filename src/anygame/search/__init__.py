"""Search: exact solutions of games whose states can be counted."""

from __future__ import annotations

from anygame.search.solution import Bounds, Solution
from anygame.search.solving import solve

__all__ = ["Bounds", "Solution", "solve"]
