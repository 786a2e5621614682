"""Blocks of lanes in native code: states in and out, their moves listed, and made one round after the other.

A block is the rows of 512 games (``network.kernels.function``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anygame.network.kernels.function import GO, RESTART
from anygame.search.native.marking import (
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
from anygame.search.tree.lanes import LANES, popcount, turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
def _word(rows: UInt64Rows, literal: int, word: int) -> Any:
    found = rows[literal >> 1, word]
    return ~found if literal & 1 else found


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
                bits = _word(rows, legal[action], word) & ~_word(rows, terminal, word)
                while bits:
                    lane = 64 * word + popcount((bits & (~bits + _ONE)) - _ONE)
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
        ended[lane] = bool((_word(rows, terminal, word) >> bit) & _ONE)
        for role in range(goals.shape[1]):
            found = 0
            goals[lane, role] = np.nan
            for number in range(len(goal_bits)):
                if goal_roles[number] == role and (_word(rows, goal_bits[number], word) >> bit) & _ONE:
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
