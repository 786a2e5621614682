"""Goals: what the values that the rules give a role come to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.roles import Role
    from anygame.language.terms import Term

_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)


def goal_of(role: Role, values: Sequence[Term]) -> int | None:
    """Return the goal of a role to which the rules give these values; None for no value at all.

    Raises:
        GoalError: there are several values, or one that is not an integer.
    """
    texts = list(map(str, values))
    wrong = next((text for text in texts if not _INTEGER.fullmatch(text)), None)
    if wrong is not None:
        raise GoalError(f"the goal of {role} should be an integer, but the rules give {wrong}", role, texts)
    if len(texts) > 1:
        raise GoalError(
            f"the rules give {role} {len(texts)} different goal values here: {', '.join(texts)}", role, texts
        )
    return int(texts[0]) if texts else None


def usable_goal(values: Sequence[Term]) -> int | None:
    """Return the goal to which these values come: None unless it is one integer."""
    return int(str(values[0])) if len(values) == 1 and _INTEGER.fullmatch(str(values[0])) else None
