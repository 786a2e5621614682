"""How long provers may go on, and how they are interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class OutOfTimeError(AnygameError):
    """What was looked for was not found in the time that was given."""


class Patience:
    """How long provers may go on.

    Args:
        seconds: for all that is asked with this patience.
        stop: asked now and then whether to end.
    """

    def __init__(self, seconds: float, stop: Callable[[], bool] | None = None) -> None:
        self._end = monotonic() + seconds
        self._stop = stop

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - monotonic())

    def renewed(self, seconds: float) -> Patience:
        """Return the patience for so many seconds from now, which ends likewise."""
        return Patience(seconds, self._stop)

    def part(self, share: float) -> Patience:
        """Return the patience for a part of the time that is left."""
        return Patience(self.left * share, self._stop)

    def check(self) -> None:
        """Raise an OutOfTimeError where it has come to an end."""
        if monotonic() > self._end or (self._stop is not None and self._stop()):
            raise OutOfTimeError("the time is over")


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise a KeyboardInterrupt where Ctrl-C ends a solver, which makes another error of it."""
    try:
        yield
    except Exception as error:
        if "keyboard interrupt" in str(error):
            raise KeyboardInterrupt from None
        raise


class Checks:
    """Ends what is asked for after so many looks at it, whatever the clock says: a ``stop`` of ``Patience``.

    A look is a question to a solver, or a thousand conflicts of it.
    """

    def __init__(self, most: int) -> None:
        self._left = most

    def __call__(self) -> bool:
        """Return whether it is time to end."""
        self._left -= 1
        return self._left < 0
