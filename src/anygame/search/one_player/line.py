"""What a search for the best line says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anygame.language.terms import Term


@dataclass(frozen=True, slots=True)
class Line:
    """The best line that is known from a state.

    Attributes:
        moves: joint moves in the order of the roles, up to the end; empty where no end with a goal is known,
            or the state is one.
        goal: of the role that chooses, at that end; None where no end with a goal is known.
        proven: whether no line reaches a greater goal; where ``goal`` is None, whether there is none at all.
        shortest: whether it is proven that no line with this goal is shorter.
        most: no line has a greater goal; None where nothing is known of that.
        states: how many states were looked at.
        seconds: for how long was searched, over all calls.
        method: what found the line: ``breadth first``, ``best first``, ``depth first``, ``nested rollouts``;
            or ``none``.
        misses_goal: whether an end was met that gives the role no goal, or several.
    """

    moves: tuple[tuple[Term, ...], ...]
    goal: int | None
    proven: bool
    shortest: bool
    most: int | None
    states: int
    seconds: float
    method: str
    misses_goal: bool = False
