"""Limits of provers on time and solver conflicts.

A function with an argument of class `Patience` raises an `OutOfTimeError` when the limit is reached.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Maximum number of conflicts between two checks of the time limit.
_CONFLICTS: Final = 1_000
#: Maximum number of conflicts times number of literals between two checks. A conflict can set most literals:
#: with 2 million literals, 1,000 conflicts took 3 minutes.
_WORK: Final = 10_000_000


class OutOfTimeError(AnygameError):
    """The time limit, or the limit of solver conflicts, is reached."""


class Conflicts:
    """A limit on solver conflicts, of which ``left`` remain.

    Each conflict also counts against the larger limit ``whole`` (None: there is no larger limit).
    """

    def __init__(self, left: int, whole: Conflicts | None = None) -> None:
        self.left = left
        self._whole = whole

    def part(self, share: float) -> Conflicts:
        """Return a limit for a share of the remaining conflicts, which also count against ``self``."""
        return Conflicts(ceil(self.left * share), self)

    def spend(self, conflicts: int) -> None:
        """Count conflicts; raise an OutOfTimeError if they exceed the limit."""
        self.left -= conflicts
        if self._whole is not None:
            self._whole.spend(conflicts)
        if self.left < 0:
            raise OutOfTimeError("the limit of solver conflicts is reached")


class Patience:
    """A time limit in seconds, and optionally a limit on solver conflicts."""

    def __init__(self, seconds: float, conflicts: Conflicts | None = None) -> None:
        self._seconds = seconds
        self._end = monotonic() + seconds
        self._conflicts = conflicts

    @property
    def left(self) -> float:
        """Seconds that remain."""
        return max(0.0, self._end - monotonic())

    def renewed(self, seconds: float) -> Patience:
        """Return a time limit of ``seconds`` that shares this limit's budget of conflicts."""
        return Patience(seconds, self._conflicts)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock of this time limit, but not the clocks of its parts."""
        began = monotonic()
        try:
            yield
        finally:
            self._end += monotonic() - began

    def again(self) -> Patience:
        """Return a limit that starts now and has this limit's initial number of seconds."""
        return self.renewed(self._seconds)

    def part(self, share: float) -> Patience:
        """Return a limit for a share of the remaining time and conflicts."""
        conflicts = None if self._conflicts is None else self._conflicts.part(share)
        return Patience(self.left * share, conflicts)

    def check(self) -> None:
        """Raise an OutOfTimeError if the limit is reached."""
        if monotonic() > self._end:
            raise OutOfTimeError("the time limit is reached")

    def spend(self, conflicts: int) -> None:
        """Count solver conflicts."""
        if self._conflicts is not None:
            self._conflicts.spend(conflicts)


def solve(solver: Any, assumptions: Sequence[int], literals: int, patience: Patience) -> bool:
    """Return whether the formula in a PySAT solver is satisfiable under assumptions.

    The more ``literals`` all clauses have in total, the more often the limit is checked.
    """
    conflicts = max(1, min(_CONFLICTS, _WORK // max(1, literals)))
    while True:
        patience.check()
        solver.conf_budget(conflicts)
        try:
            answer = solver.solve_limited(assumptions=assumptions)
        except Exception as error:
            # On Ctrl-C, PySAT raises an error that is not a KeyboardInterrupt.
            if "keyboard interrupt" in str(error):
                raise KeyboardInterrupt from None
            raise
        if answer is not None:
            return bool(answer)
        patience.spend(conflicts)
