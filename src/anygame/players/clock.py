"""Clocks: the time that a player has left."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from threading import Event

#: Safety margin for slow networks: share of the clock, and maximum number of seconds.
_MARGIN_SHARE: Final = 0.1
_LONGEST_MARGIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Clock:
    """Time until an answer is due; the safety margin is already subtracted.

    >>> clock = Clock.of(30)
    >>> clock.seconds, clock.is_up, 29 < clock.remaining() < 30
    (30, False, True)
    >>> Clock.of(0).is_up, Clock.endless().remaining()
    (True, inf)

    Attributes:
        seconds: length of the clock at its start.
        deadline: time at which the clock is up, on the clock of `time.monotonic`.
        cancelled: event that ends the clock early, as the answer is no longer needed; None if there is none.
    """

    seconds: float
    deadline: float
    cancelled: Event | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, seconds: float, *, margin: float | None = None) -> Clock:
        """Start a clock now.

        Args:
            seconds: time limit of the answer.
            margin: safety margin in seconds; by default a tenth of the clock, at most half a second.
        """
        taken = margin_of(seconds) if margin is None else margin
        return cls(seconds, monotonic() + max(0.0, seconds - taken))

    @classmethod
    def endless(cls) -> Clock:
        """Return a clock that is never up."""
        return cls(inf, inf)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due, or no longer needed."""
        return not self.remaining()

    def remaining(self) -> float:
        """Return the seconds left, at least 0."""
        if self.cancelled is not None and self.cancelled.is_set():
            return 0.0
        return max(0.0, self.deadline - monotonic())


def margin_of(seconds: float) -> float:
    """Return the default safety margin of a clock, in seconds."""
    return min(_LONGEST_MARGIN, seconds * _MARGIN_SHARE)
