"""The cost of compiling a game, counted in steps, so that the result does not depend on a clock."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Final

from anygame.errors import LimitError

# Costs in steps. A row of a join costs one step, which takes about 30 ns (measured on 100 public sheets).
#: Cost of a rule, in a join or in a pass.
TURN: Final = 5_000
#: Cost of building a term, with its text.
COMPOSED: Final = 300
#: Cost of a query to the reasoner.
QUESTION: Final = 500
#: Cost of a case of a proof about fluents.
CASE: Final = 5_000
#: Cost of a literal of a conjunction that becomes gates.
LITERAL: Final = 100


class Budget:
    """Counts the steps of compiling one game, and raises an error above a number of steps or seconds."""

    def __init__(self, steps: int, seconds: float = inf) -> None:
        self.spent = 0
        self._steps = steps
        self._seconds = seconds
        self._end = monotonic() + seconds

    def spend(self, steps: int) -> None:
        """Count some steps. Raises LimitError above the maximum number of steps or after the time limit."""
        self.spent += steps
        if self.spent > self._steps:
            message = f"compiling the rules takes more than {self._steps:,} steps"
            raise LimitError(message, "steps", self._steps)
        if monotonic() > self._end:
            message = f"the rules were not compiled within the {self._seconds:g} seconds that were given"
            raise LimitError(message, "seconds", self._seconds)
