"""Estimates by a learned network of one hidden layer.

Its inputs are the fluents of a state, and the tallies of its ``patterns``. The hidden layer is updated by the
differences between a state and its parent (Nasu 2018, "Efficiently updatable neural-network-based evaluation
functions for computer shogi"). The weights of an output depend on the *gating fluents*: the fluents of small
relations, such as the color of a role. For two roles, the only output is the advantage of the first role. For
more roles, each role has an output. ``learning.self_play`` trains the weights.
"""

from __future__ import annotations

from collections import Counter
from math import exp, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from anygame.native.marking import Bundle, Float32Rows, Int32s, compiled, table_of
from anygame.search.evaluation.patterns import change_tallies, count_patterns, row_of_tally, words_of
from anygame.search.lanes import holds, lowest_bit
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.search.evaluation.patterns import Patterns
    from anygame.search.lanes import GameCode

#: Value of ``GameCode.evaluation`` for estimates by a network; 0 means no estimates.
NETWORK = 1
#: Number of units of the hidden layer in practice on a start clock, and in a training. Both are powers of two
#: up to ``MOST_UNITS``.
UNITS, UNITS_OF_TRAININGS = 32, 128
#: Maximum number of fluents of a relation whose fluents are gating, and maximum number of gating fluents.
_MOST_OF_RELATION, _MOST_GATING = 8, 16
#: Gating fluents by game, cached because a trial makes many searchers of one game.
_GATING: Final[WeakKeyDictionary[Game, NDArray[np.int32]]] = WeakKeyDictionary()


class Shape(NamedTuple):
    """The numbers that determine the shape of weights.

    Attributes:
        inputs: number of fluents, rounded up to a multiple of 64.
        patterns: number of rows of the weights of patterns.
        gating: number of gating fluents.
        outputs: number of outputs: one for two roles, otherwise one for each role.
    """

    inputs: int
    patterns: int
    gating: int
    outputs: int

    @property
    def rows(self) -> int:
        """Number of rows of weights: those of inputs, a bias, patterns, and outputs, in this order."""
        return self.inputs + 1 + self.patterns + self.outputs * (1 + self.gating)


class ValueNetwork(NamedTuple):
    """The weights of a game, its gating fluents and its patterns.

    Attributes:
        weights: float32 [rows, units], see ``Shape.rows``. The last units are linear, one for each output.
            Each output has a row of weights. A row for each gating fluent follows, which is added to the
            weights of the output if the fluent holds.
        gating: int32; the numbers of the gating fluents.
        pattern_starts, pattern_numbers, pattern_steps: int32 [64 words + 1] and any; for each fluent its
            patterns, and the numbers that it adds to their tallies, see ``patterns``.
        first_tallies: int32 [patterns]; the tally of each pattern if no fluent holds.
        tally_rows: int32 [tallies]; the row of pattern weights for a tally, or NONE.
    """

    weights: Float32Rows
    gating: Int32s
    pattern_starts: Int32s
    pattern_numbers: Int32s
    pattern_steps: Int32s
    first_tallies: Int32s
    tally_rows: Int32s


value_network_at = Bundle(ValueNetwork)


def gating_fluents(game: Game) -> NDArray[np.int32]:
    """Return the numbers of the fluents of small relations that the first move does not change.

    The first move changes the role to move. If this role were gating, values at different depths would have
    different biases, and searches would play worse. If too many fluents qualify, the result is empty.
    """
    if game in _GATING:
        return _GATING[game]
    state = game.initial_state()
    moves = [state.legal_moves(role) for role in game.roles]
    after = state if state.is_terminal or not all(moves) else state.next([legal[0] for legal in moves])
    moving = {words_of(fluent)[0] for fluent in state.facts ^ after.facts}
    relations = [words_of(fluent)[0] for fluent in game.fluent_terms]
    sizes = Counter(relations)
    gating = [
        number
        for number, relation in enumerate(relations)
        if sizes[relation] <= _MOST_OF_RELATION and relation not in moving
    ]
    _GATING[game] = np.array(gating if len(gating) <= _MOST_GATING else [], np.int32)
    return _GATING[game]


class NetworkEstimates:
    """The network of a game. Keep this object while compiled functions use its arrays.

    Args:
        weights: see ``ValueNetwork``; they are copied.
        gating: gating fluents of the game.
        patterns: patterns of the game.
    """

    def __init__(self, weights: NDArray[np.float32], gating: NDArray[np.int32], patterns: Patterns) -> None:
        copied = np.ascontiguousarray(weights, np.float32).copy()
        self.network = ValueNetwork(copied, gating, *patterns[3:])
        self._table = table_of(self.network)

    def used_by(self, code: GameCode) -> GameCode:
        """Return a copy of a game's code that uses these estimates."""
        return code._replace(
            functions=code.functions.copy(), evaluation=np.array([NETWORK, self._table.ctypes.data], np.int64)
        )


def first_weights(shape: Shape, units: int, seed: int) -> NDArray[np.float32]:
    """Return small random weights, float32 [rows, units], which give all states similar values."""
    random = np.random.default_rng(abs(seed))
    weights = np.zeros((shape.rows, units), np.float32)
    nonlinear, patterns = units - shape.outputs, shape.inputs + 1
    weights[: shape.inputs, :nonlinear] = random.normal(0, 0.1, (shape.inputs, nonlinear))
    # There are many patterns, so their first weights are smaller.
    first = patterns + shape.patterns
    weights[patterns:first, :nonlinear] = random.normal(0, 0.03, (shape.patterns, nonlinear))
    outputs = weights[first :: 1 + shape.gating]
    outputs[:, :nonlinear] = random.normal(0, 1.7 / sqrt(units), (shape.outputs, nonlinear))
    return weights


@compiled
def outputs_of(roles):
    """Return the number of outputs: one for two roles, otherwise one for each role."""
    return 1 if roles == 2 else roles


@compiled
def evaluate_by_network(net, worker, states, parent, count):
    """Estimate the values of states by a network; see ``anygame.search.evaluation.evaluate``."""
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
            worker.batch_value[number, role] = output(net, net.weights, worker, states, node, role)


@compiled
def row_of_output(net, weights, roles, number):
    """Return the row of weights of an output; the rows of the gating fluents follow."""
    return weights.shape[0] - (outputs_of(roles) - number) * (1 + len(net.gating))


@compiled
def estimate_of(net, weights, worker, states, index):
    """Return the first output for a state, after setting the base and the hidden layer."""
    set_base(net, weights, worker, states, index)
    return estimate_near(net, weights, worker, states, index, index)


@compiled
def set_base(net, weights, worker, states, index):
    """Set ``worker.base`` to the inputs of the hidden layer for a state."""
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
        for pattern in range(len(net.first_tallies)):
            row = row_of_tally(net, worker.base_tally[pattern])
            if row != NONE:
                for unit in range(units):
                    base[unit] += weights[size + 1 + row, unit]


@compiled
def estimate_near(net, weights, worker, states, index, parent):
    """Set the hidden layer for a state similar to the base state, and return the first output."""
    hidden, base = worker.hidden, worker.base
    size, units = 64 * states.shape[1], weights.shape[1]
    for unit in range(units):
        hidden[unit] = base[unit]
    changed = np.int64(0)
    for word in range(states.shape[1]):
        bits = states[index, word] ^ states[parent, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            held = holds(states, index, fluent)
            sign = np.float32(1) if held else np.float32(-1)
            for unit in range(units):
                hidden[unit] += sign * weights[fluent, unit]
            change = np.int32(1) if held else np.int32(-1)
            changed = change_tallies(net, worker, fluent, change, changed)
    for place in range(changed):
        _exchange_rows(net, weights, worker, size + 1, worker.changed[place])
    return output(net, weights, worker, states, index, 0)


@compiled
def _exchange_rows(net, weights, worker, first, pattern):
    """Replace the weights of a pattern in the hidden layer, and reset its tally to that of the base."""
    hidden, units = worker.hidden, weights.shape[1]
    before, after = row_of_tally(net, worker.base_tally[pattern]), row_of_tally(net, worker.tally[pattern])
    if before != NONE and before != after:
        for unit in range(units):
            hidden[unit] -= weights[first + before, unit]
    if after != NONE and before != after:
        for unit in range(units):
            hidden[unit] += weights[first + after, unit]
    worker.tally[pattern] = worker.base_tally[pattern]
    worker.is_changed[pattern] = False


@compiled
def set_gated(net, weights, worker, states, index, number):
    """Set ``worker.parts`` to the weights of an output, with those of the gating fluents that hold."""
    parts, units = worker.parts, weights.shape[1]
    first = row_of_output(net, weights, len(worker.value), number)
    for unit in range(units):
        parts[unit] = weights[first, unit]
    for place in range(len(net.gating)):
        if holds(states, index, net.gating[place]):
            for unit in range(units):
                parts[unit] += weights[first + 1 + place, unit]


@compiled
def output(net, weights, worker, states, index, number):
    """Return an output, 0 to 1, for the present hidden layer."""
    hidden, parts, units = worker.hidden, worker.parts, weights.shape[1]
    set_gated(net, weights, worker, states, index, number)
    for unit in range(units):
        parts[unit] *= max(np.float32(0), hidden[unit])
    parts[units - 1 - number] = hidden[units - 1 - number]
    # A pairwise sum of halves compiles to vector instructions.
    while units > 1:
        units >>= 1
        for unit in range(units):
            parts[unit] += parts[unit + units]
    return np.float32(1) / (np.float32(1) + np.float32(exp(-parts[0])))
