"""What a role may know of a match whose rules hide information (GDL-II): its own moves, and what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anygame.game.state import State
    from anygame.language.terms import Term

__all__ = ["Observation", "RoleView"]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a role knows of one joint move.

    Attributes:
        move: its own; None where that was not told either.
        percepts: what it saw (GDL-II ``sees``).
        legal: what it may do next; None where it is not told, and should know from the rest.
    """

    move: Term | None
    percepts: tuple[Term, ...]
    legal: tuple[Term, ...] | None = None


@dataclass(frozen=True, slots=True)
class RoleView:
    """What a role knows of a match up to now.

    Attributes:
        start: the state in which the match began, which all roles know.
        observations: what it knows of each joint move since.
    """

    start: State
    observations: tuple[Observation, ...] = ()
