"""Trials of estimates: fast matches of searches with them against searches without, or with others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.learning.learner import Progress

    Weights = NDArray[np.float32]

#: Weights of estimates that are tried: alone, without playouts, or beside the means of playouts.
ALONE, BESIDE_PLAYOUTS = 1.0, 0.6
#: Leaves per move of a match without a clock.
LEAVES: Final = 2000
#: Games that are too few to learn anything from.
FEWEST_GAMES: Final = 200
#: Matches of a trial: to accept estimates, to decide with time left, and at most.
_FEWEST_MATCHES, _EARLIEST_MATCHES, _MOST_MATCHES = 4, 6, 24
#: Time budget of a trial: number of matches, and seconds per move. Few slow matches tell more than many fast
#: ones: with few leaves estimates seem better than they are.
_PLANNED_MATCHES: Final = 10
_FASTEST, _SLOWEST = 0.005, 0.1
#: Standard errors above one half: of a score that is accepted; that is accepted at once; that is rejected.
_GOOD, _CERTAIN, _HOPELESS = 0.8, 2.0, -1.2
#: The same for goals compared with those without estimates, if they are too low.
_HARMFUL: Final = -0.5
#: Bytes of the tree of each side.
_MEMORY: Final = 1 << 24
#: Random moves before a match begins, at most.
_LONGEST_OPENING: Final = 4
#: Joint moves after which a match is given up.
_LONGEST_MATCH: Final = 400
#: Standard errors to either side that an interval of 95 % has.
_NINETY_FIVE: Final = 1.96


@dataclass(frozen=True, slots=True)
class Trial:
    """Results of matches of searches with estimates against searches without, or with other ones.

    Attributes:
        leads: for each match, 0.5 plus half of the mean difference of goals between the role with estimates
            and the other roles: 1 for a win against one role, and 0.5 for a draw.
        gains: in games that are not zero-sum, the same for the difference to its goal in matches without
            estimates on either side; else empty.
    """

    leads: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The mean of the leads; one half without any."""
        return sum(self.leads) / len(self.leads) if self.leads else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the score, were all matches won or lost (Wilson 1927).

        >>> [round(bound, 2) for bound in Trial([1.0] * 9 + [0.0]).interval]
        [0.6, 0.98]
        """
        return interval(self.score, len(self.leads))

    @property
    def speaks_for_it(self) -> bool:
        """Whether estimates bring a lead that does not cost more than it gains."""
        enough = len(self.leads) >= _FEWEST_MATCHES
        return enough and _excess(self.leads) >= _GOOD and _excess(self.gains) > _HARMFUL

    @property
    def speaks_against_it(self) -> bool:
        """Whether estimates cost a lead, or more than they gain."""
        return min(_excess(self.leads), _excess(self.gains)) <= _HOPELESS

    @property
    def is_decided(self) -> bool:
        """Whether more matches would hardly change the result."""
        if len(self.leads) < _EARLIEST_MATCHES:
            return False
        is_certain = _excess(self.leads) >= _CERTAIN and _excess(self.gains) > _HARMFUL
        return self.speaks_against_it or is_certain


def interval(score: float, matches: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean of points, by Wilson's method; all for no matches.

    Args:
        score: the mean of the points, each from 0 to 1.
        matches: number of matches.
    """
    if not matches:
        return 0.0, 1.0
    square = _NINETY_FIVE**2 / matches
    centre = (score + square / 2) / (1 + square)
    reach = sqrt(square * (score * (1 - score) + square / 4)) / (1 + square)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _excess(points: Sequence[float]) -> float:
    """Return by how many standard errors the mean of points exceeds one half, 0 for no points.

    One more match is added, as far from one half as any: a few points are no evidence.
    """
    leads = [point - 0.5 for point in points]
    if not any(leads):
        return 0.0
    squares = [lead * lead for lead in leads]
    return sum(leads) / sqrt(sum(squares) + max(squares))


def try_out(
    game: Game,
    weights: Weights,
    *,
    seed: int,
    rivals: Weights | None = None,
    trust: float = ALONE,
    matches: int | None = None,
    leaves: int = LEAVES,
    end: float = inf,
    length: float | None = None,
    is_shared: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Trial:
    """Play matches of searches with estimates against searches without, or with others, in turn as each role.

    Args:
        game: the game.
        weights: of the estimates.
        seed: of random numbers. The same seed gives the same trial, without a clock.
        rivals: the weights of the others' estimates; None for searches without.
        trust: weight of the estimates.
        matches: number of matches; None to continue until the result is clear.
        leaves: per move, where ``length`` is not given.
        end: deadline, in the time of ``perf_counter``.
        length: expected joint moves of a match, to divide the time; None for a number of leaves per move,
            however long that takes.
        is_shared: whether the game is not zero-sum. Then a lead may cost the role part of its own goal. So
            each opening is also played without estimates on either side, as a baseline.
        stop: asked before every move whether to end at once.

    Returns:
        the results of the matches that were finished.
    """
    random = Random(seed)
    trial = Trial()
    planned = _PLANNED_MATCHES * 3 // 2 if is_shared else _PLANNED_MATCHES
    most = _MOST_MATCHES if matches is None else matches
    arena = _Matches(game, weights, rivals, trust, random, end, length, leaves, planned, stop)
    opening, without = game.initial_state(), None
    while len(trial.leads) < most and not (matches is None and trial.is_decided):
        seat = len(trial.leads) % len(game.roles)  # each opening is played from all
        if not seat:
            opening = _opening(game, random)
            without = arena.play(opening, None) if is_shared else None
        goals = arena.play(opening, seat)
        if goals is None:
            break
        others = (sum(goals) - goals[seat]) / (len(goals) - 1)
        trial.leads.append((1 + goals[seat] - others) / 2)
        if without is not None:
            trial.gains.append((1 + goals[seat] - without[seat]) / 2)
    return trial


def judge(
    game: Game,
    weights: Weights,
    progress: Progress,
    *,
    seed: int,
    leaves: int = LEAVES,
    end: float = inf,
    length: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[float, Trial]:
    """Return the weight of estimates in searches, 0 to 1, and the trial that decides it.

    They are tried alone, without playouts, and, for two roles, beside them; the better one is taken. Where
    they are bad alone, they are not tried beside playouts: there they do harm that shows with many leaves
    only. After too few games of self-play there is no trial. The other parameters are those of ``try_out``.
    """
    if progress.games < FEWEST_GAMES:
        return 0.0, Trial()
    now = perf_counter()
    share = 0.5 if len(game.roles) == 2 else 1.0
    tried = partial(
        try_out,
        game,
        weights,
        seed=seed,
        leaves=leaves,
        length=length,
        is_shared=progress.is_shared,
        stop=stop,
    )
    trials = {ALONE: tried(trust=ALONE, end=now + share * (end - now))}
    if share < 1 and trials[ALONE].score < 1 and not trials[ALONE].speaks_against_it:
        trials[BESIDE_PLAYOUTS] = tried(trust=BESIDE_PLAYOUTS, end=end)
    trust, best = max(trials.items(), key=lambda each: (each[1].speaks_for_it, each[1].score))
    return trust if best.speaks_for_it else 0.0, best


def _opening(game: Game, random: Random) -> State:
    """Return a state after some random moves, the initial one if these end the game."""
    state = start = game.initial_state()
    for _ in range(random.randrange(_LONGEST_OPENING + 1)):
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if state.is_terminal or state.stuck_role is not None:
            return start
    return state


@dataclass(slots=True)
class _Matches:
    """Fast matches that divide the time left.

    Attributes:
        planned: number of further matches to divide the time by.
        length: joint moves of a match, as far as is known; None for no clock.
    """

    game: Game
    weights: Weights
    rivals: Weights | None
    trust: float
    random: Random
    end: float
    length: float | None
    leaves: int
    planned: int
    stop: Callable[[], bool]

    def play(self, state: State, seat: int | None) -> list[float] | None:
        """Play a match, one seat with the estimates, or none with any; return all values, None if stopped."""
        pace = None
        if self.length is not None:
            left = self.end - perf_counter()
            pace = min(max(_FASTEST, left / (max(1, self.planned) * self.length)), _SLOWEST)
        sides = [
            TreeSearcher(self.game, seed=self.random.getrandbits(32), memory=_MEMORY) for _ in self.game.roles
        ]
        if seat is not None:
            for number, side in enumerate(sides):
                weights = self.weights if number == seat else self.rivals
                if weights is not None:
                    side.use_estimates(weights, self.trust)
        made = 0
        while made < _LONGEST_MATCH and not state.is_terminal and state.stuck_role is None:
            joint = []
            for role, side in zip(self.game.roles, sides, strict=True):
                legal = state.legal_moves(role)
                if len(legal) > 1:
                    if perf_counter() >= self.end or self.stop():
                        return None
                    side.begin(state)
                    side.advance(*((inf, self.leaves) if pace is None else (pace, None)))
                    joint.append(side.best(self.game.role_index(role)))
                else:
                    joint.append(legal[0])
            state = state.next(joint)
            made += 1
        self.planned -= 1
        if self.length is not None:
            # Matches can be longer than games of self-play, which are made of quick moves.
            self.length += max(0, made - self.length) / 4
        return [side.value_of_end(state, role) for role, side in enumerate(sides)]
