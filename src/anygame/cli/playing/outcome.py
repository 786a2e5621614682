"""How a game ended, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.answers import describe_goal, goals_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from anygame.game.roles import Role
    from anygame.game.state import State

#: Of goals, by the definition of the language.
_HIGHEST: Final = 100


def outcome(state: State, people: Collection[Role]) -> str:
    """Return how a game ended, for the people who played.

    Args:
        state: the last one.
        people: the roles that people had.
    """
    goals = {role: goal for role, goal in goals_of(state).items() if not role.is_random}
    told = ", ".join(f"{role} {describe_goal(goal)}" for role, goal in goals.items())
    numbers = {role: goal for role, goal in goals.items() if isinstance(goal, int)}
    if len(numbers) < len(goals):
        return f"The game is over. Goals: {told}"
    best = max(numbers.values())
    winners = [role for role, goal in numbers.items() if goal == best]
    only = next(iter(people)) if len(people) == 1 else None
    if len(numbers) == 1:
        words = f"You reach {best}" + (", the highest goal" if best == _HIGHEST else f" of {_HIGHEST}")
        return f"The game is over. {words}"
    if len(winners) == len(numbers):
        words = "It is a draw"
    elif only in winners:
        words = "You win" if len(winners) == 1 else f"You share the win with {_others(winners, only)}"
    else:
        plural = "s" if len(winners) == 1 else ""
        words = f"{' and '.join(winners)} win{plural}" + (f", {only} (you) do not" if only else "")
    return f"The game is over. {words}: {told}"


def _others(roles: Collection[Role], one: Role | None) -> str:
    return " and ".join(role for role in roles if role != one)
