"""What compiled functions have to know of a game: where inputs and outputs lie, and what goals are worth.

States get in and out of a block of lanes, a bit at a time turned 64 by 64 (Warren, Hacker's Delight, 7-3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anygame.native.marking import (
    Bools,
    Bundle,
    Float32Rows,
    Float64s,
    Int32s,
    Int64s,
    call,
    call_refusing,
    compiled,
)
from anygame.search.goals import USUAL

if TYPE_CHECKING:
    from anygame.network.kernels.kernel import Kernel

LANES, WORDS = 512, 8
#: Of the hidden layer of estimates, powers of two: those of practice, and the most. The last ones go on as
#: they are, one for each output.
UNITS, MOST_UNITS = 32, 512


def words_for(bits: int) -> int:
    """Return how many words of 64 bits hold so many, at least one."""
    return max(1, -(-bits // 64))


def outputs_for(roles: int) -> int:
    """Return how many numbers estimates of a state are: one for two roles, otherwise one for each."""
    return 1 if roles == 2 else roles


@compiled
def turn(square):
    """Turn a square of 64 words of 64 bits, in place."""
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
    """Return how many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def lowest_bit(word):
    """Return the number of the lowest bit that is set; there must be one."""
    return popcount(~word & (word - np.uint64(1)))


@compiled
def word_of(rows, literal, word):
    """Return a word of a bit literal: of its row, or of the opposite."""
    found = rows[literal >> 1, word]
    return ~found if literal & 1 else found


@compiled
def load_states(rows, first, fluents, lanes, states, sources, count, square):
    """Put states into lanes; the other lanes keep theirs.

    Args:
        rows: uint64 [rows, 8].
        first: the row of the first fluent.
        fluents: how many there are.
        lanes: int32 [count]; ascending.
        states: uint64 [any, words].
        sources: int32 [count]; which of the states each lane gets.
        count: how many lanes.
        square: uint64 [64], for scratch.
    """
    at = 0
    words = states.shape[1]
    while at < count:
        group = lanes[at] >> 6
        end = at
        mask = np.uint64(0)
        while end < count and lanes[end] >> 6 == group:
            mask |= np.uint64(1) << np.uint64(lanes[end] & 63)
            end += 1
        keep = ~mask
        for word in range(words):
            for bit in range(64):
                square[bit] = np.uint64(0)
            for index in range(at, end):
                square[lanes[index] & 63] = states[sources[index], word]
            turn(square)
            base = 64 * word
            for bit in range(min(64, fluents - base)):
                row = first + base + bit
                rows[row, group] = (rows[row, group] & keep) | square[bit]
        at = end


@compiled
def read_states(rows, first, fluents, count, states, square):
    """Read the states of the first lanes: uint64 [count or more, words]."""
    words = states.shape[1]
    for group in range((count + 63) >> 6):
        last = min(64, count - 64 * group)
        for word in range(words):
            base = 64 * word
            held = min(64, fluents - base)
            for bit in range(64):
                square[bit] = rows[first + base + bit, group] if bit < held else np.uint64(0)
            turn(square)
            for lane in range(last):
                states[64 * group + lane, word] = square[lane]


@compiled
def random_below(worker, bound):
    """Return a random number below a bound, by splitmix64; the bias is too small to matter."""
    worker.random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = worker.random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64((word >> np.uint64(1)) % np.uint64(bound))


#: Places in ``GameCode.functions``.
EVALUATE_STATE, EVALUATE_MOVES, CHOOSE, DATA = range(4)
#: Places in ``GameCode.layout``.
FIRST_FLUENT, FLUENTS, FIRST_ACTION, ACTIONS, END = range(5)


class GameCode(NamedTuple):
    """A game for compiled functions.

    Attributes:
        functions: int64; addresses of the kernel's functions and of their data.
        layout: int64; the rows of fluents and actions, and the bit literal of the end.
        first_actions: int32 [roles + 1]; the first action of each role.
        legal: int64 [actions]; bit literals.
        goal_roles: int32 [goals]; the role of each goal value.
        goal_bits: int64 [goals]; its bit literal.
        goal_values: float64 [goals]; its value between 0 and 1.
        missing: float64 [roles]; what a state without a goal is worth in playouts; nothing is proven by it.
        random: bool [roles]; which roles draw their moves.
        weights: float32 [64 words + 1 + outputs + rows of patterns, units]; of estimates, see ``proving``.
        pattern_starts, pattern_numbers, pattern_steps: int32 [64 words + 1] and any; for each fluent the
            patterns that it is part of, and by how much it adds to their tallies, see ``patterns``. All empty
            where no estimates are used.
        first_tallies: int32 [patterns]; the tally of each that nobody has begun.
        tally_rows: int32 [tallies]; which row of the weights of patterns a tally adds; ``MOST_ROWS``
            for none.
    """

    functions: Int64s
    layout: Int64s
    first_actions: Int32s
    legal: Int64s
    goal_roles: Int32s
    goal_bits: Int64s
    goal_values: Float64s
    missing: Float64s
    random: Bools
    weights: Float32Rows
    pattern_starts: Int32s
    pattern_numbers: Int32s
    pattern_steps: Int32s
    first_tallies: Int32s
    tally_rows: Int32s


game_at = Bundle(GameCode)


def describe(kernel: Kernel, random: list[bool]) -> tuple[GameCode, list[tuple[int, int]]]:
    """Return the game of a kernel, and the scale of each role: its lowest and highest goal.

    Args:
        kernel: the code of the game.
        random: which roles draw their moves.
    """
    gates, layout = kernel.gates, kernel.layout
    scales = []
    roles, bits, values = [], [], []
    missing = []
    for role, goals in enumerate(gates.goals):
        low, high = min((v for v, _ in goals), default=0), max((v for v, _ in goals), default=0)
        if low == high:
            # Then there is only the difference between that goal and none.
            low, high = min(low, *USUAL), max(high, *USUAL)
        scales.append((low, high))
        for value, bit in goals:
            roles.append(role)
            bits.append(bit)
            values.append((value - low) / max(1, high - low))
        missing.append(min(1.0, max(0.0, -low / max(1, high - low))))
    code = GameCode(
        np.array([*_addresses(kernel), kernel.data.ctypes.data], np.int64),
        np.array(
            [layout.fluents, kernel.network.fluents, layout.actions, len(gates.legal), gates.terminal],
            np.int64,
        ),
        np.cumsum([0, *kernel.network.actions]).astype(np.int32),
        np.array(gates.legal, np.int64),
        np.array(roles, np.int32),
        np.array(bits, np.int64),
        np.array(values, np.float64),
        np.array(missing, np.float64),
        np.array(random, np.bool_),
        np.zeros((64 * words_for(kernel.network.fluents) + 1 + outputs_for(len(random)), UNITS), np.float32),
        *(np.zeros(0, np.int32) for _ in range(5)),
    )
    return code, scales


def _addresses(kernel: Kernel) -> list[int]:
    addresses = kernel.library.addresses
    return [addresses[name] for name in ("evaluate_state", "evaluate_moves", "choose")]


def refresh(code: GameCode, kernel: Kernel) -> None:
    """Have a game call what is the fastest code of its kernel by now."""
    code.functions[:DATA] = _addresses(kernel)


@compiled
def evaluate_state(game, address):
    """Evaluate what depends on the state alone, in the block at an address."""
    call(game.functions[EVALUATE_STATE], address, game.functions[DATA])


@compiled
def evaluate_moves(game, address):
    """Make the moves of the lanes that go."""
    call(game.functions[EVALUATE_MOVES], address, game.functions[DATA])


@compiled
def choose(game, address):
    """Choose moves; return whether a lane has none."""
    return call_refusing(game.functions[CHOOSE], address, game.functions[DATA])


@compiled
def value_of_lane(game, rows, role, lane):
    """Return what the goals of a lane are worth to a role, and whether the rules give exactly one.

    Of several the highest counts: rules that contradict themselves mostly forget what a win excludes.
    """
    word, bit = lane >> 6, np.uint64(lane & 63)
    found, count = game.missing[role], 0
    for goal in range(len(game.goal_bits)):
        if game.goal_roles[goal] == role and (word_of(rows, game.goal_bits[goal], word) >> bit) & np.uint64(
            1
        ):
            found = max(found, game.goal_values[goal]) if count else game.goal_values[goal]
            count += 1
    return found, count == 1
