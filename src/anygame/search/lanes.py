"""Native functions for games in lanes: load and read states, list and make moves, read ends and goals.

A block of rows has the states of 512 games (see ``network.kernels.function``). Each fluent, action and gate
has a row with one bit per game; a *lane* is the column of one game. States are loaded and read by transposing
squares of 64 x 64 bits (Warren, Hacker's Delight, 7-3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anygame.errors import PositionError
from anygame.native.marking import (
    Bools,
    Bundle,
    Float64Rows,
    Float64s,
    Int32Rows,
    Int32s,
    Int64s,
    UInt64Rows,
    UInt64s,
    call,
    call_refusing,
    compiled,
    exported,
    table_of,
)
from anygame.network.kernels.function import GO as _GO
from anygame.network.kernels.function import RESTART as _RESTART
from anygame.search.goals import GoalScale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.network.kernels.kernel import Kernel

#: Number of lanes of a block, and number of 64-bit words of a row.
LANES, WORDS = 512, 8
GO, RESTART = int(_GO), int(_RESTART)
_ONE = np.uint64(1)


def words_for(bits: int) -> int:
    """Return the number of 64-bit words that hold a number of bits; at least 1."""
    return max(1, -(-bits // 64))


def packed_state(game: Game, state: State) -> NDArray[np.uint64]:
    """Return a state with one bit for each fluent: uint64 [1, words].

    Raises:
        LimitError: the game has no network.
        PositionError: the network cannot represent the state, because no match reaches it.
    """
    position = state.position_in(game.backends.needed_network())
    if position is None:
        raise PositionError(
            "the network of the game cannot represent this state, because no match reaches it"
        )
    bits = np.zeros(64 * words_for(len(position)), np.bool_)
    bits[: len(position)] = np.frombuffer(position, np.bool_)
    return np.packbits(bits, bitorder="little").view(np.uint64)[None]


# -- bits ------------------------------------------------------------------------------------------------


@compiled
def transpose(square):
    """Transpose 64 words of 64 bits in place."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        k = 0
        while k < 64:
            for low in range(k, k + width):
                moved = ((square[low] >> shift) ^ square[low + width]) & mask
                square[low + width] ^= moved
                square[low] ^= moved << shift
            k += 2 * width
        width >>= 1
        if width:
            mask ^= mask << np.uint64(width)


@compiled
def popcount(word):
    """Return the number of set bits of a word."""
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def lowest_bit(word):
    """Return the index of the lowest set bit of a word that is not 0."""
    return popcount(~word & (word - _ONE))


@compiled
def holds(states, index, fluent):
    """Return 1 if a fluent holds in the packed state ``states[index]``, otherwise 0."""
    return (states[index, fluent >> 6] >> np.uint64(fluent & 63)) & np.uint64(1)


@compiled
def word_of(rows, literal, word):
    """Return a bit literal's value in 64 lanes. The literal is twice a row number, plus 1 if complemented."""
    value = rows[literal >> 1, word]
    return ~value if literal & 1 else value


@compiled
def bit_of(rows, literal, lane):
    """Return whether a bit literal holds in a lane."""
    return (word_of(rows, literal, lane >> 6) >> np.uint64(lane & 63)) & _ONE != 0


# -- the game --------------------------------------------------------------------------------------------

#: Indices of ``GameCode.functions``.
EVALUATE_STATE, EVALUATE_MOVES, CHOOSE, DATA = range(4)
#: Indices of ``GameCode.layout``.
FIRST_FLUENT, FLUENTS, FIRST_ACTION, ACTIONS, END = range(5)
#: Indices of ``GameCode.evaluation``.
KIND, ADDRESS = range(2)


class GameCode(NamedTuple):
    """Addresses and tables with which compiled functions play a game."""

    functions: Int64s  # Addresses of the kernel's functions and of their data.
    layout: Int64s  # Fluents: first row and number; actions: first row and number; bit literal of the end.
    first_actions: Int32s  # [roles + 1]; the first action of each role, then the number of actions.
    legal: Int64s  # The bit literal of each action's legality.
    goal_roles: Int32s  # The role of each goal.
    goal_bits: Int64s  # The bit literal of each goal.
    goal_values: Float64s  # The value of each goal, between 0 and 1.
    missing: Float64s  # For each role, the value of a playout without a goal; never a proven value.
    random: Bools  # Whether the moves of a role are random.
    evaluation: Int64s  # Kind of the estimates, and the address of their data.


game_at = Bundle(GameCode)


def describe(kernel: Kernel, random: Sequence[bool]) -> tuple[GameCode, list[GoalScale]]:
    """Return the code of a game for compiled functions, and the goal scale of each role."""
    gates, layout = kernel.gates, kernel.layout
    scales = [GoalScale.over([value for value, _ in goals]) for goals in gates.goals]
    goals = [(role, bit, value) for role, values in enumerate(gates.goals) for value, bit in values]
    code = GameCode(
        functions=np.array([*_addresses(kernel), kernel.data.ctypes.data], np.int64),
        layout=np.array(
            [layout.fluents, kernel.network.fluents, layout.actions, len(gates.legal), gates.terminal],
            np.int64,
        ),
        first_actions=np.cumsum([0, *kernel.network.actions]).astype(np.int32),
        legal=np.array(gates.legal, np.int64),
        goal_roles=np.array([role for role, _, _ in goals], np.int32),
        goal_bits=np.array([bit for _, bit, _ in goals], np.int64),
        goal_values=np.array([scales[role].value(goal) for role, _, goal in goals], np.float64),
        missing=np.array([scale.value(0) for scale in scales]),
        random=np.array(random, np.bool_),
        evaluation=np.zeros(2, np.int64),
    )
    return code, scales


def _addresses(kernel: Kernel) -> list[int]:
    addresses = kernel.library.addresses
    return [addresses[name] for name in ("evaluate_state", "evaluate_moves", "choose")]


def refresh(code: GameCode, kernel: Kernel) -> None:
    """Make the code of a game use the fastest machine code that is ready for the kernel."""
    code.functions[:DATA] = _addresses(kernel)


@compiled
def evaluate_state(game, address):
    """Evaluate the gates that depend only on the state, for all lanes of the block at an address."""
    call(game.functions[EVALUATE_STATE], address, game.functions[DATA])


@compiled
def evaluate_moves(game, address):
    """Make the chosen moves in each lane whose ``GO`` bit is set."""
    call(game.functions[EVALUATE_MOVES], address, game.functions[DATA])


@compiled
def choose(game, address):
    """Choose random moves in all lanes; return whether a role has no legal move in some lane."""
    return call_refusing(game.functions[CHOOSE], address, game.functions[DATA])


# -- states, moves and goals -----------------------------------------------------------------------------


@compiled
def load_states(game, rows, lanes, states, sources, count, square):
    """Load states into the first ``count`` entries of the ascending ``lanes``; keep all other states.

    ``sources`` has for each lane the index of its state in ``states``, uint64 [any, words]. ``square``,
    uint64 [64], is a temporary array.
    """
    first, fluents = game.layout[FIRST_FLUENT], game.layout[FLUENTS]
    at = 0
    words = states.shape[1]
    while at < count:
        group = lanes[at] >> 6
        end = at
        mask = np.uint64(0)
        while end < count and lanes[end] >> 6 == group:
            mask |= _ONE << np.uint64(lanes[end] & 63)
            end += 1
        keep = ~mask
        for word in range(words):
            for bit in range(64):
                square[bit] = np.uint64(0)
            for index in range(at, end):
                square[lanes[index] & 63] = states[sources[index], word]
            transpose(square)
            base = 64 * word
            for bit in range(min(64, fluents - base)):
                row = first + base + bit
                rows[row, group] = (rows[row, group] & keep) | square[bit]
        at = end


@compiled
def read_states(rows, first, fluents, count, states, square):
    """Read the states of the first ``count`` lanes into ``states``, uint64 [count or more, words]."""
    for group in range((count + 63) >> 6):
        last = min(64, count - 64 * group)
        for word in range(states.shape[1]):
            read_square(rows, first, fluents, group, word, square)
            for lane in range(last):
                states[64 * group + lane, word] = square[lane]


@compiled
def read_square(rows, first, fluents, group, word, square):
    """Set ``square`` to word number ``word`` of the states of 64 lanes."""
    base = 64 * word
    held = min(64, fluents - base)
    for bit in range(64):
        square[bit] = rows[first + base + bit, group] if bit < held else np.uint64(0)
    transpose(square)


@compiled
def list_moves(game, rows, lanes, options, firsts, moves, limit):
    """List the legal moves of each role in the first lanes, after ``evaluate_state``.

    The function writes the numbers of moves to ``options``, int32 [lanes, roles], the actions to ``moves``,
    and the index of each list in ``moves`` to ``firsts``. A list must begin below index ``limit``; otherwise
    its number of moves is set to -1. So ``moves`` needs ``limit`` entries, and room for all actions of a
    role. The result is the number of moves listed.
    """
    roles = options.shape[1]
    for lane in range(lanes):
        for role in range(roles):
            options[lane, role] = 0
    for role in range(roles):
        for action in range(game.first_actions[role], game.first_actions[role + 1]):
            for word in range((lanes + 63) >> 6):
                bits = _legal_bits(game, rows, action, word, lanes)
                while bits:
                    options[64 * word + lowest_bit(bits), role] += 1
                    bits &= bits - _ONE
    used = 0
    for lane in range(lanes):
        for role in range(roles):
            firsts[lane, role] = used
            if used >= limit:
                options[lane, role] = -1
            else:
                used += options[lane, role]
    for role in range(roles):
        for action in range(game.first_actions[role], game.first_actions[role + 1]):
            for word in range((lanes + 63) >> 6):
                bits = _legal_bits(game, rows, action, word, lanes)
                while bits:
                    lane = 64 * word + lowest_bit(bits)
                    bits &= bits - _ONE
                    if options[lane, role] >= 0:
                        moves[firsts[lane, role]] = action
                        firsts[lane, role] += 1
    for lane in range(lanes):
        for role in range(roles):
            firsts[lane, role] -= max(0, options[lane, role])
    return used


@compiled
def _legal_bits(game, rows, action, word, lanes):
    """Return a word with a bit for each of the first ``lanes`` lanes: whether an action is legal there."""
    bits = word_of(rows, game.legal[action], word)
    rest = lanes - 64 * word
    return bits if rest >= 64 else bits & ((_ONE << np.uint64(rest)) - _ONE)


@compiled
def joint_count(options: NDArray[Any], index: int) -> Any:
    """Return the number of joint moves, given the number of moves of each role; 2**60 if 1e18 or more."""
    product = 1.0
    for role in range(options.shape[1]):
        product *= options[index, role]
    return np.int64(product) if product < 1e18 else np.int64(1) << 60


@compiled
def goal_of(game, rows, role, lane):
    """Return the highest goal of a role in a lane, and the number of goals of the role there."""
    goal, count = 0.0, 0
    for number in range(len(game.goal_bits)):
        if game.goal_roles[number] == role and bit_of(rows, game.goal_bits[number], lane):
            goal = max(goal, game.goal_values[number]) if count else game.goal_values[number]
            count += 1
    return goal, count


@compiled
def value_of_lane(game, rows, role, lane):
    """Return the value of a role's goal in a lane, and whether the rules give the role exactly one goal.

    Of several goals, the highest counts. Rules with several goals typically fail to exclude lower goals after
    a win.
    """
    goal, count = goal_of(game, rows, role, lane)
    return goal if count else game.missing[role], count == 1


# -- all children of states ------------------------------------------------------------------------------


@exported
def _load_block(
    game_address: int, rows: UInt64Rows, states: UInt64Rows, numbers: Int32s, square: UInt64s
) -> None:
    """Load states, uint64 [n, words], into the first lanes; ``numbers`` has the integers from 0."""
    load_states(game_at(game_address), rows, numbers, states, numbers, len(states), square)


@exported
def _list_block(
    game_address: int,
    rows: UInt64Rows,
    options: Int32Rows,
    firsts: Int32Rows,
    moves: Int32s,
    ended: Bools,
    goals: Float64Rows,
) -> int:
    """Read the moves, ends and goals of lanes, and return the total number of joint moves.

    A lane has no moves if its game is over, or if a role has no legal move. A goal is nan if the rules do not
    give the role exactly one goal.
    """
    game = game_at(game_address)
    count, roles = options.shape
    list_moves(game, rows, count, options, firsts, moves, len(moves))
    total = 0
    for lane in range(count):
        ended[lane] = bit_of(rows, game.layout[END], lane)
        joint = 0 if ended[lane] else joint_count(options, lane)
        for role in range(roles):
            goal, found = goal_of(game, rows, role, lane)
            goals[lane, role] = goal if ended[lane] and found == 1 else np.nan
            options[lane, role] = options[lane, role] if joint else 0
        total += joint
    return total


@exported
def put_moves(
    rows: UInt64Rows, first: int, options: Int32Rows, firsts: Int32Rows, moves: Int32s, number: int
) -> bool:
    """Choose joint move ``number`` in all lanes that have this joint move; return False if no lane has it.

    The move of the last role changes fastest. Before the call, evaluate the state and clear the rows of
    actions, which begin at ``first``.
    """
    rows[GO, :] = 0
    rows[RESTART, :] = 0
    count, roles = options.shape
    some = False
    for lane in range(count):
        if number >= joint_count(options, lane):
            continue
        some = True
        word, bit = lane >> 6, _ONE << np.uint64(lane & 63)
        rows[GO, word] |= bit
        rest = number
        for role in range(roles - 1, -1, -1):
            rows[first + moves[firsts[lane, role] + rest % options[lane, role]], word] |= bit
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
    """Read the states after joint move ``number`` of each lane into ``children`` [all joint moves, words]."""
    count, at = len(options), np.int64(0)
    for group in range((count + 63) >> 6):
        going = rows[GO, group]
        for lane in range(64):
            places[lane] = at + number
            at += joint_count(options, 64 * group + lane) if 64 * group + lane < count else 0
        for word in range(children.shape[1]):
            read_square(rows, first, fluents, group, word, square)
            for lane in range(64):
                if (going >> np.uint64(lane)) & _ONE:
                    children[places[lane], word] = square[lane]


#: Results of an expansion: numbers of moves, whether states are terminal, goals, and packed successors.
Successors = tuple["NDArray[np.int32]", "NDArray[np.bool_]", "NDArray[np.float64]", "NDArray[np.uint64]"]


class BlockSuccessors:
    """A block of lanes that makes all successors of states.

    Each state remains in its lane, and the lane makes all joint moves one after another. So the gates that
    depend only on the state are evaluated once for all joint moves.
    """

    def __init__(self, kernel: Kernel) -> None:
        roles = len(kernel.network.actions)
        code, _ = describe(kernel, [False] * roles)
        goals = [float(value) for values in kernel.gates.goals for value, _ in values]
        self._code = code._replace(goal_values=np.array(goals, np.float64))
        self._table = table_of(self._code)
        self._rows = kernel.rows()
        self._kernel = kernel
        self._data = kernel.data
        self._addresses = self._rows.ctypes.data, self._data.ctypes.data
        self._evaluated = np.zeros_like(self._rows)
        self._actions = kernel.layout.action_rows
        self._fluents = kernel.layout.fluents, kernel.network.fluents
        self._moves = np.zeros(LANES * max(1, sum(kernel.network.actions)), np.int32)
        self._firsts = np.zeros((LANES, roles), np.int32)
        self._numbers = np.arange(LANES, dtype=np.int32)
        self._square, self._places = np.zeros(64, np.uint64), np.zeros(64, np.int64)

    def of(self, states: NDArray[np.uint64]) -> Successors:
        """Return the successors of states, uint64 [n, words], in the order of the states."""
        parts = [self._block(states[at : at + LANES]) for at in range(0, len(states), LANES)]
        options, terminal, goals, children = (np.concatenate(each) for each in zip(*parts, strict=True))
        return options, terminal, goals, children

    def _block(self, states: NDArray[np.uint64]) -> Successors:
        rows, count, game = self._rows, len(states), self._table.ctypes.data
        _load_block(game, rows, states, self._numbers, self._square)
        library = self._kernel.library  # The same library must evaluate states and moves.
        library["evaluate_state"](*self._addresses)
        rows[self._actions] = 0
        self._evaluated[:] = rows
        options = np.empty((count, self._firsts.shape[1]), np.int32)
        listed: tuple[Any, ...] = (options, self._firsts, self._moves)
        ended = np.empty(count, np.bool_)
        goals = np.empty(options.shape)
        children = np.empty((_list_block(game, rows, *listed, ended, goals), states.shape[1]), np.uint64)
        number = 0
        while put_moves(rows, self._actions.start, *listed, number):
            library["evaluate_moves"](*self._addresses)
            read_children(rows, *self._fluents, options, number, children, self._square, self._places)
            rows[:] = self._evaluated
            number += 1
        return options, ended, goals, children
