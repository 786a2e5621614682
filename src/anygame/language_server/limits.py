"""Bounds of the language server."""

from __future__ import annotations

from typing import Final

from anygame.language.limits import Limits, ReadingLimits

#: Somebody waits while typing. The largest public sheets have half a megabyte and 150,000 tokens.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=10.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, problems=200, seconds=10.0),
)
