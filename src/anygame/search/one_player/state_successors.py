"""Successors by whatever machine answers for single states: for games without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.search.goals import goal_or_nan
from anygame.search.one_player.choosing import SeveralChooseError
from anygame.search.one_player.successors import Children, Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.state import State
    from anygame.language.terms import Term

#: States asked at a time: a reasoner takes milliseconds for each.
_WIDTH: Final = 4
#: What a state and its place in a dictionary take at least: a frozen set of some tens of facts.
_BYTES_OF_A_STATE: Final = 4_000


class MoveNumbers:
    """Numbers for moves as they are met."""

    def __init__(self) -> None:
        self.terms: list[Term] = []
        self._numbers: dict[Term, int] = {}

    def of(self, move: Term) -> int:
        """Return the number of a move."""
        number = self._numbers.setdefault(move, len(self.terms))
        if number == len(self.terms):
            self.terms.append(move)
        return number


class StateSuccessors:
    """States of any game, each a number of one word; see ``Successors``.

    Args:
        start: the first state.
        chooser: the index of the role that chooses.
        moves: numbers of moves, which several may share.
    """

    def __init__(self, start: State, chooser: int, moves: MoveNumbers) -> None:
        roles = start.game.roles
        self._chooser = roles[chooser]
        self._others = [role for place, role in enumerate(roles) if place != chooser]
        self._place = chooser
        self._states = [start]
        self._numbers = {start: 0}
        self._moves = moves
        self.root: NDArray[np.uint64] = np.zeros((1, 1), np.uint64)
        self.words, self.width = 1, _WIDTH

    @property
    def bytes(self) -> int:
        """Bytes of memory that grow with the states met, about."""
        return len(self._states) * _BYTES_OF_A_STATE

    def options(self, states: NDArray[np.uint64]) -> Options:
        """Return the legal moves of states; see ``Successors``."""
        sources, moves = [], []
        for source, number in enumerate(states[:, 0].tolist()):
            state = self._states[number]
            others = [state.legal_moves(role) for role in self._others]
            for role, legal in zip(self._others, others, strict=True):
                if len(legal) > 1:
                    raise SeveralChooseError(role)
            if all(others):
                found = [self._moves.of(move) for move in state.legal_moves(self._chooser)]
                sources += [source] * len(found)
                moves += found
        return Options(np.array(sources, np.int64), np.array(moves, np.int32))

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make a legal move in each of some states; see ``Successors``."""
        made = [
            self._after(self._states[number], self._moves.terms[move])
            for number, move in zip(states[:, 0].tolist(), moves.tolist(), strict=True)
        ]
        ended = [state.is_terminal for state in made]
        goals = [
            goal_or_nan(state, self._chooser) if over else float("nan")
            for state, over in zip(made, ended, strict=True)
        ]
        numbers = [[self._number(state)] for state in made]
        return Children(np.array(numbers, np.uint64), np.array(ended, np.bool_), np.array(goals))

    def move(self, number: int) -> Term:
        """Return the move of a number."""
        return self._moves.terms[number]

    def number(self, move: Term) -> int:
        """Return the number of a legal move."""
        return self._moves.of(move)

    def forget(self) -> None:
        """Forget all states but the first; numbers of moves stay."""
        del self._states[1:]
        self._numbers = {self._states[0]: 0}

    def _after(self, state: State, move: Term) -> State:
        joint = [state.legal_moves(role)[0] for role in self._others]
        joint.insert(self._place, move)
        return state.next(joint)

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number
