"""Self-play: what a game's fluents tell of how it ends, learned in seconds from games against itself.

Both roles make the move that leads to the best estimate, now and then any. The weights of the estimate follow
what came of it, by TD(lambda) as in backgammon (Tesauro 1995, "Temporal difference learning and TD-Gammon"),
with steps that shrink weight by weight (AdaGrad: Duchi, Hazan and Singer 2011). For two roles that take
turns. What counts is by how much one does better, also where one need not lose what the other gains: whether
that is good for a role is for a trial to say.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.search.native.marking import (
    Bundle,
    Float32Rows,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    UInt64Rows,
    compiled,
    exported,
)
from anygame.search.tree.expanding import make_children
from anygame.search.tree.game_code import UNITS, game_at, lowest_bit, random_below
from anygame.search.tree.proving import add_up, advantage, estimate_near, estimate_of
from anygame.search.tree.store import NONE, store_at
from anygame.search.tree.worker import JOB_COUNT, SPEC_COUNT, worker_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Games that go on side by side, and after how many moves they are given up.
GAMES, LONGEST = 64, 400
#: Places in ``Practice.counts``.
PLAYED, POSITIONS, FIRST_GAME, SHARED, GIVEN_UP = range(5)
#: Places in ``Practice.settings``.
CHANCE, NOISE, RATE, LAMBDA = range(4)
#: How often any move is made; how much noise estimates get; the first step of weights; and lambda.
DEFAULT_SETTINGS: Final = (0.05, 0.02, 0.2, 0.9)
#: What the squares of the steps of a weight begin with: more makes the first steps smaller.
_FIRST_SQUARE: Final = 0.1
#: Random numbers are drawn below this.
_WHOLE = 1 << 20


class Practice(NamedTuple):
    """Games under way.

    Attributes:
        counts: int64; games played to their end, positions that were learned from, which game comes first,
            how many games ended with neither a draw nor all for one of the roles, and how many were given up.
        errors: float64 [1]; the sum, over positions, of the squared difference of the estimate and the end.
        settings: float64; see ``DEFAULT_SETTINGS``.
        start: uint64 [1, words]; where games begin.
        squares: float32 [64 words + 2, units]; for each weight, the sum of the squares of its slopes.
        slopes: float32 [units]; for scratch.
        lengths: int32 [games]; moves made.
        trail: uint64 [games * moves, words]; the states of each game so far.
    """

    counts: Int64s
    errors: Float64s
    settings: Float64s
    start: UInt64Rows
    squares: Float32Rows
    slopes: Float32s
    lengths: Int32s
    trail: UInt64Rows


practice_at = Bundle(Practice)


def make_practice(start: NDArray[np.uint64], settings: Sequence[float] = DEFAULT_SETTINGS) -> Practice:
    """Return practice that begins at a state, uint64 [words]."""
    words = len(start)
    return Practice(
        np.zeros(5, np.int64),
        np.zeros(1, np.float64),
        np.array(settings, np.float64),
        start.reshape(1, -1).copy(),
        np.full((64 * words + 2, UNITS), _FIRST_SQUARE, np.float32),
        np.zeros(UNITS, np.float32),
        np.zeros(GAMES, np.int32),
        np.zeros((GAMES * LONGEST, words), np.uint64),
    )


def first_weights(shape: tuple[int, int], seed: int) -> NDArray[np.float32]:
    """Return small random weights: all states seem worth about the same."""
    random = np.random.default_rng(abs(seed))
    weights = np.zeros(shape, np.float32)
    weights[:-2, :-1] = random.normal(0, 0.1, (shape[0] - 2, shape[1] - 1))
    weights[-1, :-1] = random.normal(0, 0.3, shape[1] - 1)
    return weights


@exported
def practise(store_address: int, worker_address: int, game_address: int, practice_address: int) -> bool:
    """Make a move in all games, and learn from those that end; return whether the game is one for this."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    practice = practice_at(practice_address)
    counts = practice.counts
    # All have their turn to be first, as there may not be room for the children of all.
    counts[FIRST_GAME] = (counts[FIRST_GAME] + 1) % GAMES
    for job in range(GAMES):
        number = (counts[FIRST_GAME] + job) % GAMES
        worker.job_node[job] = number
        worker.job_joint[job] = NONE
        if not practice.lengths[number]:
            for word in range(practice.start.shape[1]):
                store.states[number, word] = practice.start[0, word]
    worker.counts[JOB_COUNT] = GAMES
    worker.counts[SPEC_COUNT] = 0
    make_children(store_address, worker_address, game_address)
    spec = 0
    suits = True
    for job in range(GAMES):
        specs = worker.job_specs[job]
        if specs != NONE and suits:
            suits = _go_on(game, store, worker, practice, job, spec)
            spec += specs
    worker.counts[JOB_COUNT] = 0
    worker.counts[SPEC_COUNT] = 0
    return suits


@compiled
def _go_on(game, store, worker, practice, job, spec):
    """Make a move in a game; return whether it is one of two roles that take turns."""
    number, specs = worker.job_node[job], worker.job_specs[job]
    mover = NONE
    for role in range(len(game.first_actions) - 1):
        if worker.job_count[job, role] > 1:
            if mover != NONE:
                return False
            mover = role
    length = practice.lengths[number]
    if not specs or length == LONGEST:
        # A role without a move, or a game that goes on and on: nothing to learn from.
        practice.lengths[number] = 0
        practice.counts[GIVEN_UP] += 1
        return True
    chosen = _choose(game, store, worker, practice, number, spec, specs, mover)
    if worker.spec_terminal[chosen]:
        first, second = worker.spec_value[chosen, 0], worker.spec_value[chosen, 1]
        _learn(game, worker, practice, number, advantage(first, second))
        practice.lengths[number] = 0
        practice.counts[PLAYED] += 1
        practice.counts[SHARED] += abs(first + second - 1) > 0.01 and first != second
        return True
    for word in range(practice.start.shape[1]):
        store.states[number, word] = worker.spec_state[chosen, word]
        practice.trail[number * LONGEST + length, word] = worker.spec_state[chosen, word]
    practice.lengths[number] = length + 1
    return True


@compiled
def _choose(game, store, worker, practice, number, spec, specs, mover):
    """Return the child that a role goes to."""
    if specs == 1 or mover == NONE:
        return spec
    if random_below(worker, _WHOLE) < practice.settings[CHANCE] * _WHOLE:
        return spec + random_below(worker, specs)
    best, highest = spec, -1.0
    noise = practice.settings[NOISE] / _WHOLE
    add_up(game, worker, store.states, number)
    for child in range(spec, spec + specs):
        if worker.spec_terminal[child]:
            value = advantage(worker.spec_value[child, 0], worker.spec_value[child, 1])
        else:
            value = np.float64(estimate_near(game, worker, worker.spec_state, child, store.states, number))
        if mover:
            value = 1 - value
        value += noise * random_below(worker, _WHOLE)
        if value > highest:
            best, highest = child, value
    return best


@compiled
def _learn(game, worker, practice, number, value):
    """Learn from how a game ended, from its last state to its first."""
    target = np.float32(value)
    keep = np.float32(practice.settings[LAMBDA])
    for at in range(practice.lengths[number] - 1, -1, -1):
        row = number * LONGEST + at
        found = estimate_of(game, worker, practice.trail, row)
        practice.errors[0] += (value - found) * (value - found)
        _correct(game, worker, practice, row, target - found)
        target = keep * target + (np.float32(1) - keep) * found
        practice.counts[POSITIONS] += 1


@compiled
def _correct(game, worker, practice, row, error):
    """Change the weights that an estimate came from, so that its error gets less."""
    weights, squares, slopes, hidden = game.weights, practice.squares, practice.slopes, worker.hidden
    size = 64 * practice.start.shape[1]
    rate = np.float32(practice.settings[RATE])
    for unit in range(UNITS - 1):
        slopes[unit] = error * weights[size + 1, unit] if hidden[unit] > 0 else np.float32(0)
        change = error * max(np.float32(0), hidden[unit])
        squares[size + 1, unit] += change * change
        weights[size + 1, unit] += rate * change / sqrt(squares[size + 1, unit])
    slopes[UNITS - 1] = error
    _change(weights, squares, slopes, size, rate)
    for word in range(practice.start.shape[1]):
        bits = practice.trail[row, word]
        while bits:
            _change(weights, squares, slopes, 64 * word + lowest_bit(bits), rate)
            bits &= bits - np.uint64(1)


@compiled
def _change(weights, squares, slopes, row, rate):
    """Change the weights of an input."""
    for unit in range(UNITS):
        squares[row, unit] += slopes[unit] * slopes[unit]
        weights[row, unit] += rate * slopes[unit] / sqrt(squares[row, unit])
