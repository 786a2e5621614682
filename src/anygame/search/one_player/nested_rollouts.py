"""Nested rollout policy adaptation, in batches of playouts.

The algorithm is that of Rosin (2011, "Nested rollout policy adaptation for Monte Carlo tree search"). Each
level calls the next lower level several times and adapts its policy towards the best line so far. In the
paper, a call of the lowest level plays one line with the policy. Here, a call of the lowest level plays a
batch of lines for each of several groups. Each group has its own policy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from anygame.search.one_player.breadth_first import Incumbent
    from anygame.search.one_player.successors import Options, Successors

#: Number of groups. With 512 lanes, each group has tens of playouts per batch.
_GROUPS: Final = 12
#: Number of calls that a level makes to the next lower level. In Rosin's paper, a level makes 100 calls.
_CALLS: Final = 20
_LEVELS: Final = 3
#: Step size of the policy gradient, as in Rosin's paper.
_STEP: Final = 1.0
#: Number of weights per group. A hash of the context and the move selects the weight.
_WEIGHTS: Final = 1 << 15
#: The hash of a context and a move multiplies the context by this factor.
_SPREAD: Final = 40_503
#: Maximum number of moves of a playout.
_LONGEST: Final = 2_000
#: Maximum number of legal moves that a batch of playouts stores. The policy learns from the stored moves.
_MOST_STORED: Final = 1 << 23


class _Record(NamedTuple):
    """A line of a group."""

    rank: tuple[float, int]  # sort key; a better line has a greater rank
    steps: list[tuple[NDArray[np.int64], int]]  # per move: weight indices of legal moves, index of the choice


class _Choice(NamedTuple):
    """The chosen moves of n playouts at the same step."""

    playouts: NDArray[np.int64]  # [n]; the numbers of the playouts, ascending
    starts: NDArray[np.int64]  # [n + 1]; the index of each playout's first legal move in ``places``
    places: NDArray[np.int64]  # [moves]; the weight index of each legal move
    chosen: NDArray[np.int64]  # [n]; the index of each chosen move in ``places``
    moves: NDArray[np.int32]  # [n]; the move numbers of the chosen moves


class NestedRollouts:
    """Nested rollout policy adaptation; see the module docstring."""

    is_over = False  # The search can always play more lines.

    def __init__(self, successors: Successors, incumbent: Incumbent, seed: int) -> None:
        self._successors, self._incumbent = successors, incumbent
        self._random = np.random.default_rng(seed)
        self._playouts = max(1, successors.width // _GROUPS) * _GROUPS
        self._work = self._forever()

    def step(self, seconds: float) -> None:
        """Extend all playouts of the current batch by a move."""
        next(self._work)

    def _forever(self) -> Generator[None, None, None]:
        while True:
            yield from self._nest(_LEVELS, np.zeros((_GROUPS, _WEIGHTS), np.float32))

    def _nest(self, level: int, weights: NDArray[np.float32]) -> Generator[None, None, list[_Record | None]]:
        """Run a level of the search; return the best line of each group."""
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
        """Play a batch of lines; return the best line of each group."""
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
            # Yield even if there are no moves, so that the other searches always get their turn.
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
            # States have too many legal moves for so many playouts: use smaller batches from now on.
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
        """For each playout with legal moves, sample a legal move from the softmax of the weights.

        The argmax of the weights plus Gumbel noise has the softmax distribution (Gumbel 1954).
        """
        sources = options.sources
        starts = np.flatnonzero(np.diff(sources, prepend=-1))
        groups = playouts[sources] % _GROUPS
        # A third of the groups has no context, a third the step number, and a third the previous move.
        kind, former = groups % 3, before[sources].astype(np.int64)
        context = np.where(kind == 1, step + 1, np.where(kind == 2, former + 2, 0)) * _SPREAD
        places = groups * _WEIGHTS + (context + options.moves) % _WEIGHTS
        uniform = self._random.random(len(places), np.float32)
        noise = -np.log(-np.log(uniform + np.float32(1e-20)) + np.float32(1e-20))
        scores = weights.reshape(-1)[places] + noise
        bounds = np.append(starts, len(sources))
        greatest = np.repeat(np.maximum.reduceat(scores, starts), np.diff(bounds))
        best = np.flatnonzero(scores == greatest)
        # If several moves have the greatest score (less than 1 in a million cases), take the first.
        chosen = best[np.unique(sources[best], return_index=True)[1]]
        return _Choice(playouts[sources[starts]], bounds, places, chosen, options.moves[chosen])

    def _best(
        self, goals: NDArray[np.float64], lengths: NDArray[np.int64], history: list[_Choice], count: int
    ) -> list[_Record | None]:
        """Return each group's line with the greatest goal. Ties are broken by length."""
        best: list[_Record | None] = []
        for group in range(_GROUPS):
            own = np.arange(group, count, _GROUPS)
            own_goals = np.where(np.isnan(goals[own]), -np.inf, goals[own])
            # In some games, longer lines come closer to a goal, so odd groups prefer longer lines.
            sign = 1 if group % 2 else -1
            place = int(np.lexsort((sign * lengths[own], own_goals))[-1])
            playout = int(own[place])
            rank = float(own_goals[place]), sign * int(lengths[playout])
            best.append(_Record(rank, _steps(history, playout, group)) if lengths[playout] else None)
        return best


def _choices_of(history: list[_Choice], playout: int) -> Iterator[tuple[_Choice, int]]:
    """Yield the choices that contain a playout, each with the index of the playout in the choice."""
    for choice in history:
        place = int(np.searchsorted(choice.playouts, playout))
        if place == len(choice.playouts) or choice.playouts[place] != playout:
            break
        yield choice, place


def _moves(history: list[_Choice], playouts: NDArray[np.int64], index: int) -> list[int]:
    """Return the move numbers of the playout ``playouts[index]``."""
    return [int(choice.moves[place]) for choice, place in _choices_of(history, int(playouts[index]))]


def _steps(history: list[_Choice], playout: int, group: int) -> list[tuple[NDArray[np.int64], int]]:
    """Return the steps of a playout; see ``_Record``."""
    steps = []
    for choice, place in _choices_of(history, playout):
        first, end = choice.starts[place], choice.starts[place + 1]
        steps.append((choice.places[first:end] - group * _WEIGHTS, int(choice.chosen[place] - first)))
    return steps


def _adapt(weights: NDArray[np.float32], record: _Record) -> None:
    """Make the moves of a line more probable: a step of gradient ascent on the line's log-likelihood."""
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
