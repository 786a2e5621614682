"""Search: what play is worth, found by trying it; exact solutions of games whose states can be counted."""

from __future__ import annotations

from anygame.search.analysis import Analysis, MoveAnalysis
from anygame.search.searching import Search
from anygame.search.solution import Bounds, Solution
from anygame.search.solving import solve

__all__ = ["Analysis", "Bounds", "MoveAnalysis", "Search", "Solution", "solve"]
