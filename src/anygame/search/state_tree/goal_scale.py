"""The goals that a game can give, and what they are worth to a search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError
from anygame.search.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State

#: Integers up to here are exact as floating-point numbers.
_LARGEST: Final = 1 << 53
_DIGITS: Final = 9
#: What goals are in the definition of the language, for rules that name none.
USUAL: Final = (0, 100)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)


class GoalScale:
    """Between what all goals of a game lie.

    Attributes:
        lowest: the least goal that the rules can give any role.
        highest: the greatest.
    """

    def __init__(self, game: Game) -> None:
        values = game.domains().get(("goal", 2), ((), ()))[1]
        numbers = [int(str(value)) for value in values if _INTEGER.fullmatch(str(value))] or [*USUAL]
        if min(numbers) == max(numbers):
            # Then there is only the difference between that goal and none.
            numbers += USUAL
        self.lowest = float(max(min(numbers), -_LARGEST))
        self.highest = float(min(max(numbers), _LARGEST))

    def goals(self, state: State) -> tuple[int | None, ...]:
        """Return the goal of each role; None where the rules give none, or several."""
        found: list[int | None] = []
        for role in state.game.roles:
            try:
                found.append(state.goal(role))
            except GoalError:
                found.append(None)
        return tuple(found)

    def worth(self, goals: Sequence[int | None]) -> tuple[float, ...]:
        """Return what goals are worth, from 0 to 1; none is worth as little as the least."""
        width = self.highest - self.lowest
        known = [self.lowest if goal is None else min(max(goal, -_LARGEST), _LARGEST) for goal in goals]
        return tuple([(goal - self.lowest) / width if width else 0.0 for goal in known])

    def goal(self, worth: float) -> float:
        """Return the goal that is worth so much."""
        goal = round(self.lowest + worth * (self.highest - self.lowest), _DIGITS)
        return int(goal) if goal.is_integer() else goal

    def bounds(self, goal: int | None) -> Bounds:
        """Return between what a goal is worth; nothing is known of one that is missing, or too large."""
        if goal is None or abs(goal) > _LARGEST:
            return Bounds(0.0, 1.0)
        (worth,) = self.worth([goal])
        return Bounds(worth, worth)
