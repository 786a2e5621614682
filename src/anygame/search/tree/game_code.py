"""What compiled functions have to know of a game: where inputs and outputs lie, and what goals are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anygame.search.goals import USUAL
from anygame.search.native.marking import (
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
from anygame.search.tree.estimating import UNITS
from anygame.search.tree.lanes import word_of, words_for

if TYPE_CHECKING:
    from anygame.network.kernels.kernel import Kernel

#: Places in ``GameCode.functions``.
EVALUATE_STATE, EVALUATE_MOVES, CHOOSE, DATA = range(4)
#: Places in ``GameCode.layout``.
FIRST_FLUENT, FLUENTS, FIRST_ACTION, ACTIONS, TERMINAL = range(5)


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
        weights: float32 [64 words + 2, units]; of estimates, see ``estimating``.
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
        np.zeros((64 * words_for(kernel.network.fluents) + 2, UNITS), np.float32),
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
