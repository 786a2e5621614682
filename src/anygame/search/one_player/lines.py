"""Lines of play for one role, and the test whether a game has a single role that chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.language.terms import Term


@dataclass(frozen=True, slots=True)
class Line:
    """The best known line from a state.

    Attributes:
        moves: joint moves in the order of the roles, up to a terminal state; empty where no terminal state
            with a goal is known, or the first state is one.
        goal: the goal of the role that chooses in that terminal state; None where none is known.
        proven: whether no line reaches a greater goal; where ``goal`` is None, whether no line has a goal.
        shortest: whether it is proven that no line with this goal is shorter.
        most: upper bound of the goal; None where no bound is known.
        states: number of states visited.
        seconds: time spent searching, over all calls.
        method: the search that found the line: ``breadth first``, ``best first``, ``depth first``, ``nested
            rollouts``; or ``none``.
        misses_goal: whether a terminal state was met that gives the role no goal, or several.
        interrupted: whether Ctrl-C ended the search.
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
        """Return an upper bound of the goal; None where no bound is known.

        Args:
            highest: upper bound of the worth of a terminal state without a goal, or with several.
        """
        bound = self.goal if self.proven else self.most
        return max(highest, bound or highest) if self.misses_goal else bound


#: Random playouts that look for choices of other roles: a choice that no playout meets is rare. The reasoner
#: plays some tens a second.
_PLAYOUTS: Final = {"network": 512, "reasoner": 16}
#: Upper bound of the moves of such a playout, for endless games.
_LONGEST: Final = 200


class SeveralChooseError(ValueError):
    """A second role has a choice: the game is not one of a single player."""

    def __init__(self, role: str) -> None:
        super().__init__(f"expected a game in which one role chooses; {role} has a choice too")
        self.role = role


def sole_chooser(game: Game) -> int | None:
    """Return the index of the only role that has choices; None where several roles have, or chance draws.

    A game with one role is recognised at once. In other games random playouts look for choices; where they
    miss a choice of another role, ``LineSearch`` raises ``SeveralChooseError`` as soon as it meets one. Where
    no role ever chooses, the first role that is not ``random`` counts.

    Args:
        game: the game; compiled if that is worth it, unless it has one role.
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
