"""The best line that is known, and what is known about better ones: shared by all ways to search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anygame.search.one_player.successors import Children


@dataclass
class Incumbent:
    """The best line so far.

    Attributes:
        goal: at its end; None where no end with a goal was met.
        line: the numbers of the moves to it.
        method: what found it.
        states: how many states were looked at by all.
        most: no end that can be reached has a greater goal; None where that is not known.
        misses_goal: whether an end was met without a goal.
    """

    goal: int | None = None
    line: list[int] = field(default_factory=list)
    method: str = "none"
    states: int = 0
    most: int | None = None
    misses_goal: bool = False

    @property
    def is_best(self) -> bool:
        """Whether no line can reach a greater goal."""
        return self.goal is not None and self.most is not None and self.goal >= self.most

    def improves(self, goal: float, length: int) -> bool:
        """Return whether a line of so many moves to such a goal would be better, or as good and shorter."""
        if goal != goal:  # a missing goal is not a number
            return False
        return self.goal is None or goal > self.goal or (goal == self.goal and length < len(self.line))

    def offer(
        self,
        children: Children,
        lengths: int | NDArray[np.int64],
        method: str,
        line: Callable[[int], list[int]],
    ) -> None:
        """Look at states that were reached, and keep the line to the best end among them.

        Args:
            children: the states.
            lengths: how many moves lead to each, or to all.
            method: what found them.
            line: returns the numbers of the moves that lead to one of them.
        """
        self.states += len(children.states)
        if not children.ended.any():
            return
        missing = np.isnan(children.goals)
        self.misses_goal |= bool((missing & children.ended).any())
        goals = np.where(missing, -np.inf, children.goals)
        best = int(np.lexsort((-np.broadcast_to(lengths, goals.shape), goals))[-1])
        length = int(np.broadcast_to(lengths, goals.shape)[best])
        if np.isfinite(goals[best]) and self.improves(float(goals[best]), length):
            self.goal, self.line, self.method = int(goals[best]), line(best), method
