"""Nested rollout policy adaptation, in batches of playouts.

After Rosin (2011, "Nested rollout policy adaptation for Monte Carlo tree search"). Each level calls the level
below a number of times and adapts its policy towards the best line so far. The lowest level plays a line by
the policy. Here the lowest level plays a batch of lines, and several groups with policies of their own run
the whole nesting side by side.
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

#: Groups with policies of their own: each is large enough to contain a good line.
_GROUPS: Final = 12
#: Calls of the level below. Rosin's 100 is for single playouts; here each call plays tens.
_CALLS: Final = 20
_LEVELS: Final = 3
#: Step size, as in the paper.
_STEP: Final = 1.0
#: Number of weights of a group. A weight may depend on earlier moves, so there are more than moves.
_WEIGHTS: Final = 1 << 15
#: Upper bound of the moves of a playout.
_LONGEST: Final = 2_000
#: Upper bound of the legal moves stored of a batch of playouts, from which the policy learns.
_REMEMBERED: Final = 1 << 23


class _Record(NamedTuple):
    """A line of a group: its worth; per move the places of the weights of all legal moves, and the choice."""

    worth: tuple[float, int]
    steps: list[tuple[NDArray[np.int64], int]]


class _Choice(NamedTuple):
    """A chosen move in each of some playouts.

    Attributes:
        playouts: int64 [n].
        starts: int64 [n + 1]; where the legal moves of each playout begin.
        places: int64 [moves]; the place of the weight of each legal move.
        chosen: int64 [n]; the places of the chosen moves among the legal ones.
        moves: int32 [n]; the numbers of the chosen moves.
    """

    playouts: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    chosen: NDArray[np.int64]
    moves: NDArray[np.int32]


class NestedRollouts:
    """Nested rollout policy adaptation; see the module.

    Attributes:
        name: the method in results.
        is_over: always False: there is another line to try.
    """

    name = "nested rollouts"
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
        """Return the best line of each group that a level finds."""
        if not level:
            return (yield from self._play(weights))
        weights = weights.copy()
        best: list[_Record | None] = [None] * _GROUPS
        for _ in range(_CALLS):
            records = yield from self._nest(level - 1, weights)
            for group, record in enumerate(records):
                former = best[group]
                if record is not None and (former is None or record.worth >= former.worth):
                    best[group] = record
            for group, record in enumerate(best):
                if record is not None:
                    _adapt(weights[group], record)
        return best

    # -- playouts ----------------------------------------------------------------------------------

    def _play(self, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Play a batch of lines by the weights; return the best line of each group."""
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
            # Yield before the first move, too: other searches always get their turn.
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
            # Very many legal moves: play fewer lines at a time.
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
        """Sample a move in each playout that has one, from the softmax of the weights.

        The argmax of weights plus Gumbel noise is distributed as the softmax (Gumbel 1954).
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
        # Ties are rarer than one in a million; the first move counts.
        chosen = hits[np.unique(sources[hits], return_index=True)[1]]
        ends = np.append(starts, len(sources))
        return _Choice(playouts[able], ends, places, chosen, options.moves[chosen])

    def _context(self, groups: NDArray[np.int64], before: NDArray[np.int32], step: int) -> NDArray[np.int64]:
        """Return an offset for the context of a weight: no context, the step, or the move before."""
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
        """Return the best line of each group, by goal, then by length."""
        best: list[_Record | None] = []
        for group in range(_GROUPS):
            own = np.arange(group, count, _GROUPS)
            worth = np.where(np.isnan(goals[own]), -np.inf, goals[own])
            # Whether longer lines come closer to a goal depends on the game: odd groups prefer longer ones.
            sign = 1 if group % 2 else -1
            order = np.lexsort((sign * lengths[own], worth))
            playout = int(own[order[-1]])
            value = float(worth[order[-1]]), sign * int(lengths[playout])
            best.append(_Record(value, _steps(history, playout, group)) if lengths[playout] else None)
        return best


def _choices_of(history: list[_Choice], playout: int) -> Iterator[tuple[_Choice, int]]:
    """Yield the choices of a playout, each with the place of the playout in it."""
    for choice in history:
        place = int(np.searchsorted(choice.playouts, playout))
        if place == len(choice.playouts) or choice.playouts[place] != playout:
            break
        yield choice, place


def _moves(history: list[_Choice], playouts: NDArray[np.int64], number: int) -> list[int]:
    """Return the numbers of the moves of a playout."""
    return [int(choice.moves[place]) for choice, place in _choices_of(history, int(playouts[number]))]


def _steps(history: list[_Choice], playout: int, group: int) -> list[tuple[NDArray[np.int64], int]]:
    """Return, per move of a playout, the places of the weights of all legal moves, and the choice."""
    steps = []
    for choice, place in _choices_of(history, playout):
        first, end = choice.starts[place], choice.starts[place + 1]
        steps.append((choice.places[first:end] - group * _WEIGHTS, int(choice.chosen[place] - first)))
    return steps


def _adapt(weights: NDArray[np.float32], record: _Record) -> None:
    """Adapt weights towards a line, so that its moves become likelier."""
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
