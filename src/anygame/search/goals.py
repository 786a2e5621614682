"""Bounds of goals, and the conversion of goals to values between 0 and 1."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.language.terms import integer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State

#: Largest supported goal. Floating-point numbers represent all integers up to this limit exactly.
LARGEST: Final = 1 << 53
#: Number of decimals to which values are rounded.
_DIGITS: Final = 9
#: Maximum rounding error of a 32-bit floating-point number between 0 and 1.
_ROUNDED: Final = 2**-23
#: Lowest and highest goal that GDL defines. Rules without integer goals get the scale from 0 to 100.
USUAL: Final = (0, 100)


class Bounds(NamedTuple):
    """Bounds of the value of a state for one role.

    Attributes:
        least: the goal that the role can guarantee.
        most: the goal to which the other roles can limit the role.
    """

    least: float
    most: float


def named_goals(game: Game) -> list[int]:
    """Return all integers that can be a goal of some role by the rules of a game."""
    values = game.domains().get(("goal", 2), ((), ()))[1]
    return [goal for goal in map(integer_of, values) if goal is not None]


def goal_or_nan(state: State, role: str) -> float:
    """Return a role's goal in a state; nan without a single goal from -LARGEST to LARGEST."""
    goal = state.goals()[role]
    return float("nan") if goal is None or abs(goal) > LARGEST else goal


@dataclass(frozen=True, slots=True)
class GoalScale:
    """The range of goals, and the conversion of goals to values between 0 and 1."""

    lowest: float
    highest: float
    goals: tuple[int, ...] = ()  # Ascending goals in the rules, to which ``goal`` rounds very close values.
    digits: int = _DIGITS  # Number of decimals to which ``goal`` rounds other values.

    @classmethod
    def over(cls, goals: Sequence[int]) -> GoalScale:
        """Return the scale of the given goals, for values stored with 32 bits; without goals, 0 to 100."""
        lowest, highest = min(goals, default=0), max(goals, default=0)
        if lowest == highest:
            # A scale with a single goal could not distinguish this goal from a missing goal.
            lowest, highest = min(lowest, *USUAL), max(highest, *USUAL)
        return cls(lowest, highest, tuple(sorted(set(goals))), 4)

    @classmethod
    def of(cls, game: Game) -> GoalScale:
        """Return the scale of all goals that any role can get by the rules."""
        scale = cls.over(named_goals(game) or USUAL)
        return cls(float(max(scale.lowest, -LARGEST)), float(min(scale.highest, LARGEST)))

    @property
    def width(self) -> float:
        """The difference between the highest and the lowest goal."""
        return self.highest - self.lowest

    def value(self, goal: float) -> float:
        """Return the value of a goal, between 0 and 1."""
        return min(1.0, max(0.0, (goal - self.lowest) / (self.width or 1)))

    def values(self, goals: Iterable[float | None]) -> tuple[float, ...]:
        """Return the values of goals. None and nan count as the lowest goal."""
        known = [self.lowest if goal is None or goal != goal else goal for goal in goals]
        return tuple([self.value(min(max(goal, -LARGEST), LARGEST)) for goal in known])

    def goal(self, value: float) -> float:
        """Return the goal that corresponds to a value between 0 and 1."""
        goal = self.lowest + value * self.width
        place = bisect_left(self.goals, goal)
        for near in self.goals[max(0, place - 1) : place + 1]:
            if abs(near - goal) <= _ROUNDED * self.width:
                return near
        return rounded(goal, self.digits)


def rounded(value: float, digits: int = _DIGITS) -> float:
    """Round a number to remove rounding errors, and convert an integral number to an int."""
    value = round(float(value), digits)
    return int(value) if value.is_integer() else value
