"""How long provers may go on, and how they are interrupted."""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Conflicts of a solver between two looks at the clock; and that times the literals of its formula, most of
#: which one conflict may set: where they are two million, a thousand conflicts took three minutes.
_CONFLICTS: Final = 1_000
_WORK: Final = 10_000_000


class OutOfTimeError(AnygameError):
    """What was looked for was not found in the time that was given."""


class Conflicts:
    """A bound on the work of solvers, whatever the clock says.

    Args:
        left: conflicts that solvers may have.
        whole: that this one is a part of.

    Attributes:
        left: conflicts.
    """

    def __init__(self, left: int, whole: Conflicts | None = None) -> None:
        self.left = left
        self._whole = whole

    def part(self, share: float) -> Conflicts:
        """Return the bound for a part of what is left, which is spent of the whole, too."""
        return Conflicts(ceil(self.left * share), self)

    def spend(self, conflicts: int) -> None:
        """Note some conflicts; raise an OutOfTimeError where that were too many."""
        self.left -= conflicts
        if self._whole is not None:
            self._whole.spend(conflicts)
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

    def spend(self, conflicts: int) -> None:
        """Note some conflicts; raise an OutOfTimeError where that were too many."""
        if self._conflicts is not None:
            self._conflicts.spend(conflicts)


def solve(solver: Any, assumptions: Sequence[int], literals: int, patience: Patience) -> bool:
    """Return whether a formula has an assignment, with looks at the clock that do not depend on it.

    Args:
        solver: of PySAT, with the formula.
        assumptions: literals that hold, too.
        literals: of all clauses of the formula.
        patience: how long it may take.
    """
    conflicts = max(1, min(_CONFLICTS, _WORK // max(1, literals)))
    while True:
        patience.check()
        solver.conf_budget(conflicts)
        with _interruptible():
            found = solver.solve_limited(assumptions=assumptions)
        if found is not None:
            return bool(found)
        patience.spend(conflicts)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise a KeyboardInterrupt where Ctrl-C ends a solver, which makes another error of it."""
    try:
        yield
    except Exception as error:
        if "keyboard interrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
