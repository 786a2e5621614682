"""Estimates of a learned network with one hidden layer.

The inputs are the fluents of a state and the tallies of its ``patterns``. The hidden layer is updated from
the differences between a state and its parent (Nasu 2018, "Efficiently updatable neural-network-based
evaluation functions for computer shogi"). The weights of an output depend on *gating fluents*: the fluents of
small relations, such as the color of a role. For two roles, the only output is the advantage of the first
role. For more roles, each role has an output. ``learning.self_play`` trains the weights.
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

#: Value of ``GameCode.evaluation[KIND]`` if a network makes the estimates. Without estimates, the value is 0.
NETWORK = 1
#: Number of hidden units of a network from practice or a short training: a power of two up to ``MOST_UNITS``.
UNITS = 32
#: Number of hidden units of a network from a long training, or without windows: also a power of two.
MANY_UNITS = 128
#: Fluents of a relation can only be gating if the relation has at most this many fluents.
_MOST_OF_RELATION = 8
#: Maximum number of gating fluents of a game.
_MOST_GATING = 16
#: Gating fluents of each game, cached because a trial creates many searchers of one game.
_GATING: Final[WeakKeyDictionary[Game, NDArray[np.int32]]] = WeakKeyDictionary()


class Shape(NamedTuple):
    """The numbers that determine the shape of a network's weights."""

    inputs: int  # Number of fluents, rounded up to a multiple of 64.
    patterns: int  # Number of rows of pattern weights.
    gating: int  # Number of gating fluents.
    outputs: int  # Number of outputs: one for two roles, otherwise one for each role.

    @property
    def rows(self) -> int:
        """Number of rows: inputs, a bias, patterns, and per output one row plus a row per gating fluent."""
        return self.inputs + 1 + self.patterns + self.outputs * (1 + self.gating)


class ValueNetwork(NamedTuple):
    """The weights of a game's network, its gating fluents and its patterns."""

    # float32 [rows, units]; see ``Shape.rows``. The last units, one for each output, are linear. If a gating
    # fluent holds, its row for an output is added to the output's own row.
    weights: Float32Rows
    gating: Int32s  # Fluent numbers of the gating fluents.
    pattern_starts: Int32s  # [64 * words + 1]; the start of each fluent's entries in the next two arrays.
    pattern_numbers: Int32s  # For each entry, the number of the pattern.
    pattern_steps: Int32s  # For each entry, the number that the fluent adds to the pattern's tally.
    first_tallies: Int32s  # The tally of each pattern in a state without fluents.
    tally_rows: Int32s  # For each tally, the row of its pattern weights, or NONE.


value_network_at = Bundle(ValueNetwork)


def gating_fluents(game: Game) -> NDArray[np.int32]:
    """Return the gating fluents: the fluents of small relations that the first move does not change.

    The first move changes the fluent that names the role to move. If the role to move were gating, values at
    different depths would have different biases, and searches would play worse. The result is empty if too
    many fluents qualify.
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
    """The network of a game. Keep the object alive while compiled functions use its arrays."""

    def __init__(self, weights: NDArray[np.float32], gating: NDArray[np.int32], patterns: Patterns) -> None:
        copied = np.ascontiguousarray(weights, np.float32).copy()
        self.network = ValueNetwork(copied, gating, *patterns[3:])
        self._table = table_of(self.network)

    def used_by(self, code: GameCode) -> GameCode:
        """Return a copy of a game's code that uses the estimates of the network."""
        return code._replace(
            functions=code.functions.copy(), evaluation=np.array([NETWORK, self._table.ctypes.data], np.int64)
        )


def first_weights(shape: Shape, units: int, seed: int) -> NDArray[np.float32]:
    """Return small random weights, float32 [rows, units], with which all states have similar values."""
    random = np.random.default_rng(abs(seed))
    weights = np.zeros((shape.rows, units), np.float32)
    nonlinear = units - shape.outputs
    weights[: shape.inputs, :nonlinear] = random.normal(0, 0.1, (shape.inputs, nonlinear))
    # Weights of patterns are 0, so contents of windows that never occur in training change no estimate.
    outputs = weights[shape.inputs + 1 + shape.patterns :: 1 + shape.gating]
    outputs[:, :nonlinear] = random.normal(0, 1.7 / sqrt(units), (shape.outputs, nonlinear))
    return weights


@compiled
def outputs_of(roles):
    """Return the number of outputs of a network for a number of roles."""
    return 1 if roles == 2 else roles


@compiled
def evaluate_by_network(net, worker, states, parent, count):
    """Estimate the values of states with a network; see ``anygame.search.evaluation.evaluate``."""
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
    """Return the number of the row with an output's weights. The rows of the gating fluents follow."""
    return weights.shape[0] - (outputs_of(roles) - number) * (1 + len(net.gating))


@compiled
def estimate_of(net, weights, worker, states, index):
    """Compute the base and the hidden layer for a state, and return the first output."""
    set_base(net, weights, worker, states, index)
    return estimate_near(net, weights, worker, states, index, index)


@compiled
def set_base(net, weights, worker, states, index):
    """Set ``worker.base`` to the hidden layer of a state before the activation function."""
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
    """Compute the hidden layer for a state from the base of its parent, and return the first output."""
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
    """Update the hidden layer for the changed tally of a pattern, and reset the tally to the base tally."""
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
    """Set ``worker.parts`` to an output's weights plus the weights of the gating fluents that hold."""
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
    """Return an output, from 0 to 1, of the current hidden layer."""
    hidden, parts, units = worker.hidden, worker.parts, weights.shape[1]
    set_gated(net, weights, worker, states, index, number)
    for unit in range(units):
        parts[unit] *= max(np.float32(0), hidden[unit])
    parts[units - 1 - number] = hidden[units - 1 - number]
    # The compiler turns a pairwise summation into vector instructions.
    while units > 1:
        units >>= 1
        for unit in range(units):
            parts[unit] += parts[unit + units]
    return np.float32(1) / (np.float32(1) + np.float32(exp(-parts[0])))
