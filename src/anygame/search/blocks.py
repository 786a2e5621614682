"""Blocks of lanes in native code: states in and out, their moves listed, and made one round after the other.

A block is the rows of 512 games (``network.kernels.function``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anygame.native.marking import (
    Bools,
    Float64Rows,
    Float64s,
    Int32Rows,
    Int64s,
    UInt64Rows,
    UInt64s,
    compiled,
    exported,
)
from anygame.network.kernels.function import GO, RESTART
from anygame.search.tree.game_code import LANES, lowest_bit, turn, word_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel

_ONE = np.uint64(1)


@exported
def load_states(rows: UInt64Rows, first: int, fluents: int, states: UInt64Rows, square: UInt64s) -> None:
    """Put states, uint64 [n, words], into the first lanes; in the others nothing is true."""
    count = len(states)
    for word in range(8):
        for part in range(states.shape[1]):
            for lane in range(64):
                at = 64 * word + lane
                square[lane] = states[at, part] if at < count else np.uint64(0)
            turn(square)
            for bit in range(min(64, fluents - 64 * part)):
                rows[first + 64 * part + bit, word] = square[bit]


@compiled
def joint_moves(options: NDArray[Any], state: int) -> int:
    """Return how many joint moves a state has, given how many moves each role has: [states, roles]."""
    joint = 1
    for role in range(options.shape[1]):
        joint *= int(options[state, role])
    return joint


@exported
def list_moves(
    rows: UInt64Rows,
    legal: Int64s,
    first_actions: Int64s,
    terminal: int,
    options: Int32Rows,
    moves: Int32Rows,
) -> int:
    """List the legal moves of each role in each lane that goes on.

    Args:
        rows: of the block, its state evaluated.
        legal: bit literals of all actions.
        first_actions: where the actions of each role begin, and where the last ones end.
        terminal: bit literal of the end.
        options: int32 [lanes, roles]; how many moves; all 0 where the game is over or some role has none.
        moves: int32 [512 * roles, most actions]; which, a row a role and lane.

    Returns:
        The sum of the joint moves of all lanes.
    """
    count, roles = options.shape
    for role in range(roles):
        for lane in range(count):
            options[lane, role] = 0
        for action in range(first_actions[role], first_actions[role + 1]):
            for word in range((count + 63) >> 6):
                bits = word_of(rows, legal[action], word) & ~word_of(rows, terminal, word)
                while bits:
                    lane = 64 * word + lowest_bit(bits)
                    bits &= bits - _ONE
                    if lane < count:
                        moves[LANES * role + lane, options[lane, role]] = action
                        options[lane, role] += 1
    total = 0
    for lane in range(count):
        joint = joint_moves(options, lane)
        for role in range(roles):
            options[lane, role] = options[lane, role] if joint else 0
        total += joint
    return total


@exported
def read_ends(
    rows: UInt64Rows,
    terminal: int,
    goal_roles: Int64s,
    goal_bits: Int64s,
    goal_values: Float64s,
    ended: Bools,
    goals: Float64Rows,
) -> None:
    """Read which lanes have come to an end, and their goals: nan where there is none, or several."""
    for lane in range(len(ended)):
        word, bit = lane >> 6, np.uint64(lane & 63)
        ended[lane] = bool((word_of(rows, terminal, word) >> bit) & _ONE)
        for role in range(goals.shape[1]):
            found = 0
            goals[lane, role] = np.nan
            for number in range(len(goal_bits)):
                if goal_roles[number] == role and (word_of(rows, goal_bits[number], word) >> bit) & _ONE:
                    goals[lane, role] = goal_values[number]
                    found += 1
            if found > 1 or not ended[lane]:
                goals[lane, role] = np.nan


@exported
def put_moves(
    rows: UInt64Rows,
    first: int,
    options: Int32Rows,
    moves: Int32Rows,
    number: int,
) -> bool:
    """Put the joint move of a number into each lane that has it; the last role's move changes fastest.

    Args:
        rows: of the block, the state evaluated and no action taken.
        first: the row of the first action.
        options: as of ``list_moves``.
        moves: as of ``list_moves``.
        number: from 0.

    Returns:
        Whether any lane has it.
    """
    for word in range(8):
        rows[GO, word] = rows[RESTART, word] = 0
    count, roles = options.shape
    some = False
    for lane in range(count):
        joint = joint_moves(options, lane)
        if number >= joint:
            continue
        some = True
        word, bit = lane >> 6, _ONE << np.uint64(lane & 63)
        rows[GO, word] |= bit
        rest = number
        for role in range(roles - 1, -1, -1):
            rows[first + moves[LANES * role + lane, rest % options[lane, role]], word] |= bit
            rest //= options[lane, role]
    return some


@exported
def read_children(
    rows: UInt64Rows,
    first: int,
    fluents: int,
    options: Int32Rows,
    number: int,
    children: UInt64Rows,
    square: UInt64s,
    places: Int64s,
) -> None:
    """Read the states after the joint moves of a number, into uint64 [joint moves of all lanes, words]."""
    count, at = len(options), 0
    for word in range((count + 63) >> 6):
        going = rows[GO, word]
        for lane in range(64):
            joint = 0
            if 64 * word + lane < count:
                joint = joint_moves(options, 64 * word + lane)
            places[lane] = at + number
            at += joint
        for part in range(children.shape[1]):
            for bit in range(64):
                row = 64 * part + bit
                square[bit] = rows[first + row, word] if row < fluents else np.uint64(0)
            turn(square)
            for lane in range(64):
                if (going >> np.uint64(lane)) & _ONE:
                    children[places[lane], part] = square[lane]


#: The joint moves of some states: options, which are terminal, goals, the packed states that follow.
Successors = tuple["NDArray[np.int32]", "NDArray[np.bool_]", "NDArray[np.float64]", "NDArray[np.uint64]"]


class BlockSuccessors:
    """A block of lanes: each state stays in its lane, where its joint moves are made one after the other.

    What the state alone decides is so evaluated once, and not for each of its moves.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._rows = kernel.rows()
        gates, layout = kernel.gates, kernel.layout
        self._kernel = kernel
        self._addresses = self._rows.ctypes.data, kernel.data.ctypes.data
        self._data = kernel.data
        self._evaluated = np.zeros_like(self._rows)
        self._fluents = layout.fluents, kernel.network.fluents
        self._actions = layout.action_rows
        self._first_actions = np.cumsum([0, *kernel.network.actions]).astype(np.int64)
        self._legal = np.array(gates.legal, np.int64)
        self._terminal = gates.terminal
        goals = [(role, bit, value) for role, each in enumerate(gates.goals) for value, bit in each]
        self._goal_roles = np.array([role for role, _, _ in goals], np.int64)
        self._goal_bits = np.array([bit for _, bit, _ in goals], np.int64)
        self._goal_values = np.array([value for _, _, value in goals], np.float64)
        roles = len(kernel.network.actions)
        self._moves = np.zeros((roles * LANES, max(1, *kernel.network.actions)), np.int32)
        self._square, self._places = np.zeros(64, np.uint64), np.zeros(64, np.int64)

    def of(self, states: NDArray[np.uint64]) -> Successors:
        """Return what follows some states, uint64 [n, words], in their order."""
        parts = [self._block(states[at : at + LANES]) for at in range(0, len(states), LANES)]
        options, terminal, goals, children = (np.concatenate(each) for each in zip(*parts, strict=True))
        return options, terminal, goals, children

    def _block(self, states: NDArray[np.uint64]) -> Successors:
        rows, count = self._rows, len(states)
        load_states(rows, *self._fluents, states, self._square)
        library = self._kernel.library  # what evaluates states makes the moves from them, too
        library["evaluate_state"](*self._addresses)
        rows[self._actions] = 0
        self._evaluated[:] = rows
        options = np.empty((count, len(self._first_actions) - 1), np.int32)
        first, terminal = self._first_actions, self._terminal
        edges = list_moves(rows, self._legal, first, terminal, options, self._moves)
        ended = np.empty(count, np.bool_)
        goals = np.empty(options.shape)
        read_ends(rows, terminal, self._goal_roles, self._goal_bits, self._goal_values, ended, goals)
        children = np.empty((edges, states.shape[1]), np.uint64)
        number = 0
        while put_moves(rows, self._actions.start, options, self._moves, number):
            library["evaluate_moves"](*self._addresses)
            read_children(rows, *self._fluents, options, number, children, self._square, self._places)
            rows[:] = self._evaluated
            number += 1
        return options, ended, goals, children
