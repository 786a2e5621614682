"""Successors of the states in which one role chooses; lanes of a network or the game's machine make them.

Both sources represent a state as a row of 64-bit words. A move is the number of an action of the role that
chooses. Every other role has only one legal move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.network.network import FALSE
from anygame.search.goals import LARGEST, goal_or_nan, named_goals
from anygame.search.graph import BYTES_OF_A_STATE, Numbering
from anygame.search.lane_pool import LanePool
from anygame.search.lanes import packed_state
from anygame.search.one_player.lines import SeveralChooseError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Maximum number of states per call to the reasoner, which takes milliseconds per state.
_WIDTH: Final = 4


class Options(NamedTuple):
    """Legal moves of several states."""

    sources: NDArray[np.int64]  # [moves]; the index of each move's state, ascending
    moves: NDArray[np.int32]  # [moves]


class Children(NamedTuple):
    """States after a move."""

    states: NDArray[np.uint64]  # [n, words]
    ended: NDArray[np.bool_]  # [n]; whether each state is terminal
    goals: NDArray[np.float64]  # [n]; the choosing role's goals in terminal states; nan without a goal


def possible_goals(game: Game, chooser: int) -> list[int]:
    """Return a superset of the goals that the rules can give a role."""
    network = game.backends.network
    if network is not None:
        literals = network.compiled.network.goals[chooser]
        return [value for value, literal in literals if literal != FALSE]
    return [goal for goal in named_goals(game) if abs(goal) <= LARGEST]


def replay(
    start: State, line: list[int], successors: Successors, chooser: int
) -> tuple[tuple[Term, ...], ...]:
    """Return the joint moves of a line, given its move numbers."""
    state, joints = start, []
    for number in line:
        joint = [
            successors.moves.items[number] if place == chooser else state.legal_moves(role)[0]
            for place, role in enumerate(state.game.roles)
        ]
        joints.append(tuple(joint))
        state = state.next(joint)
    return tuple(joints)


class LaneSuccessors:
    """Successors from lanes of a network; a state has one bit per fluent.

    Attributes:
        width: maximum number of states in one call of a method.
        root: uint64 [1, words]; the first state, which is not terminal.
        moves: the numbering of the moves.
        bytes: size in bytes of the stored states.

    Raises:
        LimitError: the game has no network.
        PositionError: the network cannot hold the first state.
    """

    bytes = 0

    def __init__(self, game: Game, lanes: int, start: State, chooser: int) -> None:
        machine = game.backends.needed_network()
        self._chooser = chooser
        self._others = [role for role in game.roles if role != game.roles[chooser]]
        self.moves: Numbering[Term] = Numbering(*machine.compiled.actions[chooser])
        self._pool = LanePool(machine.kernel)
        self.root: NDArray[np.uint64] = packed_state(game, start)
        self.width = lanes

    def options(self, states: NDArray[np.uint64]) -> Options:
        """Return the legal moves of non-terminal states; no moves in states where a role has no legal move.

        Raises:
            SeveralChooseError: another role has a choice.
        """
        legal = [mask[: len(states)] for mask in self._pool.holding(states).legal_by_role()]
        own = legal.pop(self._chooser)
        for role, mask in zip(self._others, legal, strict=True):
            counts = mask.sum(axis=1, dtype=np.int32)
            if (counts > 1).any():
                raise SeveralChooseError(role)
            own = own & (counts > 0)[:, None]
        sources, moves = np.nonzero(np.ascontiguousarray(own))
        return Options(sources, moves.astype(np.int32))

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make one legal move in each state."""
        pool, count = self._pool, len(states)
        lanes = pool.holding(states)
        own = moves.astype(np.int64)
        chosen = [mask[:count].argmax(axis=1) for mask in lanes.legal_by_role()] if self._others else [own]
        chosen[self._chooser] = own
        pool.step(lanes, chosen)
        ended = lanes.terminal[:count]
        goals = np.full(count, np.nan)
        if ended.any():
            goals[ended] = lanes.goal_values()[self._chooser][:count][ended]
        return Children(lanes.packed()[:count], ended, goals)

    def forget(self) -> None:
        """Do nothing, since lanes store no states."""


class StateSuccessors:
    """Successors from the machine of any game; a row holds the number of a state. See ``LaneSuccessors``."""

    width = _WIDTH

    def __init__(self, start: State, chooser: int, moves: Numbering[Term]) -> None:
        roles = start.game.roles
        self._chooser, self._role = chooser, roles[chooser]
        self._others = [role for place, role in enumerate(roles) if place != chooser]
        self._states = Numbering(start)
        self.moves = moves
        self.root: NDArray[np.uint64] = np.zeros((1, 1), np.uint64)

    @property
    def bytes(self) -> int:
        """Approximate size in bytes of the stored states."""
        return len(self._states.items) * BYTES_OF_A_STATE

    def options(self, states: NDArray[np.uint64]) -> Options:
        """See ``LaneSuccessors``."""
        sources, moves = [], []
        for source, number in enumerate(states[:, 0].tolist()):
            state = self._states.items[number]
            others = [state.legal_moves(role) for role in self._others]
            for role, legal in zip(self._others, others, strict=True):
                if len(legal) > 1:
                    raise SeveralChooseError(role)
            if all(others):
                own = [self.moves.of(move) for move in state.legal_moves(self._role)]
                sources += [source] * len(own)
                moves += own
        return Options(np.array(sources, np.int64), np.array(moves, np.int32))

    def children(self, states: NDArray[np.uint64], moves: NDArray[np.int32]) -> Children:
        """Make one legal move in each state."""
        numbers, ended, goals = [], [], []
        for number, move in zip(states[:, 0].tolist(), moves.tolist(), strict=True):
            state = self._states.items[number]
            joint = [state.legal_moves(role)[0] for role in self._others]
            joint.insert(self._chooser, self.moves.items[move])
            child = state.next(joint)
            numbers.append([self._states.of(child)])
            ended.append(child.is_terminal)
            goals.append(goal_or_nan(child, self._role) if child.is_terminal else float("nan"))
        return Children(np.array(numbers, np.uint64), np.array(ended, np.bool_), np.array(goals))

    def forget(self) -> None:
        """Drop all states except the first."""
        self._states = Numbering(self._states.items[0])


Successors = LaneSuccessors | StateSuccessors
