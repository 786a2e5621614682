"""Trials of estimates: fast matches of searches with them against searches without, or with others.

The trial of a model is a sequential probability ratio test (Wald 1945, "Sequential tests of statistical
hypotheses") of no gain against a score of 75 %. Each opening is played in all seats. For two roles, its
result is who wins the pair of matches, so neither seats nor openings count. A player that scores 75 % wins
90 % of the pairs that have a winner. For more roles, each match counts by its points.

While estimates gain nothing, the likelihood ratio is a nonnegative supermartingale. So the probability that
it ever reaches ``1 / risk`` is at most ``risk``, whatever is played next and whenever it ends (Ville 1939).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, prod, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.learning.learner import Progress

    Weights = NDArray[np.float32]

#: Weights of estimates that are tried, first alone, then beside the means of playouts; and for each the
#: probability that it is accepted without a gain. For more than two roles there is nothing beside estimates.
ALONE: Final = 1.0
RISKS: Final[Mapping[float, float]] = {ALONE: 0.03, 0.6: 0.01, 0.3: 0.01}
_RISKS_ALONE: Final[Mapping[float, float]] = {ALONE: 0.05}
#: Probability that estimates which score 75 % are dropped before the last match.
MISSED: Final = 0.05
#: How much more often estimates that score 75 % win a pair of matches than lose it: 0.9 - 0.1.
_LEAD_IN_PAIRS: Final = 0.8
#: Matches of a trial for each of one or two weights. The third one shares those of the others.
_MATCHES: Final = 24
#: Leaves per move of a match without a clock.
LEAVES: Final = 2000
#: Games that are too few to learn anything from.
FEWEST_GAMES: Final = 200
#: Time budget of a trial: number of matches, and seconds per move. Few slow matches tell more than many fast
#: ones: with few leaves estimates seem better than they are.
_PLANNED_MATCHES: Final = 20
_FASTEST, _SLOWEST = 0.005, 0.1
#: Standard errors below one half that the mean of the gains may be.
_TOLERATED_LOSS: Final = 0.5
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
        roles: number of roles. Each opening is played in as many matches, one from each seat.
        leads: for each match, 0.5 plus half of the mean difference of goals between the role with estimates
            and the other roles: 1 for a win against one role, and 0.5 for a draw.
        gains: in games that are not zero-sum, the same for the difference to its goal in matches without
            estimates on either side; else empty.
    """

    roles: int = 2
    leads: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The mean of the leads; one half without any."""
        return sum(self.leads) / len(self.leads) if self.leads else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the score, were all matches won or lost (Wilson 1927).

        >>> [round(bound, 2) for bound in Trial(2, [1.0] * 9 + [0.0]).interval]
        [0.6, 0.98]
        """
        return interval(self.score, len(self.leads))

    @property
    def evidence(self) -> float:
        """The likelihood ratio of a score of 75 % to no gain.

        Of a pair of matches without a winner, and of a match that is drawn, it is 1.

        >>> Trial(2, [1.0, 1.0, 0.0, 1.0]).evidence, Trial(3, [1.0, 1.0, 0.25]).evidence
        (1.8, 1.6875)
        """
        if self.roles != 2:
            return prod(0.5 + lead for lead in self.leads)
        pairs = zip(self.leads[::2], self.leads[1::2], strict=True)
        leads = [one + other - 1 for one, other in pairs]
        return prod(1 + _LEAD_IN_PAIRS * ((lead > 1e-9) - (lead < -1e-9)) for lead in leads)

    @property
    def costs_goals(self) -> bool:
        """Whether the role with estimates lowers its own goal by its lead."""
        losses = [0.5 - gain for gain in self.gains]
        # One more match is added, as far from one half as any: a few points are no evidence.
        squares = [loss * loss for loss in losses]
        return any(losses) and sum(losses) >= _TOLERATED_LOSS * sqrt(sum(squares) + max(squares))


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


def decide(
    trials: Mapping[float, Trial],
    play: Callable[[float], bool],
    matches: int,
    risks: Mapping[float, float] = RISKS,
) -> float:
    """Return the weight of estimates whose trial shows a gain, 0 if none does.

    The next opening goes to the weight with the most evidence so far, the first of equal ones. Weights that
    are undecided after the last match are not accepted.

    Args:
        trials: a trial for each weight.
        play: adds the matches of an opening to the trial of a weight; returns whether there was time.
        matches: number of matches of all trials together, at most.
        risks: for each weight, the probability that it is accepted without a gain.
    """
    racing = dict(trials)
    while racing:
        trust = max(racing, key=lambda each: racing[each].evidence)
        trial = racing[trust]
        if sum(len(each.leads) for each in trials.values()) + trial.roles > matches or not play(trust):
            break
        if trial.evidence >= 1 / risks[trust]:
            if not trial.costs_goals:
                return trust
            del racing[trust]
        elif trial.evidence <= MISSED:
            del racing[trust]
    return 0.0


def judge(
    game: Game,
    weights: Weights,
    progress: Progress,
    *,
    seed: int,
    leaves: int = LEAVES,
    precision: float = 1.0,
    risk: float = 1.0,
    end: float = inf,
    length: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[float, Trial]:
    """Return the weight of estimates in searches, 0 to 1, and its trial; of weight 0 that with most evidence.

    After too few games of self-play there is no trial.

    Args:
        game: the game.
        weights: of the estimates.
        progress: of the training.
        seed: of random numbers. The same seed gives the same trial, without a clock.
        leaves: per move, where ``length`` is not given.
        precision: factor of the number of matches.
        risk: factor of the probabilities of acceptance without a gain.
        end: deadline, in the time of ``perf_counter``.
        length: expected joint moves of a match, to divide the time; None for a number of leaves per move,
            however long that takes.
        stop: asked before every move whether to end at once.
    """
    roles = len(game.roles)
    risks = {trust: risk * each for trust, each in (RISKS if roles == 2 else _RISKS_ALONE).items()}
    trials = {trust: Trial(roles) for trust in risks}
    if progress.games < FEWEST_GAMES:
        return 0.0, trials[ALONE]
    arena = _Arena(
        game, weights, seed, leaves, end=end, length=length, stop=stop, has_baseline=progress.is_shared
    )
    most = max(roles, int(precision * _MATCHES * min(2, len(risks))))
    chosen = decide(trials, lambda trust: arena.play_round(trials[trust], trust), most, risks)
    return chosen, trials[chosen] if chosen else max(trials.values(), key=lambda each: each.evidence)


def try_out(
    game: Game,
    weights: Weights,
    *,
    seed: int,
    matches: int,
    rivals: Weights | None = None,
    leaves: int = LEAVES,
) -> Trial:
    """Play matches of searches with estimates alone against searches without, or with others.

    Args:
        game: the game.
        weights: of the estimates.
        seed: of random numbers. The same seed gives the same trial.
        matches: number of matches, rounded up to a multiple of the number of roles.
        rivals: the weights of the others' estimates; None for searches without.
        leaves: per move.
    """
    trial = Trial(len(game.roles))
    arena = _Arena(game, weights, seed, leaves, rivals=rivals)
    while len(trial.leads) < matches:
        arena.play_round(trial, ALONE)
    return trial


def _opening(game: Game, random: Random) -> State:
    """Return a state after some random moves, the initial one if these end the game."""
    state = start = game.initial_state()
    for _ in range(random.randrange(_LONGEST_OPENING + 1)):
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if state.is_terminal or state.stuck_role is not None:
            return start
    return state


class _Arena:
    """Fast matches from the same openings for all weights of estimates, which divide the time left."""

    def __init__(
        self,
        game: Game,
        weights: Weights,
        seed: int,
        leaves: int,
        *,
        rivals: Weights | None = None,
        end: float = inf,
        length: float | None = None,
        stop: Callable[[], bool] = lambda: False,
        has_baseline: bool = False,
    ) -> None:
        self._game, self._weights, self._rivals, self._leaves = game, weights, rivals, leaves
        self._end, self._length, self._stop = end, length, stop
        self._has_baseline = has_baseline
        self._planned = _PLANNED_MATCHES * 3 // 2 if has_baseline else _PLANNED_MATCHES
        self._random = Random(seed)
        self._openings: list[State] = []
        self._baselines: list[list[float]] = []

    def play_round(self, trial: Trial, trust: float) -> bool:
        """Play the next opening of a trial from all seats; return False, and add nothing, if stopped.

        In games that are not zero-sum, a lead may cost the role part of its own goal. So each opening is also
        played without estimates on either side, as a baseline.
        """
        game, number = self._game, len(trial.leads) // trial.roles
        if number == len(self._openings):
            self._openings.append(_opening(game, self._random))
        opening = self._openings[number]
        if self._has_baseline and number == len(self._baselines):
            goals = self._play(opening, None, 0.0)
            if goals is None:
                return False
            self._baselines.append(goals)
        leads, gains = [], []
        for seat in range(trial.roles):
            goals = self._play(opening, seat, trust)
            if goals is None:
                return False
            others = (sum(goals) - goals[seat]) / (len(goals) - 1)
            leads.append((1 + goals[seat] - others) / 2)
            if self._has_baseline:
                gains.append((1 + goals[seat] - self._baselines[number][seat]) / 2)
        trial.leads.extend(leads)
        trial.gains.extend(gains)
        return True

    def _play(self, state: State, seat: int | None, trust: float) -> list[float] | None:
        """Play a match, one seat with the estimates, or none with any; return all values, None if stopped."""
        game, pace = self._game, None
        if self._length is not None:
            left = self._end - perf_counter()
            pace = min(max(_FASTEST, left / (max(1, self._planned) * self._length)), _SLOWEST)
        sides = [TreeSearcher(game, seed=self._random.getrandbits(32), memory=_MEMORY) for _ in game.roles]
        if seat is not None:
            for number, side in enumerate(sides):
                weights = self._weights if number == seat else self._rivals
                if weights is not None:
                    side.use_estimates(weights, trust)
        made = 0
        while made < _LONGEST_MATCH and not state.is_terminal and state.stuck_role is None:
            joint = []
            for role, side in zip(game.roles, sides, strict=True):
                legal = state.legal_moves(role)
                if len(legal) > 1:
                    if perf_counter() >= self._end or self._stop():
                        return None
                    side.begin(state)
                    side.advance(*((inf, self._leaves) if pace is None else (pace, None)))
                    joint.append(side.best(game.role_index(role)))
                else:
                    joint.append(legal[0])
            state = state.next(joint)
            made += 1
        self._planned -= 1
        if self._length is not None:
            # Matches can be longer than games of self-play, which are made of quick moves.
            self._length += max(0, made - self._length) / 4
        return [side.value_of_end(state, role) for role, side in enumerate(sides)]
