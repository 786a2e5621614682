"""Self-play: a network plays games against itself, and learns from the results.

Each running game has a small tree with estimated values at the leaves. The lanes make the children of all
trees together. The target of a state mixes the value of its tree with the targets of later states, as in
TD(lambda) over searched values (Baxter, Tridgell and Weaver 2000, "Learning to play chess using temporal
differences"). If a random move seems worse than the best move, the targets of states before the move ignore
later states. A replay memory stores the states, and each is sampled several times (Lin 1992, "Self-improving
reactive agents based on reinforcement learning, planning and teaching"). Each sample is replaced by a random
symmetric image. The optimiser is Adam (Kingma and Ba 2015), and play uses the running mean of the weights
(Polyak and Juditsky 1992). Cohen-Solal (2020, "Learning to play two-player perfect-information games without
knowledge") shows that values suffice without a policy.

For two roles, the value is the difference of the goals. In games that are not zero-sum, a trial decides
whether such values help a role. For more roles, the value of each role is its goal. If several roles choose
at the same time, each role takes the option with the best mean over the moves of the other roles.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anygame.native.marking import (
    Bundle,
    Float32Rows,
    Float32s,
    Float64s,
    Int32Rows,
    Int32s,
    Int64s,
    UInt8s,
    UInt64Rows,
    compiled,
    exported,
)
from anygame.search.evaluation.network import (
    estimate_of,
    output,
    outputs_of,
    row_of_output,
    set_gated,
    value_network_at,
)
from anygame.search.evaluation.patterns import row_of_tally
from anygame.search.lanes import ADDRESS, game_at, holds, lowest_bit
from anygame.search.tree.backpropagation import backpropagate
from anygame.search.tree.bounds import first_option_of, is_proven
from anygame.search.tree.expansion import expand, make_children
from anygame.search.tree.growing import descend
from anygame.search.tree.minimax import ONE, advantage
from anygame.search.tree.store import (
    COMPETITIVE,
    EXPANDED,
    NONE,
    ROOT,
    TERMINAL,
    empty,
    find_or_add,
    hash_of,
    store_at,
)
from anygame.search.tree.worker import random_below, worker_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Number of concurrent games.
GAMES = 64
#: Maximum number of joint moves of a game. Longer games are abandoned.
LONGEST = 400
#: Maximum number of states in the replay memories of all learners together.
_REPLAYED = 1 << 21
#: A learner samples from its latest states, because targets of older states come from weaker networks. Of all
#: its states, these are the latest ``1 / _STATES_PER_RECENT``, but at least ``_FEWEST_RECENT``.
_FEWEST_RECENT, _STATES_PER_RECENT = 1 << 16, 8
#: Maximum size in bytes of the states in the replay memories of all learners together.
_REPLAYED_BYTES = 1 << 26
#: Indices of ``Practice.counts``: finished games, states of these games, the game that moves first in the
#: next round, games with unequal goals that do not add up to 1, and abandoned games.
PLAYED, POSITIONS, FIRST_GAME, SHARED, GIVEN_UP = range(5)
#: Indices of ``Practice.counts``: next row of the replay memory to fill, number of filled rows, number of
#: states still to be sampled, number of gradient steps, and length of ``Practice.listed``.
NEXT, FILLED, DUE, STEPS, LISTED = range(5, 10)
#: Maximum number of random moves in the opening of a game.
_OPENING = 6
#: Mean number of times that a state is sampled from the replay memory.
_REPLAY = 4
#: Probability of a random move after the opening.
_CHANCE = 0.02
#: Amplitude of the noise that is added to the values of moves.
_NOISE = 0.02
#: Initial learning rate.
_RATE = 0.002
#: Number of gradient steps with the initial learning rate. Afterwards, the rate decays.
_FULL_STEPS = 10000.0
#: Lambda of the TD(lambda) targets.
_LAMBDA = 0.9
#: Number of gradient steps between two updates of the running mean of the weights.
_AVERAGED = 32
#: Minimum share of the latest network weights in an update of the running mean.
_FOLLOW = 0.06
#: Number of states in the batch of a gradient step.
_BATCH = 64
#: Decay rates of the first and second moments of gradients in Adam.
_FIRST_MOMENT, _SECOND_MOMENT = 0.9, 0.999
#: Number of steps after which the bias of both moments is negligible.
_BIASED_STEPS = 1 << 14
#: Upper bound (exclusive) of the random integers for probabilities and noise.
_WHOLE = 1 << 20


class Practice(NamedTuple):
    """Running games, and the state of learning."""

    counts: Int64s  # Counters; see the indices above.
    errors: Float64s  # [1]; sum of (value - result)**2 over all states of finished games.
    start: UInt64Rows  # [1, words]; initial state.
    # Weights that gradient steps change. ``ValueNetwork.weights`` is the running mean of these weights.
    weights: Float32Rows
    gradients: Float32Rows  # Sum of the gradients of a batch, in the order of ``listed``.
    moments: Float32Rows  # Running mean of the gradients.
    squares: Float32Rows  # Running mean of the squared gradients.
    row_steps: Int32s  # [rows]; gradient steps that changed the row, at most the last index of ``unbiased``.
    unbiased: Float32s  # Correction of the bias of both moments, for each number of steps.
    windows: Int64s  # [2]; first weight row of windows, and the row after their last row.
    listed: Int32s  # [rows]; rows that the next gradient step changes.
    places: Int32s  # [rows]; place of the row in ``listed``, or NONE.
    given: Float32s  # [units]; gradient of the row of one output.
    lengths: Int32s  # [games]; number of joint moves made.
    openings: Int32s  # [games]; number of random moves in the opening.
    roots: Int32s  # [games]; node of the current state.
    trail: UInt64Rows  # [games * LONGEST, words]; states of each game so far.
    values: Float32Rows  # [games * LONGEST, outputs]; values of the states in ``trail``.
    is_cut: UInt8s  # [games * LONGEST]; whether the target of the state ignores later states.
    states: UInt64Rows  # [replayed, words]; replay memory: states of finished games.
    targets: Float32Rows  # [replayed, outputs]; targets of the states in the replay memory.
    images: Int32Rows  # [symmetries, 64 * words]; image of a fluent under each symmetry.
    orders: Int32Rows  # [symmetries, outputs]; image of an output under each symmetry.
    sampled: UInt64Rows  # [1, words]; the state that was sampled last.
    wanted: Float32s  # [outputs]; target of the sampled state.


practice_at = Bundle(Practice)


def make_practice(
    start: NDArray[np.uint64],
    weights: NDArray[np.float32],
    images: NDArray[np.int32],
    orders: NDArray[np.int32],
    windows: tuple[int, int] = (0, 0),
    learners: int = 1,
) -> Practice:
    """Return the initial state of learning; ``learners`` learners divide the size of the replay memory."""
    words, outputs = len(start), orders.shape[1]
    replayed = max(_BATCH, min(_REPLAYED, _REPLAYED_BYTES // (8 * words)) // learners)
    moves = GAMES * LONGEST
    return Practice(
        counts=np.zeros(10, np.int64),
        errors=np.zeros(1, np.float64),
        start=start.reshape(1, -1).copy(),
        weights=weights.copy(),
        gradients=np.zeros_like(weights),
        moments=np.zeros_like(weights),
        squares=np.zeros_like(weights),
        row_steps=np.zeros(len(weights), np.int32),
        unbiased=_unbiased(),
        windows=np.array(windows, np.int64),
        listed=np.zeros(len(weights), np.int32),
        places=np.full(len(weights), NONE, np.int32),
        given=np.zeros(weights.shape[1], np.float32),
        lengths=np.zeros(GAMES, np.int32),
        openings=np.zeros(GAMES, np.int32),
        roots=np.zeros(GAMES, np.int32),
        trail=np.zeros((moves, words), np.uint64),
        values=np.zeros((moves, outputs), np.float32),
        is_cut=np.zeros(moves, np.uint8),
        states=np.zeros((replayed, words), np.uint64),
        targets=np.zeros((replayed, outputs), np.float32),
        images=images,
        orders=orders,
        sampled=np.zeros((1, words), np.uint64),
        wanted=np.zeros(outputs, np.float32),
    )


def _unbiased() -> NDArray[np.float32]:
    """Return the factors by which Adam corrects the bias of its moments, for each number of steps."""
    steps = np.arange(1, _BIASED_STEPS + 1)
    factors = np.sqrt(1 - _SECOND_MOMENT**steps) / (1 - _FIRST_MOMENT**steps)
    return np.concatenate([[0], factors]).astype(np.float32)


@exported
def practise(store_address: int, worker_address: int, game_address: int, practice_address: int) -> bool:
    """Make a move in all games, and learn from finished games; return False if a state has too many moves."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    practice = practice_at(practice_address)
    counts = practice.counts
    # The weights have changed since the last move, so the values in the tree are outdated.
    empty(store)
    for number in range(GAMES):
        _set_root(store, worker, practice, number)
    opposed = store.counts[COMPETITIVE]
    # The store may lack room for the children of all roots, so each round begins with a different game.
    counts[FIRST_GAME] = (counts[FIRST_GAME] + 1) % GAMES
    for index in range(GAMES):
        root = practice.roots[(counts[FIRST_GAME] + index) % GAMES]
        if store.status[root] != TERMINAL and not is_proven(store, root):
            store.counts[ROOT] = root
            descend(game, store, worker)
    make_children(store_address, worker_address, game_address)
    expand(store_address, worker_address, game_address)
    backpropagate(store_address, worker_address, game_address)
    if opposed and not store.counts[COMPETITIVE]:
        return True  # The goals turned out not to be opposed, so bounds are invalid.
    suits = True
    for number in range(GAMES):
        suits = suits and _make_move(game, store, worker, practice, number)
    net = value_network_at(game.evaluation[ADDRESS])
    while counts[DUE] >= _BATCH:
        counts[DUE] -= _BATCH
        _learn(net, worker, practice)
    return suits


@compiled
def _set_root(store, worker, practice, number):
    """Add the current state of a game to the tree as a root, or the initial state of a new game."""
    length = practice.lengths[number]
    if length:
        row = number * LONGEST + length - 1
        practice.roots[number] = find_or_add(store, practice.trail, row, hash_of(practice.trail, row))[0]
        return
    practice.openings[number] = random_below(worker, _OPENING + 1)
    practice.roots[number] = find_or_add(store, practice.start, 0, hash_of(practice.start, 0))[0]


@compiled
def _make_move(game, store, worker, practice, number):
    """Make a move in a game, or end the game; return False if the state has too many joint moves."""
    root, length = practice.roots[number], practice.lengths[number]
    last = number * LONGEST + length - 1
    if is_proven(store, root):
        if length:
            _record_values(practice, last, store.low, root, 1)
        _end(store, practice, number, root)
        return True
    if store.status[root] == TERMINAL or length == LONGEST:
        # A role has no legal move, or the game is too long.
        practice.lengths[number] = 0
        practice.counts[GIVEN_UP] += 1
        return True
    if store.status[root] != EXPANDED:
        return True  # The store has no room to expand the root.
    expansion = store.expansion[root]
    children = store.first_child[expansion]
    if children < 0:
        return False
    if length:
        _value_root(game, store, worker, practice, last, root, expansion)
    chosen = np.int64(0)
    for role in range(store.low.shape[1]):
        count = np.int64(store.option_counts[expansion, role])
        option = _choose(game, store, worker, practice, number, expansion, role) if count > 1 else np.int64(0)
        chosen = chosen * count + option
    child = store.child[children + chosen]
    if child == NONE:
        return True
    if store.status[child] == TERMINAL:
        _end(store, practice, number, child)
        return True
    for word in range(practice.start.shape[1]):
        practice.trail[last + 1, word] = store.states[child, word]
    # An earlier game may have left values in this row.
    practice.is_cut[last + 1] = 0
    practice.values[last + 1, :] = 0
    practice.lengths[number] = length + 1
    return True


@compiled
def _record_values(practice, row, values, place, share):
    """Record the values of a state: row ``place`` of ``values``, divided by ``share``."""
    practice.is_cut[row] = 0
    if practice.values.shape[1] == 1:
        practice.values[row, 0] = advantage(values[place, 0] / share, values[place, 1] / share)
        return
    for role in range(practice.values.shape[1]):
        practice.values[row, role] = values[place, role] / share


@compiled
def _value_root(game, store, worker, practice, row, root, expansion):
    """Record the value of a state: its minimax value, the mean of its best child, or its estimate."""
    mover, outputs = store.mover[expansion], practice.values.shape[1]
    practice.is_cut[row] = 0
    if outputs == 1 and mover != NONE:
        practice.values[row, 0] = store.minimax[expansion]
        return
    if mover != NONE:
        best = np.int64(0)
        if mover < outputs:
            first = first_option_of(store, expansion, mover)
            for option in range(store.option_counts[expansion, mover]):
                if store.mean[first + option] > store.mean[first + best]:
                    best = np.int64(option)
        child = store.child[store.first_child[expansion] + best]
        if child != NONE and store.visits[child]:
            _record_values(practice, row, store.sums, child, store.visits[child])
            return
    net = value_network_at(game.evaluation[ADDRESS])
    practice.values[row, 0] = estimate_of(net, net.weights, worker, store.states, root)
    for number in range(1, outputs):
        practice.values[row, number] = output(net, net.weights, worker, store.states, root, number)


@compiled
def _value_of_option(store, option, has_minimax):
    return np.float32(store.option_minimax[option]) / ONE if has_minimax else store.mean[option]


@compiled
def _choose(game, store, worker, practice, number, expansion, role):
    """Choose an option of a role; if the option is random and seems inferior, set ``is_cut`` of the state."""
    count, length = np.int64(store.option_counts[expansion, role]), practice.lengths[number]
    first, children = first_option_of(store, expansion, role), store.first_child[expansion]
    alone = store.mover[expansion] != NONE
    has_minimax = alone and outputs_of(len(game.random)) == 1
    is_random = length < practice.openings[number] or random_below(worker, _WHOLE) < _CHANCE * _WHOLE
    noise = np.float32(_NOISE / _WHOLE)
    sampled = random_below(worker, count)
    best, highest, most = sampled, np.float32(-1), np.float32(0)
    for option in range(count):
        if alone and store.child[children + option] == NONE:
            continue
        value = _value_of_option(store, first + option, has_minimax)
        most = max(most, value)
        value += noise * np.float32(random_below(worker, _WHOLE))
        if value > highest and not is_random:
            best, highest = option, value
    if length and is_random and _value_of_option(store, first + best, has_minimax) < most:
        practice.is_cut[number * LONGEST + length - 1] = 1
    return best


@compiled
def _goal(store, node, role):
    if is_proven(store, node):
        return np.float64(store.low[node, role])
    # The state has no proven value, because the rules do not give the role exactly one goal.
    return store.sums[node, role] / max(1, store.visits[node])


@compiled
def _value_of_end(store, practice, node, output):
    """Return the target of an output at the end of a game."""
    if practice.values.shape[1] > 1:
        return np.float32(_goal(store, node, output))
    return np.float32(advantage(_goal(store, node, 0), _goal(store, node, 1)))


@compiled
def _end(store, practice, number, node):
    """Add the states of a finished game to the replay memory, beginning with the last state."""
    counts, length, outputs = practice.counts, practice.lengths[number], practice.values.shape[1]
    keep = np.float32(_LAMBDA)
    for which in range(outputs):
        ended = target = _value_of_end(store, practice, node, which)
        for row in range(number * LONGEST + length - 1, number * LONGEST - 1, -1):
            value = practice.values[row, which]
            practice.errors[0] += (ended - value) * (ended - value) / outputs
            if not practice.is_cut[row]:
                value += keep * (target - value)
            # By TD(lambda), the target of the previous state depends on the target of this state.
            practice.values[row, which] = target = value
    for row in range(number * LONGEST + length - 1, number * LONGEST - 1, -1):
        place = counts[NEXT]
        for which in range(outputs):
            practice.targets[place, which] = practice.values[row, which]
        for word in range(practice.start.shape[1]):
            practice.states[place, word] = practice.trail[row, word]
        counts[NEXT] = (place + 1) % len(practice.targets)
        counts[FILLED] = min(counts[FILLED] + 1, len(practice.targets))
    counts[DUE] += _REPLAY * length
    counts[POSITIONS] += length
    counts[PLAYED] += 1
    if outputs == 1:
        one, other = _goal(store, node, 0), _goal(store, node, 1)
        counts[SHARED] += abs(one + other - 1) > 0.01 and one != other
    practice.lengths[number] = 0


@compiled
def _learn(net, worker, practice):
    """Make one gradient step with a batch of sampled states."""
    for row in range(practice.windows[0]):
        _list(practice, row)
    for row in range(practice.windows[1], len(practice.places)):
        _list(practice, row)
    for _ in range(_BATCH):
        sample_state(worker, practice)
        estimate = estimate_of(net, practice.weights, worker, practice.sampled, 0)
        _add_gradients(net, worker, practice, estimate)
    _step(practice)
    if practice.counts[STEPS] % _AVERAGED == 0:
        _average(practice, net.weights)


@compiled
def recent_states(counts: Int64s) -> int:
    """Return the number of latest states from which a learner samples."""
    return int(min(counts[FILLED], max(_FEWEST_RECENT, counts[POSITIONS] // _STATES_PER_RECENT)))


@compiled
def sample_state(worker, practice):
    """Set ``sampled`` to a random image of a replayed state, and ``wanted`` to the target of this image."""
    age = random_below(worker, recent_states(practice.counts))
    row = (practice.counts[NEXT] - 1 - age) % len(practice.targets)
    symmetry = random_below(worker, len(practice.images))
    practice.sampled[0, :] = 0
    for word in range(practice.sampled.shape[1]):
        bits = practice.states[row, word]
        while bits:
            image = practice.images[symmetry, 64 * word + lowest_bit(bits)]
            bits &= bits - np.uint64(1)
            practice.sampled[0, image >> 6] |= np.uint64(1) << np.uint64(image & 63)
    outputs = len(practice.wanted)
    for number in range(outputs):
        target, place = practice.targets[row, number], practice.orders[symmetry, number]
        if outputs == 1 and place:
            practice.wanted[0] = 1 - target  # The symmetry swaps the roles.
        else:
            practice.wanted[place] = target


@compiled
def _add_gradients(net, worker, practice, estimate):
    """Add the gradients of the sampled state, after ``estimate_of`` has set the hidden layer."""
    weights, hidden, back, given = practice.weights, worker.hidden, worker.base, practice.given
    size, units, outputs = 64 * practice.start.shape[1], weights.shape[1], len(practice.wanted)
    back[:units] = 0
    for number in range(outputs):
        value = output(net, weights, worker, practice.sampled, 0, number) if number else estimate
        error, first = practice.wanted[number] - value, row_of_output(net, weights, len(worker.value), number)
        set_gated(net, weights, worker, practice.sampled, 0, number)
        for unit in range(units - outputs):
            given[unit] = error * max(np.float32(0), hidden[unit])
            back[unit] += error * worker.parts[unit] if hidden[unit] > 0 else np.float32(0)
        _add_gradient(practice, first, given, units - outputs)
        for place in range(len(net.gating)):
            if holds(practice.sampled, 0, net.gating[place]):
                _add_gradient(practice, first + 1 + place, given, units - outputs)
        # The last units are linear: one for each output.
        back[units - 1 - number] = error
    _add_gradient(practice, size, back, units)
    for word in range(practice.start.shape[1]):
        bits = practice.sampled[0, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            _add_gradient(practice, fluent, back, units)
    for pattern in range(len(net.first_tallies)):
        row = row_of_tally(net, worker.base_tally[pattern])
        if row != NONE:
            _add_gradient(practice, size + 1 + row, back, units)


@compiled
def _list(practice, row):
    """Return the place of a row in ``listed``, and add the row if it is missing."""
    place = practice.places[row]
    if place == NONE:
        place = practice.places[row] = practice.counts[LISTED]
        practice.listed[place] = row
        practice.counts[LISTED] += 1
        practice.gradients[place, :] = 0
    return place


@compiled
def _add_gradient(practice, row, gradient, units):
    place = _list(practice, row)
    for unit in range(units):
        practice.gradients[place, unit] += gradient[unit]


@compiled
def _step(practice):
    """Make a gradient step with Adam on the listed rows of weights.

    The learning rate decays with the square root of the number of gradient steps (Robbins and Monro 1951, "A
    stochastic approximation method"). With a constant rate, the latest games would overwrite
    the effect of earlier games.
    """
    weights, gradients, counts = practice.weights, practice.gradients, practice.counts
    moments, squares = practice.moments, practice.squares
    counts[STEPS] += 1
    share = np.float32(1 / _BATCH)
    decayed_rate = np.float32(_RATE * sqrt(min(1.0, _FULL_STEPS / counts[STEPS])))
    for place in range(counts[LISTED]):
        row = practice.listed[place]
        practice.places[row] = NONE
        practice.row_steps[row] = min(practice.row_steps[row] + 1, len(practice.unbiased) - 1)
        rate = decayed_rate * practice.unbiased[practice.row_steps[row]]
        for unit in range(weights.shape[1]):
            gradient = share * gradients[place, unit]
            moments[row, unit] += np.float32(1 - _FIRST_MOMENT) * (gradient - moments[row, unit])
            squares[row, unit] += np.float32(1 - _SECOND_MOMENT) * (gradient * gradient - squares[row, unit])
            weights[row, unit] += rate * moments[row, unit] / (sqrt(squares[row, unit]) + np.float32(1e-8))
    counts[LISTED] = 0


@compiled
def _average(practice, means):
    """Update the running mean of the weights. Self-play uses this mean."""
    weights = practice.weights
    follow = np.float32(max(_AVERAGED / practice.counts[STEPS], _FOLLOW))
    for row in range(weights.shape[0]):
        for unit in range(weights.shape[1]):
            means[row, unit] += follow * (weights[row, unit] - means[row, unit])
