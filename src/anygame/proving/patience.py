"""How long provers may go on, and how they are interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class OutOfTimeError(AnygameError):
    """What was looked for was not found in the time that was given."""


class Conflicts:
    """A bound on the work of solvers, whatever the clock says.

    Args:
        thousands: of conflicts.
        whole: that this one is a part of.

    Attributes:
        left: thousands of conflicts.
    """

    def __init__(self, thousands: int, whole: Conflicts | None = None) -> None:
        self.left = thousands
        self._whole = whole

    def part(self, share: float) -> Conflicts:
        """Return the bound for a part of what is left, which is spent of the whole, too."""
        return Conflicts(ceil(self.left * share), self)

    def spend(self) -> None:
        """Note a thousand conflicts; raise an OutOfTimeError where that were too many."""
        self.left -= 1
        if self._whole is not None:
            self._whole.spend()
        if self.left < 0:
            raise OutOfTimeError("the solver has done what it may")


class Patience:
    """How long provers may go on.

    Args:
        seconds: for all that is asked with this patience.
        stop: asked now and then whether to end.
        conflicts: of all solvers that ask with this patience, or with a part of it; None for no bound.
    """

    def __init__(
        self,
        seconds: float,
        stop: Callable[[], bool] | None = None,
        conflicts: Conflicts | None = None,
    ) -> None:
        self._seconds = seconds
        self._end = monotonic() + seconds
        self._stop = stop
        self._conflicts = conflicts

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - monotonic())

    def renewed(self, seconds: float) -> Patience:
        """Return the patience for so many seconds from now, which ends likewise."""
        return Patience(seconds, self._stop, self._conflicts)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no time go by; the parts that were taken of it go on."""
        began = monotonic()
        try:
            yield
        finally:
            self._end += monotonic() - began

    def again(self) -> Patience:
        """Return the patience that begins now, as long as this one was at its start."""
        return self.renewed(self._seconds)

    def part(self, share: float) -> Patience:
        """Return the patience for a part of what is left."""
        conflicts = None if self._conflicts is None else self._conflicts.part(share)
        return Patience(self.left * share, self._stop, conflicts)

    def check(self) -> None:
        """Raise an OutOfTimeError where it has come to an end."""
        if monotonic() > self._end or (self._stop is not None and self._stop()):
            raise OutOfTimeError("the time is over")

    def spend(self) -> None:
        """Note a thousand conflicts; raise an OutOfTimeError where that were too many."""
        if self._conflicts is not None:
            self._conflicts.spend()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise a KeyboardInterrupt where Ctrl-C ends a solver, which makes another error of it."""
    try:
        yield
    except Exception as error:
        if "keyboard interrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
