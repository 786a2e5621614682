"""Lines of play for one role, and a test for games in which only one role has choices."""

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
        moves: joint moves up to a terminal state; each lists moves in the order of the roles. Empty if no
            terminal state with a goal is known, or if the first state is terminal.
        goal: the goal in the last state, for the role that chooses; None if it is unknown.
        proven: whether the search has proven that no line has a greater goal or, if ``goal`` is None, that no
            line has a goal.
        shortest: whether the search has proven that no shorter line has the same goal.
        most: upper bound of the goal; None if no bound is known.
        states: number of states visited.
        seconds: total duration of the search in seconds.
        method: the search that found the line: ``breadth first``, ``best first``, ``depth first``, ``nested
            rollouts``; or ``none``.
        misses_goal: whether a visited terminal state gives the role no goal or several goals.
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
        """Return an upper bound of the value of the first state; None if no bound is known.

        Args:
            highest: maximum value of a terminal state that gives the role no goal or several goals.
        """
        bound = self.goal if self.proven else self.most
        return max(highest, bound or highest) if self.misses_goal else bound


#: Number of random playouts that look for choices of other roles. The reasoner needs over 10 ms for each.
_PLAYOUTS: Final = {"network": 512, "reasoner": 16}
#: Maximum number of joint moves of a random playout, since play can be endless.
_LONGEST: Final = 200


class SeveralChooseError(ValueError):
    """Several roles have choices, so the game is not a game for one player."""

    def __init__(self, role: str) -> None:
        super().__init__(f"expected a game in which only one role has choices; {role} has choices, too")
        self.role = role


def sole_chooser(game: Game) -> int | None:
    """Return the index of the only role that has choices; None if several roles or ``random`` have choices.

    In games with several roles, random playouts look for choices. If the playouts miss a choice of another
    role, ``LineSearch`` raises ``SeveralChooseError`` when the search reaches that choice. If no role has a
    choice, the function returns the first role other than ``random``.

    Args:
        game: the game; a game with several roles is compiled if that is worth the time.
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
