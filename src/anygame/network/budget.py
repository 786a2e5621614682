"""The cost of compiling a game, counted in steps, so that the result does not depend on a clock."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Final

from anygame.errors import LimitError

#: Costs in steps. A row of a join costs one step, which takes about 30 ns (measured on 100 public sheets).
#: Treating a rule, in a join or in a pass.
TURN: Final = 5_000
#: Building a term, with its text.
COMPOSED: Final = 300
#: A query to the reasoner.
QUESTION: Final = 500
#: A case of a proof about fluents.
CASE: Final = 5_000
#: A literal of a conjunction that becomes gates.
LITERAL: Final = 100


class Budget:
    """Counts the steps of compiling one game.

    Args:
        steps: upper bound on steps.
        seconds: time limit for callers with a clock. By default only steps are limited.
    """

    def __init__(self, steps: int, seconds: float = inf) -> None:
        self.spent = 0
        self._steps = steps
        self._seconds = seconds
        self._end = monotonic() + seconds

    def spend(self, steps: int) -> None:
        """Count some steps.

        Raises:
            LimitError: the sum exceeds the upper bound, or the time limit has passed.
        """
        self.spent += steps
        if self.spent > self._steps:
            message = f"compiling the rules takes more than {self._steps:,} steps"
            raise LimitError(message, "steps", self._steps)
        if monotonic() > self._end:
            message = f"the rules were not compiled within the {self._seconds:g} seconds that were given"
            raise LimitError(message, "seconds", self._seconds)
