"""Random playouts, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.game.goals import usable_goal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from random import Random

    from anygame.game.machine import Machine, Position
    from anygame.game.outcomes import Stuck
    from anygame.game.roles import Role
    from anygame.language.terms import Term


@dataclass(frozen=True, slots=True)
class Playout:
    """One random match.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: goal value per role in the last state; None where the rules give none or several.
        is_complete: whether it reached a terminal state within the limit.
        stuck: where it could not go on since a role had no legal move; None otherwise.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: Mapping[str, int | None]
    is_complete: bool
    stuck: Stuck | None = None

    @property
    def length(self) -> int:
        """The number of joint moves."""
        return len(self.moves)


def play_outs(
    machine: Machine,
    roles: Sequence[Role],
    start: Position,
    count: int,
    random: Random,
    *,
    limit: int,
    strict: bool,
) -> Iterator[Playout]:
    """Yield random matches from a position of a machine; see ``Game.playouts``."""
    for _ in range(count):
        outcome = machine.play_out(start, random, limit)
        if strict and outcome.stuck:
            raise outcome.stuck.error()
        goals = dict[str, int | None](zip(roles, map(usable_goal, outcome.goals), strict=True))
        yield Playout(outcome.moves, goals, outcome.is_complete, outcome.stuck)
