"""The cost of compiling a game in steps, so that limits do not depend on the speed of a machine."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Final

from anygame.errors import LimitError

# The costs below are in steps. A row of a join costs one step, which takes about 30 ns (measured on 100
# public sheets). ``TURN`` is the cost of handling a rule once, in a join or in a pass.
TURN: Final = 5_000
#: Cost in steps of building a term and its text.
COMPOSED: Final = 300
#: Cost in steps of a query to the reasoner.
QUESTION: Final = 500
#: Cost in steps of each case of a proof about fluents.
CASE: Final = 5_000
#: Cost in steps of each literal of a conjunction that becomes gates.
LITERAL: Final = 100


class Budget:
    """Counts the steps of compiling a game, up to a maximum number of steps and seconds."""

    def __init__(self, steps: int, seconds: float = inf) -> None:
        self.spent = 0
        self._steps = steps
        self._seconds = seconds
        self._end = monotonic() + seconds

    def spend(self, steps: int) -> None:
        """Add to the number of steps. Raises LimitError above the maximum number of steps or seconds."""
        self.spent += steps
        if self.spent > self._steps:
            message = f"compiling the rules takes more than {self._steps:,} steps"
            raise LimitError(message, "steps", self._steps)
        if monotonic() > self._end:
            message = f"compiling the rules takes more than the time limit of {self._seconds:g} seconds"
            raise LimitError(message, "seconds", self._seconds)
