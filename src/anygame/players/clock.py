"""Clocks: how long a player may still think."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Final

#: Of a short clock a tenth is enough for the way back; half a second covers the slowest networks.
_MARGIN_SHARE: Final = 0.1
_LONGEST_MARGIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Clock:
    """Time until an answer is due, a margin for its way already taken off.

    >>> clock = Clock.of(30)
    >>> clock.seconds, clock.is_up, 29 < clock.remaining() < 30
    (30, False, True)
    >>> Clock.of(0).is_up, Clock.endless().remaining()
    (True, inf)

    Attributes:
        seconds: how long the clock was when it was started.
        deadline: when it is up, as `time.monotonic` counts.
    """

    seconds: float
    deadline: float

    @classmethod
    def of(cls, seconds: float, *, margin: float | None = None) -> Clock:
        """Start a clock now.

        Args:
            seconds: after which the answer must be there.
            margin: seconds that are kept back for its way; by default a tenth, at most half a second.
        """
        taken = margin_of(seconds) if margin is None else margin
        return cls(seconds, monotonic() + max(0.0, seconds - taken))

    @classmethod
    def endless(cls) -> Clock:
        """Return a clock that is never up."""
        return cls(inf, inf)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due."""
        return monotonic() >= self.deadline

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.deadline - monotonic())


def margin_of(seconds: float) -> float:
    """Return the margin that is usual for a clock, in seconds."""
    return min(_LONGEST_MARGIN, seconds * _MARGIN_SHARE)
