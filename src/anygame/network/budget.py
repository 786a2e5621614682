"""What compiling a game may cost, counted in steps, so that no clock decides whether there is a network."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Final

from anygame.errors import LimitError

#: What else costs steps, beside a row of a join with one; measured on a hundred public sheets, where a step
#: takes some thirty nanoseconds. One turn of a rule, be it in a join or through the passes:
TURN: Final = 5_000
#: A term that is put together, with its text.
COMPOSED: Final = 300
#: A question to the reasoner.
QUESTION: Final = 500
#: A case that a proof about fluents goes through.
CASE: Final = 5_000
#: A literal of a conjunction that becomes gates.
LITERAL: Final = 100


class Budget:
    """The steps that compiling one game may still take.

    Args:
        steps: how many there may be.
        seconds: how long it may take, for callers who owe an answer to a clock; else only steps count.
    """

    def __init__(self, steps: int, seconds: float = inf) -> None:
        self.spent = 0
        self._steps = steps
        self._seconds = seconds
        self._end = monotonic() + seconds

    def spend(self, steps: int) -> None:
        """Count some steps.

        Raises:
            LimitError: there were too many, or the time is up that the caller gave.
        """
        self.spent += steps
        if self.spent > self._steps:
            message = f"compiling the rules takes more than {self._steps:,} steps"
            raise LimitError(message, "steps", self._steps)
        if monotonic() > self._end:
            message = f"the rules were not compiled within the {self._seconds:g} seconds that were given"
            raise LimitError(message, "seconds", self._seconds)
