"""What a role may know of a match whose rules hide information (GDL-II): its own moves, and what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term


@dataclass(frozen=True, slots=True)
class Observation:
    """What a role knows of one joint move.

    Attributes:
        move: its own; None where that was not sent either.
        percepts: what it saw (GDL-II ``sees``).
        legal: what it may do next; None where it is not sent, and should know from the rest.
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

    @classmethod
    def of(cls, role: Role, states: Sequence[State], joints: Sequence[Sequence[Term]]) -> RoleView:
        """Return what a role knows of a match.

        >>> import anygame
        >>> game = anygame.loads('''
        ...   (role me) (role random) (legal me wait) (legal random (hide a)) (legal random (hide b))
        ...   (<= (next (hidden ?x)) (does random (hide ?x))) (<= terminal (true (hidden ?x)))
        ...   (<= (sees me lucky) (does random (hide a)))''')
        >>> start = game.initial_state()
        >>> joint = [start.legal_moves(role)[0] for role in game.roles]
        >>> view = RoleView.of(game.roles[0], [start, start.next(joint)], [joint])
        >>> [(str(turn.move), *map(str, turn.percepts)) for turn in view.observations]
        [('wait', 'lucky')]

        Args:
            role: who knows it.
            states: those of the match, one more than there are joint moves.
            joints: the moves made in all states but the last.
        """
        own = states[0].game.role_index(role)
        return cls(
            states[0],
            tuple(
                Observation(joint[own], before.percepts(joint)[role], after.legal_moves(role))
                for before, joint, after in zip(states, joints, states[1:], strict=False)
            ),
        )
