"""What follows a state: the same questions to the lanes of a network and to the reasoner.

States are rows of words, so that they can be stored, sorted and hashed the same way whoever answers. Moves
are numbers of the role that chooses; the others have one move each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from anygame.network.network import FALSE
from anygame.search.goals import LARGEST, named_goals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term


class Options(NamedTuple):
    """Legal moves of some states, state after state.

    Attributes:
        sources: int64 [moves]; which of the states, ascending.
        moves: int32 [moves].
    """

    sources: NDArray[np.int64]
    moves: NDArray[np.int32]


class Children(NamedTuple):
    """What some states became by a move each.

    Attributes:
        states: uint64 [n, words].
        ended: bool [n]; which are terminal.
        goals: float [n]; of the role that chooses, where it has ended; nan where it has not, or has none.
    """

    states: NDArray[np.uint64]
    ended: NDArray[np.bool_]
    goals: NDArray[np.float64]


class Successors(Protocol):
    """Continues states.

    Attributes:
        words: 64-bit words of a state.
        width: how many states are best given at a time.
        root: uint64 [1, words]; the first state, which is not terminal.
    """

    words: int
    width: int
    root: NDArray[np.uint64]

    @property
    def bytes(self) -> int:
        """Bytes of memory that grow with the states met."""

    def options(self, states: NDArray[np.uint64]) -> Options:
        """Return the legal moves of states, uint64 [n, words], none of them terminal, at most ``width``.

        A state in which some role has no move has none.

        Raises:
            SeveralChooseError: another role has a choice.
        """

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make a legal move in each of some states, at most ``width``."""

    def move(self, number: int) -> Term:
        """Return the move of a number."""

    def number(self, move: Term) -> int:
        """Return the number of a legal move."""

    def forget(self) -> None:
        """Forget all states but the first, where states are kept here."""


def possible_goals(game: Game, chooser: int) -> list[int]:
    """Return goals among which are all that the rules can give a role."""
    network = game.backends.network
    if network is not None:
        literals = network.compiled.network.goals[chooser]
        return [value for value, literal in literals if literal != FALSE]
    return [goal for goal in named_goals(game) if abs(goal) <= LARGEST]


def replay(
    start: State, line: list[int], successors: Successors, chooser: int
) -> tuple[tuple[Term, ...], ...]:
    """Return the joint moves of a line of numbers."""
    state, joints = start, []
    for number in line:
        joint = [
            successors.move(number) if place == chooser else state.legal_moves(role)[0]
            for place, role in enumerate(state.game.roles)
        ]
        joints.append(tuple(joint))
        state = state.next(joint)
    return tuple(joints)
