"""Self-play: what a game's fluents tell of how it ends, learned from games against itself.

Each game that is under way has a small tree, whose leaves are worth what they are estimated at; lanes make
the children of all games together. A state is to be worth what its tree says, mixed with how the game went
on, as in TD(lambda) over searched values (Baxter, Tridgell and Weaver 2000, "Learning to play chess using
temporal differences"). A move that was drawn, and seems worse than the best, says nothing of the states
before it: there the chain of values begins anew. Each state is learned several times, drawn from the latest
(experience replay: Lin 1992, "Self-improving reactive agents based on reinforcement learning, planning and
teaching"), in steps of batches (Adam: Kingma and Ba 2015), and play goes by the running mean of the weights
(Polyak and Juditsky 1992). Of a state that is drawn, it is any image under symmetries of the game that is
learned. That values alone suffice, without a policy, is shown by Cohen-Solal (2020,
"Learning to play two-player perfect-information games without knowledge").

Of two roles it counts by how much one does better, also where one need not lose what the other gains: whether
that is good for a role is for a trial to say. Of more than two it counts what each gets. Roles that choose at
once take what has the best mean, over all that others can do.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

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
from anygame.search.tree.backpropagating import backpropagate
from anygame.search.tree.expanding import expand, make_children
from anygame.search.tree.game_code import game_at, lowest_bit, random_below
from anygame.search.tree.growing import descend
from anygame.search.tree.proving import (
    ONE,
    advantage,
    estimate_of,
    first_option_of,
    first_pattern,
    is_proven,
    output,
    outputs_of,
)
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
from anygame.search.tree.worker import worker_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Games that go on side by side, and after how many moves they are given up.
GAMES, LONGEST = 64, 400
#: States that are drawn from, of all that learn together: so many, or as many as have room in so many bytes.
_REPLAYED, _REPLAYED_BYTES = 1 << 21, 1 << 26
#: Places in ``Practice.counts``.
PLAYED, POSITIONS, FIRST_GAME, SHARED, GIVEN_UP, NEXT, FILLED, DUE, STEPS = range(9)
#: Places in ``Practice.settings``.
EXPANDED_FOR_MOVE, OPENING, REPLAY, CHANCE, NOISE, RATE, FULL_STEPS, LAMBDA, FOLLOW = range(9)
#: States expanded for a move; moves at the beginning that are drawn, at most; how often a state is learned;
#: how often any other move is drawn; how much noise values get; the steps of weights; how many have that size
#: before they shrink; lambda; and by how much of the way the mean of weights follows them in each step.
DEFAULT_SETTINGS: Final = (1.0, 6.0, 8.0, 0.02, 0.02, 0.002, 10000.0, 0.9, 0.002)
#: States of a step, and how slowly the moments of slopes follow.
_BATCH = 64
_FIRST_MOMENT, _SECOND_MOMENT = 0.9, 0.999
#: Random numbers are drawn below this.
_WHOLE = 1 << 20


class Practice(NamedTuple):
    """Games under way, and what was learned so far.

    Attributes:
        counts: int64; games played to their end, their states, which game comes first, how many games ended
            with neither a draw nor all for one of the roles, how many were given up, where in ``states`` the
            next one goes, how many there are, how many are still to be learned from, and steps.
        errors: float64 [1]; the sum, over states of games that have ended, of the squared difference of what
            they seemed worth and the end.
        settings: float64; see ``DEFAULT_SETTINGS``.
        start: uint64 [1, words]; where games begin.
        weights: float32 [64 words + 1 + outputs + rows of patterns, units]; those that steps
            change. The game has their mean.
        slopes, moments, squares: float32, the same shape; of a batch, and the running means of them and of
            their squares.
        lengths, openings, roots: int32 [games]; moves made, how many of them are drawn at first, and the node
            of the state.
        trail: uint64 [games * moves, words]; the states of each game so far.
        values: float32 [games * moves, outputs]; what their trees say they are worth, to the first of two
            roles or to each of more.
        is_cut: uint8 [games * moves]; whether the move that was made there says nothing of them.
        states: uint64 [replayed, words]; states of games that have ended.
        targets: float32 [replayed, outputs]; what they should be worth.
        images: int32 [symmetries, 64 words]; what each symmetry makes of a fluent.
        orders: int32 [symmetries, outputs]; what it makes of an output.
        drawn: uint64 [1, words]; the state that is learned from.
        wanted: float32 [outputs]; what it should be worth.
    """

    counts: Int64s
    errors: Float64s
    settings: Float64s
    start: UInt64Rows
    weights: Float32Rows
    slopes: Float32Rows
    moments: Float32Rows
    squares: Float32Rows
    lengths: Int32s
    openings: Int32s
    roots: Int32s
    trail: UInt64Rows
    values: Float32Rows
    is_cut: UInt8s
    states: UInt64Rows
    targets: Float32Rows
    images: Int32Rows
    orders: Int32Rows
    drawn: UInt64Rows
    wanted: Float32s


practice_at = Bundle(Practice)


def make_practice(
    start: NDArray[np.uint64],
    weights: NDArray[np.float32],
    images: NDArray[np.int32],
    orders: NDArray[np.int32],
    settings: Sequence[float] = DEFAULT_SETTINGS,
    *,
    learners: int = 1,
) -> Practice:
    """Return practice.

    Args:
        start: uint64 [words]; where games begin.
        weights: float32 [64 words + 1 + outputs + rows of patterns, units].
        images: of fluents under symmetries; see ``Practice``.
        orders: of outputs.
        settings: see ``DEFAULT_SETTINGS``.
        learners: how many learn together, and share the memory for states.
    """
    words, outputs = len(start), orders.shape[1]
    replayed = max(_BATCH, min(_REPLAYED, _REPLAYED_BYTES // (8 * words)) // learners)
    return Practice(
        np.zeros(9, np.int64),
        np.zeros(1, np.float64),
        np.array(settings, np.float64),
        start.reshape(1, -1).copy(),
        weights.copy(),
        np.zeros_like(weights),
        np.zeros_like(weights),
        np.zeros_like(weights),
        np.zeros(GAMES, np.int32),
        np.zeros(GAMES, np.int32),
        np.zeros(GAMES, np.int32),
        np.zeros((GAMES * LONGEST, words), np.uint64),
        np.zeros((GAMES * LONGEST, outputs), np.float32),
        np.zeros(GAMES * LONGEST, np.uint8),
        np.zeros((replayed, words), np.uint64),
        np.zeros((replayed, outputs), np.float32),
        images,
        orders,
        np.zeros((1, words), np.uint64),
        np.zeros(outputs, np.float32),
    )


def first_weights(shape: tuple[int, int, int, int], seed: int) -> NDArray[np.float32]:
    """Return small random weights: all states seem worth about the same.

    Args:
        shape: 64 words, the number of outputs, that of rows of patterns, and units, more than outputs.
        seed: of random numbers.
    """
    inputs, outputs, patterns, units = shape
    random = np.random.default_rng(abs(seed))
    weights = np.zeros((inputs + 1 + outputs + patterns, units), np.float32)
    bent, first = units - outputs, inputs + 1 + outputs
    weights[:inputs, :bent] = random.normal(0, 0.1, (inputs, bent))
    weights[inputs + 1 : first, :bent] = random.normal(0, 1.7 / sqrt(units), (outputs, bent))
    # A pattern is one of many.
    weights[first:, :bent] = random.normal(0, 0.03, (patterns, bent))
    return weights


@exported
def practise(store_address: int, worker_address: int, game_address: int, practice_address: int) -> bool:
    """Make a move in all games, and learn from those that end; return whether the game is one for this."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    practice = practice_at(practice_address)
    counts = practice.counts
    # Estimates have changed since the last move.
    empty(store)
    for number in range(GAMES):
        _set_root(store, worker, practice, number)
    opposed = store.counts[COMPETITIVE]
    for _ in range(np.int64(practice.settings[EXPANDED_FOR_MOVE])):
        # All have their turn to be first, as there may not be room for the children of all.
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
        return True  # what was proven was so for opponents alone
    suits = True
    for number in range(GAMES):
        suits = suits and _go_on(game, store, worker, practice, number)
    while counts[DUE] >= _BATCH:
        counts[DUE] -= _BATCH
        _learn(game, worker, practice)
    return suits


@compiled
def _set_root(store, worker, practice, number):
    """Put the state of a game into the tree."""
    length = practice.lengths[number]
    if length:
        row = number * LONGEST + length - 1
        practice.roots[number] = find_or_add(store, practice.trail, row, hash_of(practice.trail, row))[0]
        return
    practice.openings[number] = random_below(worker, np.int64(practice.settings[OPENING]) + 1)
    practice.roots[number] = find_or_add(store, practice.start, 0, hash_of(practice.start, 0))[0]


@compiled
def _go_on(game, store, worker, practice, number):
    """Make a move in a game; return whether its joint moves are few enough."""
    root, length = practice.roots[number], practice.lengths[number]
    last = number * LONGEST + length - 1
    if is_proven(store, root):
        if length:
            _record_values(practice, last, store.low, root, 1)
        _end(store, practice, number, root)
        return True
    if store.status[root] == TERMINAL or length == LONGEST:
        # A role without a move, or a game that goes on and on: nothing to learn from.
        practice.lengths[number] = 0
        practice.counts[GIVEN_UP] += 1
        return True
    if store.status[root] != EXPANDED:
        return True  # there was no room for it
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
    practice.lengths[number] = length + 1
    return True


@compiled
def _record_values(practice, row, values, place, share):
    """Note what a state is worth to each role, in terms of outputs; the values are sums of so many."""
    practice.is_cut[row] = 0
    if practice.values.shape[1] == 1:
        practice.values[row, 0] = advantage(values[place, 0] / share, values[place, 1] / share)
        return
    for role in range(practice.values.shape[1]):
        practice.values[row, role] = values[place, role] / share


@compiled
def _value_root(game, store, worker, practice, row, root, expansion):
    """Note what the state of a game is worth: by minimax, or by the best child, or at a glance."""
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
    practice.values[row, 0] = estimate_of(game, game.weights, worker, store.states, root)
    for number in range(1, outputs):
        practice.values[row, number] = output(game.weights, worker, 64 * store.states.shape[1] + 1, number)


@compiled
def _value_of_option(store, option, has_minimax):
    """Return what an option seems worth to its role."""
    return np.float32(store.option_minimax[option]) / ONE if has_minimax else store.mean[option]


@compiled
def _choose(game, store, worker, practice, number, expansion, role):
    """Return the option that a role takes, and note whether it seems worse than the best."""
    count, length = np.int64(store.option_counts[expansion, role]), practice.lengths[number]
    first, children = first_option_of(store, expansion, role), store.first_child[expansion]
    alone = store.mover[expansion] != NONE
    has_minimax = alone and outputs_of(game) == 1
    is_drawn = (
        length < practice.openings[number]
        or random_below(worker, _WHOLE) < practice.settings[CHANCE] * _WHOLE
    )
    noise = np.float32(practice.settings[NOISE] / _WHOLE)
    drawn = random_below(worker, count)
    best, highest, most = drawn, np.float32(-1), np.float32(0)
    for option in range(count):
        if alone and store.child[children + option] == NONE:
            continue
        value = _value_of_option(store, first + option, has_minimax)
        most = max(most, value)
        value += noise * np.float32(random_below(worker, _WHOLE))
        if value > highest and not is_drawn:
            best, highest = option, value
    if length and is_drawn and _value_of_option(store, first + best, has_minimax) < most:
        practice.is_cut[number * LONGEST + length - 1] = 1
    return best


@compiled
def _goal(store, node, role):
    """Return what an end is worth to a role."""
    if is_proven(store, node):
        return np.float64(store.low[node, role])
    # The rules give one of the roles no goal, or several.
    return store.sums[node, role] / max(1, store.visits[node])


@compiled
def _value_of_end(store, practice, node, output):
    """Return what an output should be at an end."""
    if practice.values.shape[1] > 1:
        return np.float32(_goal(store, node, output))
    return np.float32(advantage(_goal(store, node, 0), _goal(store, node, 1)))


@compiled
def _end(store, practice, number, node):
    """Put the states of a game that has ended among those that are learned from, the last first."""
    counts, length, outputs = practice.counts, practice.lengths[number], practice.values.shape[1]
    keep = np.float32(practice.settings[LAMBDA])
    for which in range(outputs):
        ended = target = _value_of_end(store, practice, node, which)
        for row in range(number * LONGEST + length - 1, number * LONGEST - 1, -1):
            value = practice.values[row, which]
            practice.errors[0] += (ended - value) * (ended - value) / outputs
            if not practice.is_cut[row]:
                value += keep * (target - value)
            # What this state should be worth is what the one before goes by.
            practice.values[row, which] = target = value
    for row in range(number * LONGEST + length - 1, number * LONGEST - 1, -1):
        place = counts[NEXT]
        for which in range(outputs):
            practice.targets[place, which] = practice.values[row, which]
        for word in range(practice.start.shape[1]):
            practice.states[place, word] = practice.trail[row, word]
        counts[NEXT] = (place + 1) % len(practice.targets)
        counts[FILLED] = min(counts[FILLED] + 1, len(practice.targets))
    counts[DUE] += np.int64(practice.settings[REPLAY]) * length
    counts[POSITIONS] += length
    counts[PLAYED] += 1
    if outputs == 1:
        one, other = _goal(store, node, 0), _goal(store, node, 1)
        counts[SHARED] += abs(one + other - 1) > 0.01 and one != other
    practice.lengths[number] = 0


@compiled
def _learn(game, worker, practice):
    """Draw a batch of states, and take a step."""
    slopes = practice.slopes
    for row in range(slopes.shape[0]):
        for unit in range(slopes.shape[1]):
            slopes[row, unit] = np.float32(0)
    for _ in range(_BATCH):
        draw_state(worker, practice)
        estimate = estimate_of(game, practice.weights, worker, practice.drawn, 0)
        _add_slopes(game, worker, practice, estimate)
    _step(game, practice)


@compiled
def draw_state(worker, practice):
    """Draw a state, and one of its images."""
    row = random_below(worker, practice.counts[FILLED])
    symmetry = random_below(worker, len(practice.images))
    for word in range(practice.drawn.shape[1]):
        practice.drawn[0, word] = np.uint64(0)
    for word in range(practice.drawn.shape[1]):
        bits = practice.states[row, word]
        while bits:
            image = practice.images[symmetry, 64 * word + lowest_bit(bits)]
            bits &= bits - np.uint64(1)
            practice.drawn[0, image >> 6] |= np.uint64(1) << np.uint64(image & 63)
    outputs = len(practice.wanted)
    for number in range(outputs):
        target, place = practice.targets[row, number], practice.orders[symmetry, number]
        if outputs == 1 and place:
            practice.wanted[0] = 1 - target  # the roles change places
        else:
            practice.wanted[place] = target


@compiled
def _add_slopes(game, worker, practice, estimate):
    """Add what the errors of a state say of each weight; the hidden layer is that of its first estimate."""
    weights, slopes, hidden, back = practice.weights, practice.slopes, worker.hidden, worker.base
    size, units, outputs = 64 * practice.start.shape[1], weights.shape[1], len(practice.wanted)
    for unit in range(units):
        back[unit] = np.float32(0)
    for number in range(outputs):
        found = output(weights, worker, size + 1, number) if number else estimate
        error, place = practice.wanted[number] - found, size + 1 + number
        for unit in range(units - outputs):
            slopes[place, unit] += error * max(np.float32(0), hidden[unit])
            back[unit] += error * weights[place, unit] if hidden[unit] > 0 else np.float32(0)
        # The last units go on as they are, each to one output.
        back[units - 1 - number] = error
    for unit in range(units):
        slopes[size, unit] += back[unit]
    for word in range(practice.start.shape[1]):
        bits = practice.drawn[0, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for unit in range(units):
                slopes[fluent, unit] += back[unit]
    if len(game.first_tallies):
        first = first_pattern(game, practice.drawn)
        for number in range(weights.shape[0] - first):
            amount = np.float32(worker.counted[number])
            if amount != 0:
                for unit in range(units):
                    slopes[first + number, unit] += amount * back[unit]


@compiled
def _step(game, practice):
    """Follow the slopes of a batch; the weights that play goes by follow slowly.

    Steps shrink with the root of their number (Robbins and Monro 1951, "A stochastic approximation method"):
    what is learned of the latest games would otherwise take away what was learned of earlier ones.
    """
    weights, slopes, means = practice.weights, practice.slopes, game.weights
    moments, squares = practice.moments, practice.squares
    practice.counts[STEPS] += 1
    steps = min(practice.counts[STEPS], 1 << 20)
    share = np.float32(1 / _BATCH)
    slowed = sqrt(min(1.0, practice.settings[FULL_STEPS] / practice.counts[STEPS]))
    unbiased = sqrt(1 - _SECOND_MOMENT**steps) / (1 - _FIRST_MOMENT**steps)
    rate = np.float32(practice.settings[RATE] * slowed * unbiased)
    follow = np.float32(max(1 / steps, practice.settings[FOLLOW]))
    for row in range(weights.shape[0]):
        for unit in range(weights.shape[1]):
            slope = share * slopes[row, unit]
            moments[row, unit] += np.float32(1 - _FIRST_MOMENT) * (slope - moments[row, unit])
            squares[row, unit] += np.float32(1 - _SECOND_MOMENT) * (slope * slope - squares[row, unit])
            weights[row, unit] += rate * moments[row, unit] / (sqrt(squares[row, unit]) + np.float32(1e-8))
            means[row, unit] += follow * (weights[row, unit] - means[row, unit])
