"""Nested rollout policy adaptation, in batches of playouts.

The algorithm is that of Rosin (2011, "Nested rollout policy adaptation for Monte Carlo tree search"). Each
level calls the next lower level several times and adapts its policy towards the best line so far. In the
paper, the lowest level plays one line with the policy. Here it plays a batch of lines. The lines belong to
several groups, and each group has its own policy.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from anygame.search.one_player.breadth_first import Incumbent
    from anygame.search.one_player.successors import Options, Successors

#: Number of groups: few enough that each group has tens of playouts, of which one is good.
_GROUPS: Final = 12
#: Number of calls of the next lower level. Rosin uses 100 calls of one playout; here a call plays tens.
_CALLS: Final = 20
_LEVELS: Final = 3
#: Step size of the policy gradient, as in the paper.
_STEP: Final = 1.0
#: Number of weights of a group. It exceeds the number of moves, since weights can depend on the context.
_WEIGHTS: Final = 1 << 15
#: Multiplier that spreads the weights of different contexts.
_SPREAD: Final = 40_503
#: Maximum number of moves of a playout.
_LONGEST: Final = 2_000
#: Maximum number of legal moves stored per batch of playouts. The policy learns from them.
_MOST_STORED: Final = 1 << 23


class _Record(NamedTuple):
    """A line of a group.

    Attributes:
        rank: sort key; greater for better lines.
        steps: per move: the indices of the weights of all legal moves, and the index of the chosen move.
    """

    rank: tuple[float, int]
    steps: list[tuple[NDArray[np.int64], int]]


class _Choice(NamedTuple):
    """A chosen move in each of n playouts.

    Attributes:
        playouts: int64 [n]; the numbers of the playouts, ascending.
        starts: int64 [n + 1]; where the legal moves of each playout begin.
        places: int64 [moves]; the index of the weight of each legal move.
        chosen: int64 [n]; the indices of the chosen moves among the legal moves of all playouts.
        moves: int32 [n]; the numbers of the chosen moves.
    """

    playouts: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    chosen: NDArray[np.int64]
    moves: NDArray[np.int32]


class NestedRollouts:
    """Nested rollout policy adaptation; the module describes the algorithm.

    Attributes:
        is_over: always False, since the search can always play more lines.
    """

    is_over = False

    def __init__(self, successors: Successors, incumbent: Incumbent, seed: int) -> None:
        self._successors, self._incumbent = successors, incumbent
        self._random = np.random.default_rng(seed)
        self._playouts = max(1, successors.width // _GROUPS) * _GROUPS
        self._work = self._forever()

    def advance(self, seconds: float) -> None:
        """Search for about the given number of seconds."""
        until = perf_counter() + seconds
        while perf_counter() < until and not self._incumbent.is_best:
            next(self._work)

    def _forever(self) -> Generator[None, None, None]:
        while True:
            yield from self._nest(_LEVELS, np.zeros((_GROUPS, _WEIGHTS), np.float32))

    def _nest(self, level: int, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Run a level; return the best line of each group."""
        if not level:
            return (yield from self._play(weights))
        weights = weights.copy()
        best: list[_Record | None] = [None] * _GROUPS
        for _ in range(_CALLS):
            records = yield from self._nest(level - 1, weights)
            for group, record in enumerate(records):
                former = best[group]
                if record is not None and (former is None or record.rank >= former.rank):
                    best[group] = record
            for group, record in enumerate(best):
                if record is not None:
                    _adapt(weights[group], record)
        return best

    # -- playouts ----------------------------------------------------------------------------------

    def _play(self, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Play a batch of lines with the policies; return the best line of each group."""
        successors = self._successors
        successors.forget()
        count = self._playouts
        playouts = np.arange(count)
        states = np.repeat(successors.root, count, axis=0)
        before = np.full(count, -1, np.int32)
        goals, lengths = np.full(count, np.nan), np.zeros(count, np.int64)
        history: list[_Choice] = []
        stored = 0
        while len(playouts) and len(history) < _LONGEST and stored < _MOST_STORED:
            # Yield before the first move, too, so that the other searches always get their turn.
            yield
            options = successors.options(states)
            if not len(options.moves):
                break
            choice = self._choose(playouts, before, options, len(history), weights)
            history.append(choice)
            stored += len(options.moves)
            children = successors.children(states[np.unique(options.sources)], choice.moves)
            playouts = choice.playouts
            lengths[playouts] += 1
            goals[playouts] = children.goals
            line = partial(_moves, history, playouts)
            self._incumbent.offer(children, len(history), "nested rollouts", line)
            on = ~children.ended
            playouts, states, before = playouts[on], children.states[on], choice.moves[on]
        if stored >= _MOST_STORED and self._playouts > _GROUPS:
            # There are very many legal moves, so play fewer lines at a time.
            self._playouts = max(1, self._playouts // 2 // _GROUPS) * _GROUPS
        return self._best(goals, lengths, history, count)

    def _choose(
        self,
        playouts: NDArray[np.int64],
        before: NDArray[np.int32],
        options: Options,
        step: int,
        weights: NDArray[np.float32],
    ) -> _Choice:
        """Sample a legal move, if any, in each playout from the softmax of the weights.

        The argmax of the weights plus Gumbel noise has this distribution (Gumbel 1954).
        """
        sources = options.sources
        starts = np.flatnonzero(np.diff(sources, prepend=-1))
        groups = playouts[sources] % _GROUPS
        # A third of the groups has weights without context, a third by step, a third by previous move.
        kind, former = groups % 3, before[sources].astype(np.int64)
        context = np.where(kind == 1, step + 1, np.where(kind == 2, former + 2, 0)) * _SPREAD
        places = groups * _WEIGHTS + (context + options.moves) % _WEIGHTS
        uniform = self._random.random(len(places), np.float32)
        noise = -np.log(-np.log(uniform + np.float32(1e-20)) + np.float32(1e-20))
        scores = weights.reshape(-1)[places] + noise
        bounds = np.append(starts, len(sources))
        greatest = np.repeat(np.maximum.reduceat(scores, starts), np.diff(bounds))
        best = np.flatnonzero(scores == greatest)
        # If several moves have the greatest score, which is rarer than one in a million, take the first move.
        chosen = best[np.unique(sources[best], return_index=True)[1]]
        return _Choice(playouts[sources[starts]], bounds, places, chosen, options.moves[chosen])

    def _best(
        self,
        goals: NDArray[np.float64],
        lengths: NDArray[np.int64],
        history: list[_Choice],
        count: int,
    ) -> list[_Record | None]:
        """Return the line of each group with the best goal; of several such lines, choose by length."""
        best: list[_Record | None] = []
        for group in range(_GROUPS):
            own = np.arange(group, count, _GROUPS)
            own_goals = np.where(np.isnan(goals[own]), -np.inf, goals[own])
            # In some games longer lines come closer to a goal, so odd groups prefer longer lines.
            sign = 1 if group % 2 else -1
            place = int(np.lexsort((sign * lengths[own], own_goals))[-1])
            playout = int(own[place])
            rank = float(own_goals[place]), sign * int(lengths[playout])
            best.append(_Record(rank, _steps(history, playout, group)) if lengths[playout] else None)
        return best


def _choices_of(history: list[_Choice], playout: int) -> Iterator[tuple[_Choice, int]]:
    """Yield the choices of a playout, and the index of the playout in each choice."""
    for choice in history:
        place = int(np.searchsorted(choice.playouts, playout))
        if place == len(choice.playouts) or choice.playouts[place] != playout:
            break
        yield choice, place


def _moves(history: list[_Choice], playouts: NDArray[np.int64], index: int) -> list[int]:
    """Return the numbers of the moves of the playout with an index in ``playouts``."""
    return [int(choice.moves[place]) for choice, place in _choices_of(history, int(playouts[index]))]


def _steps(history: list[_Choice], playout: int, group: int) -> list[tuple[NDArray[np.int64], int]]:
    """Return the steps of a playout; see ``_Record``."""
    steps = []
    for choice, place in _choices_of(history, playout):
        first, end = choice.starts[place], choice.starts[place + 1]
        steps.append((choice.places[first:end] - group * _WEIGHTS, int(choice.chosen[place] - first)))
    return steps


def _adapt(weights: NDArray[np.float32], record: _Record) -> None:
    """Adapt weights so that the moves of a line become more probable."""
    places = np.concatenate([legal for legal, _ in record.steps])
    counts = np.array([len(legal) for legal, _ in record.steps])
    starts = np.cumsum(counts) - counts
    chosen = starts + [chosen for _, chosen in record.steps]
    scores = weights[places]
    scores -= np.repeat(np.maximum.reduceat(scores, starts), counts)
    policy = np.exp(scores)
    policy /= np.repeat(np.add.reduceat(policy, starts), counts)
    np.add.at(weights, places, -_STEP * policy)
    np.add.at(weights, places[chosen], np.float32(_STEP))
