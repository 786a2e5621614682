"""How a game ended, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

#: Of goals, by the definition of the language.
_HIGHEST: Final = 100


def outcome(goals: Mapping[str, int | str | None], people: Collection[str]) -> str:
    """Return how a game ended, for the people who played.

    >>> outcome({"x": 100, "o": 0}, ["x"]), outcome({"x": 50, "o": 50}, [])
    ('You win: x 100, o 0', 'It is a draw: x 50, o 50')

    Args:
        goals: of all roles but chance; None or a text where the rules give no number.
        people: the roles of those who are shown it.
    """
    shown = ", ".join(f"{role} {'none' if goal is None else goal}" for role, goal in goals.items())
    numbers = {role: goal for role, goal in goals.items() if isinstance(goal, int)}
    if not goals or len(numbers) < len(goals):
        return f"Goals: {shown}"
    best = max(numbers.values())
    winners = [role for role, goal in numbers.items() if goal == best]
    only = next(iter(people)) if len(people) == 1 else None
    if len(numbers) == 1:
        if not people:
            return f"{shown} of {_HIGHEST}"
        return f"You reach {best}" + (", the highest goal" if best == _HIGHEST else f" of {_HIGHEST}")
    if len(winners) == len(numbers):
        words = "It is a draw"
    elif only in winners:
        others = " and ".join(role for role in winners if role != only)
        words = f"You share the win with {others}" if others else "You win"
    else:
        plural = "s" if len(winners) == 1 else ""
        words = f"{' and '.join(winners)} win{plural}" + (f", {only} (you) do not" if only else "")
    return f"{words}: {shown}"
