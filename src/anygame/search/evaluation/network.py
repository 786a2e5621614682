"""Estimates by a learned network of one hidden layer.

Its inputs are the fluents of a state, and how many ``patterns`` hold by how much. The inputs of the hidden
layer are updated by the differences of a state from its parent (Nasu 2018, "Efficiently updatable
neural-network-based evaluation functions for computer shogi"). For two roles the only output says by how much
the first does better; for more, each role has an output. ``learning.self_play`` learns the weights.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anygame.native.marking import Bundle, Float32Rows, Int32s, compiled, table_of
from anygame.search.evaluation.patterns import begin_from_base, count_patterns, tally
from anygame.search.lanes import lowest_bit
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.evaluation.patterns import Patterns
    from anygame.search.lanes import GameCode

#: The kind of these estimates, in ``GameCode.evaluation``; 0 means no estimates.
NETWORK = 1
#: Units of the hidden layer: of practice on a start clock, and of a training. Powers of two, at most
#: ``MOST_UNITS``.
UNITS, UNITS_OF_TRAININGS = 32, 128


class ValueNetwork(NamedTuple):
    """The weights of a game, and its patterns.

    Attributes:
        weights: float32 [64 words + 1 + outputs + rows of patterns, units]. The last units are linear, one
            for each output.
        pattern_starts, pattern_numbers, pattern_steps: int32 [64 words + 1] and any; for each fluent its
            patterns, and the numbers it adds to their tallies, see ``patterns``. Empty without patterns.
        first_tallies: int32 [patterns]; the tally of each with no fluent.
        tally_rows: int32 [tallies]; the row of pattern weights that a tally adds; ``MOST_ROWS`` for none.
    """

    weights: Float32Rows
    pattern_starts: Int32s
    pattern_numbers: Int32s
    pattern_steps: Int32s
    first_tallies: Int32s
    tally_rows: Int32s


value_network_at = Bundle(ValueNetwork)


def outputs_for(roles: int) -> int:
    """Return the number of outputs: one for two roles, otherwise one for each."""
    return 1 if roles == 2 else roles


class NetworkEstimates:
    """The estimates of a game by a network, which live as long as compiled functions use them.

    Args:
        weights: see ``ValueNetwork``; they are copied.
        patterns: of the game.
    """

    def __init__(self, weights: NDArray[np.float32], patterns: Patterns) -> None:
        copied = np.ascontiguousarray(weights, np.float32).copy()
        self.network = ValueNetwork(copied, *patterns[1:])
        self._table = table_of(self.network)

    def used_by(self, code: GameCode) -> GameCode:
        """Return a game with these estimates."""
        return code._replace(
            functions=code.functions.copy(), evaluation=np.array([NETWORK, self._table.ctypes.data], np.int64)
        )


def first_weights(shape: tuple[int, int, int, int], seed: int) -> NDArray[np.float32]:
    """Return small random weights, with which all states have about the same value.

    Args:
        shape: 64 words, outputs, rows of patterns, and units, more than outputs.
        seed: of random numbers.
    """
    inputs, outputs, patterns, units = shape
    random = np.random.default_rng(abs(seed))
    weights = np.zeros((inputs + 1 + outputs + patterns, units), np.float32)
    bent, first = units - outputs, inputs + 1 + outputs
    weights[:inputs, :bent] = random.normal(0, 0.1, (inputs, bent))
    weights[inputs + 1 : first, :bent] = random.normal(0, 1.7 / sqrt(units), (outputs, bent))
    # There are many patterns, so their first weights are smaller.
    weights[first:, :bent] = random.normal(0, 0.03, (patterns, bent))
    return weights


@compiled
def outputs_of(roles):
    """Return the number of outputs: one for two roles, otherwise one for each."""
    return 1 if roles == 2 else roles


@compiled
def evaluate_by_network(net, worker, states, parent, count):
    """Estimate values; see ``anygame.search.evaluation.evaluate``."""
    set_base(net, net.weights, worker, states, parent)
    roles = worker.batch_value.shape[1]
    for number in range(count):
        node = worker.batch_node[number]
        if node == NONE:
            continue
        worker.batch_value[number, 0] = estimate_near(net, net.weights, worker, states, node, parent)
        if roles == 2:
            worker.batch_value[number, 1] = 1 - worker.batch_value[number, 0]
            continue
        for role in range(1, roles):
            worker.batch_value[number, role] = output(
                net.weights, worker, 64 * states.shape[1] + 1 + role, role
            )


@compiled
def first_pattern(states, roles):
    """Return the first row of the weights of patterns."""
    return 64 * states.shape[1] + 1 + outputs_of(roles)


@compiled
def estimate_of(net, weights, worker, states, index):
    """Return the first output for a state; set the base and the hidden layer."""
    set_base(net, weights, worker, states, index)
    return estimate_near(net, weights, worker, states, index, index)


@compiled
def set_base(net, weights, worker, states, index):
    """Set the base of the worker to the inputs of the hidden layer for a state."""
    base = worker.base
    size, units = 64 * states.shape[1], weights.shape[1]
    for unit in range(units):
        base[unit] = weights[size, unit]
    for word in range(states.shape[1]):
        bits = states[index, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for unit in range(units):
                base[unit] += weights[fluent, unit]
    if len(net.first_tallies):
        count_patterns(net, worker, states, index)
        _add_rows(weights, worker.base_rows, first_pattern(states, len(worker.value)), base)


@compiled
def estimate_near(net, weights, worker, states, index, parent):
    """Return the first output for a state that is similar to the base state; set the hidden layer."""
    hidden, base = worker.hidden, worker.base
    units = weights.shape[1]
    for unit in range(units):
        hidden[unit] = base[unit]
    if len(net.first_tallies):
        begin_from_base(net, worker)
    for word in range(states.shape[1]):
        bits = states[index, word] ^ states[parent, word]
        while bits:
            bit = lowest_bit(bits)
            fluent = 64 * word + bit
            bits &= bits - np.uint64(1)
            held = (states[index, word] >> np.uint64(bit)) & np.uint64(1)
            sign = np.float32(1) if held else np.float32(-1)
            for unit in range(units):
                hidden[unit] += sign * weights[fluent, unit]
            if len(net.first_tallies):
                tally(net, worker, fluent, np.int32(1) if held else np.int32(-1))
    if len(net.first_tallies):
        _add_rows(weights, worker.row_changes, first_pattern(states, len(worker.value)), hidden)
    return output(weights, worker, 64 * states.shape[1] + 1, 0)


@compiled
def _add_rows(weights, amounts, first, layer):
    """Add the weights of patterns, which begin at a row, to a layer, times their amounts."""
    for row in range(weights.shape[0] - first):
        amount = np.float32(amounts[row])
        if amount != 0:
            for unit in range(weights.shape[1]):
                layer[unit] += amount * weights[first + row, unit]


@compiled
def output(weights, worker, row, number):
    """Return an output, 0 to 1, for the hidden layer as it is; its weights are in a row."""
    hidden, parts, units = worker.hidden, worker.parts, weights.shape[1]
    for unit in range(units):
        parts[unit] = max(np.float32(0), hidden[unit]) * weights[row, unit]
    parts[units - 1 - number] = hidden[units - 1 - number]
    # A pairwise sum of halves compiles to vector instructions.
    while units > 1:
        units >>= 1
        for unit in range(units):
            parts[unit] += parts[unit + units]
    return np.float32(1) / (np.float32(1) + np.float32(exp(-parts[0])))
