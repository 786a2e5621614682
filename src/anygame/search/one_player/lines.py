"""Lines for one role: the result of a search for the best one; the only role that chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.game.game import Game
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
        interrupted: whether the search was ended by Ctrl-C.
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
    interrupted: bool = False

    def most_worth(self, highest: float) -> float | None:
        """Return an upper bound of what can be reached; None where there is none.

        Args:
            highest: what an end is worth at most that gives the role no goal, or several.
        """
        known = self.goal if self.proven else self.most
        return max(highest, known or highest) if self.misses_goal else known


#: Playouts that are looked at where the rules do not show it: a choice that none of them meets is rare. The
#: reasoner plays some tens in a second.
_PLAYOUTS: Final = {"network": 512, "reasoner": 16}
#: Moves of such a playout at most, so that endless games take no longer than others.
_LONGEST: Final = 200


class SeveralChooseError(ValueError):
    """A second role has a choice: the game is not one of a single player."""

    def __init__(self, role: str) -> None:
        super().__init__(f"expected a game in which one role chooses; {role} has a choice too")
        self.role = role


def sole_chooser(game: Game) -> int | None:
    """Return the index of the only role that has choices, None where several have, or there is chance.

    A game of one role is recognised at once. For others random playouts are looked at; where a choice of
    another role escapes them, ``LineSearch`` raises ``SeveralChooseError`` as soon as it meets one. Where
    nobody ever chooses, the first role that is not ``random`` counts.

    Args:
        game: the game; it is compiled if that is worth it, unless it has one role.
    """
    able = [place for place, role in enumerate(game.roles) if not role.is_random]
    if len(game.roles) <= 1:
        return able[0] if able else None
    game.compile_if_worth_it()
    branching = game.simulate(_PLAYOUTS[game.machine], 0, limit=_LONGEST).branching
    choosing = [place for place, role in enumerate(game.roles) if branching[role] > 1.0]
    if len(choosing) > 1 or not set(choosing) <= set(able):
        return None
    return choosing[0] if choosing else next(iter(able), None)
