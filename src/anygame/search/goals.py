"""Goals as searches need them: bounds of a value, and the goals that a game can give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.language.terms import integer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State

#: Integers up to here are exact as floating-point numbers.
LARGEST: Final = 1 << 53
_DIGITS: Final = 9
#: What goals are in the definition of the language, for rules that name none.
USUAL: Final = (0, 100)


class Bounds(NamedTuple):
    """The least and the most that a state can be worth to one role.

    Attributes:
        least: what the role can make sure of.
        most: what the others can hold it to.
    """

    least: float
    most: float


def named_goals(game: Game) -> list[int]:
    """Return the integers that the rules of a game can give any role as its goal."""
    values = game.domains().get(("goal", 2), ((), ()))[1]
    return [goal for goal in map(integer_of, values) if goal is not None]


def goal_or_nan(state: State, role: str) -> float:
    """Return the goal of a role; nan where the rules give none, several, or one too large to be exact."""
    goal = state.goals()[role]
    return float("nan") if goal is None or abs(goal) > LARGEST else goal


class GoalScale:
    """The range of all goals of a game.

    Attributes:
        lowest: the least goal that the rules can give any role.
        highest: the greatest.
    """

    def __init__(self, game: Game) -> None:
        numbers = named_goals(game) or [*USUAL]
        if min(numbers) == max(numbers):
            # Then there is only the difference between that goal and none.
            numbers += USUAL
        self.lowest = float(max(min(numbers), -LARGEST))
        self.highest = float(min(max(numbers), LARGEST))

    def worth(self, goals: Sequence[int | None]) -> tuple[float, ...]:
        """Return what goals are worth, from 0 to 1; none is worth as little as the least."""
        width = self.highest - self.lowest
        known = [self.lowest if goal is None else min(max(goal, -LARGEST), LARGEST) for goal in goals]
        return tuple([(goal - self.lowest) / width if width else 0.0 for goal in known])

    def goal(self, worth: float) -> float:
        """Return the goal that is worth so much."""
        return rounded(self.lowest + worth * (self.highest - self.lowest))


def rounded(value: float, digits: int = _DIGITS) -> float:
    """Return a value without what computing adds to it; a whole number as an int, to read as in the sheet."""
    value = round(float(value), digits)
    return int(value) if value.is_integer() else value
