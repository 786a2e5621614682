"""Nested rollouts with policy adaptation, many playouts side by side.

After Rosin (2011, "Nested rollout policy adaptation for Monte Carlo tree search"): a level of the nesting
calls the one below it a number of times and moves its weights towards the best line so far; at the bottom,
lines are played by the weights. Here the bottom is a batch of playouts, and several groups of them run the
whole nesting side by side, each with weights of its own.
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

#: Groups with weights of their own: each is large enough to have a good line to learn from.
_GROUPS: Final = 12
#: How often a level calls the one below. Rosin's 100 is for single playouts; here each call has tens.
_CALLS: Final = 20
_LEVELS: Final = 3
#: How far weights move at a time, as in the paper.
_STEP: Final = 1.0
#: Weights of a group: what a move is worth may depend on the moves before, so there are more than moves.
_WEIGHTS: Final = 1 << 15
#: Joint moves after which a playout is given up.
_LONGEST: Final = 2_000
#: Legal moves that are remembered of a batch of playouts, so that its best lines can be learnt from.
_REMEMBERED: Final = 1 << 23


class _Record(NamedTuple):
    """A line of a group: its worth, and per move the places of the weights of all legal moves."""

    worth: tuple[float, int]
    steps: list[tuple[NDArray[np.int64], int]]


class _Choice(NamedTuple):
    """A move in each of some playouts.

    Attributes:
        playouts: int64 [n]; which.
        starts: int64 [n + 1]; where the legal moves of each begin.
        places: int64 [moves]; the weight of each.
        chosen: int64 [n]; which of them were chosen.
        moves: int32 [n]; their numbers.
    """

    playouts: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    chosen: NDArray[np.int64]
    moves: NDArray[np.int32]


class NestedRollouts:
    """Lines found by learning which moves belong to good ones; see the module.

    Attributes:
        name: what it is called in results.
        is_over: never: there is always one more line to try.
    """

    name = "nested rollouts"
    is_over = False

    def __init__(self, successors: Successors, incumbent: Incumbent, seed: int) -> None:
        self._successors, self._incumbent = successors, incumbent
        self._random = np.random.default_rng(seed)
        self._playouts = max(1, successors.width // _GROUPS) * _GROUPS
        self._work = self._forever()

    def advance(self, seconds: float) -> None:
        """Go on for about so long."""
        until = perf_counter() + seconds
        while perf_counter() < until and not self._incumbent.is_best:
            next(self._work)

    def _forever(self) -> Generator[None, None, None]:
        while True:
            yield from self._nest(_LEVELS, np.zeros((_GROUPS, _WEIGHTS), np.float32))

    def _nest(self, level: int, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Return the best line of each group that a level finds."""
        if not level:
            found = yield from self._play(weights)
            return found
        weights = weights.copy()
        best: list[_Record | None] = [None] * _GROUPS
        for _ in range(_CALLS):
            found = yield from self._nest(level - 1, weights)
            for group, record in enumerate(found):
                known = best[group]
                if record is not None and (known is None or record.worth >= known.worth):
                    best[group] = record
            for group, record in enumerate(best):
                if record is not None:
                    _adapt(weights[group], record)
        return best

    # -- playouts ----------------------------------------------------------------------------------

    def _play(self, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Play a batch of lines by the weights; return the best of each group."""
        successors = self._successors
        successors.forget()
        count = self._playouts
        playouts = np.arange(count)
        states = np.repeat(successors.root, count, axis=0)
        before = np.full(count, -1, np.int32)
        goals, lengths = np.full(count, np.nan), np.zeros(count, np.int64)
        history: list[_Choice] = []
        remembered = 0
        while len(playouts) and len(history) < _LONGEST and remembered < _REMEMBERED:
            # Also where there is no move at all, others get their turn.
            yield
            options = successors.options(states)
            if not len(options.moves):
                break
            choice = self._choose(playouts, before, options, len(history), weights)
            history.append(choice)
            remembered += len(options.moves)
            able = np.unique(options.sources)
            children = successors.children(states[able], choice.moves)
            playouts = choice.playouts
            lengths[playouts] += 1
            goals[playouts] = children.goals
            line = partial(_moves, history, playouts)
            self._incumbent.offer(children, len(history), self.name, line)
            on = ~children.ended
            playouts, states, before = playouts[on], children.states[on], choice.moves[on]
        if remembered >= _REMEMBERED and self._playouts > _GROUPS:
            # There are very many moves: fewer lines at a time.
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
        """Choose a move in each playout that has one, the likelier the greater its weight.

        The greatest of sums of a logarithmic weight and a number of Gumbel's distribution is distributed as
        the softmax (Gumbel 1954).
        """
        sources = options.sources
        starts = np.flatnonzero(np.diff(sources, prepend=-1))
        able = sources[starts]
        groups = playouts[sources] % _GROUPS
        context = self._context(groups, before[sources], step)
        places = groups * _WEIGHTS + (context + options.moves) % _WEIGHTS
        uniform = self._random.random(len(places), np.float32)
        noise = -np.log(-np.log(uniform + np.float32(1e-20)) + np.float32(1e-20))
        scores = weights.reshape(-1)[places] + noise
        greatest = np.maximum.reduceat(scores, starts) if len(starts) else scores
        counts = np.diff(starts, append=len(sources))
        hits = np.flatnonzero(scores == np.repeat(greatest, counts))
        # Ties are rarer than one in a million; the first one counts.
        chosen = hits[np.unique(sources[hits], return_index=True)[1]]
        ends = np.append(starts, len(sources))
        return _Choice(playouts[able], ends, places, chosen, options.moves[chosen])

    def _context(self, groups: NDArray[np.int64], before: NDArray[np.int32], step: int) -> NDArray[np.int64]:
        """Return what besides a move its weight depends on: nothing, the time, or the move before."""
        kind = groups % 3
        context = np.where(kind == 1, step + 1, np.where(kind == 2, before.astype(np.int64) + 2, 0))
        return context * 40_503

    def _best(
        self,
        goals: NDArray[np.float64],
        lengths: NDArray[np.int64],
        history: list[_Choice],
        count: int,
    ) -> list[_Record | None]:
        """Return the best line of each group: by its goal, then its length."""
        best: list[_Record | None] = []
        for group in range(_GROUPS):
            own = np.arange(group, count, _GROUPS)
            worth = np.where(np.isnan(goals[own]), -np.inf, goals[own])
            # Whether longer lines come closer to a goal depends on the game: groups differ in this.
            sign = 1 if group % 2 else -1
            order = np.lexsort((sign * lengths[own], worth))
            playout = int(own[order[-1]])
            value = float(worth[order[-1]]), sign * int(lengths[playout])
            best.append(_Record(value, _steps(history, playout, group)) if lengths[playout] else None)
        return best


def _choices_of(history: list[_Choice], playout: int) -> Iterator[tuple[_Choice, int]]:
    """Yield the moves of a playout, each with its place among those made side by side."""
    for choice in history:
        place = int(np.searchsorted(choice.playouts, playout))
        if place == len(choice.playouts) or choice.playouts[place] != playout:
            break
        yield choice, place


def _moves(history: list[_Choice], playouts: NDArray[np.int64], number: int) -> list[int]:
    """Return the moves of one of some playouts."""
    return [int(choice.moves[place]) for choice, place in _choices_of(history, int(playouts[number]))]


def _steps(history: list[_Choice], playout: int, group: int) -> list[tuple[NDArray[np.int64], int]]:
    """Return, per move of a playout, the places of all legal moves, and which was chosen."""
    steps = []
    for choice, place in _choices_of(history, playout):
        first, end = choice.starts[place], choice.starts[place + 1]
        steps.append((choice.places[first:end] - group * _WEIGHTS, int(choice.chosen[place] - first)))
    return steps


def _adapt(weights: NDArray[np.float32], record: _Record) -> None:
    """Move weights towards a line, so that its moves become likelier."""
    if not record.steps:
        return
    places = np.concatenate([legal for legal, _ in record.steps])
    counts = np.array([len(legal) for legal, _ in record.steps])
    starts = np.cumsum(counts) - counts
    chosen = starts + [chosen for _, chosen in record.steps]
    scores = weights[places]
    scores -= np.repeat(np.maximum.reduceat(scores, starts), counts)
    likely = np.exp(scores)
    likely /= np.repeat(np.add.reduceat(likely, starts), counts)
    np.add.at(weights, places, -_STEP * likely)
    np.add.at(weights, places[chosen], np.float32(_STEP))
