"""Trials of estimates: fast matches between searches with estimates and other searches.

The trial of a model is a sequential probability ratio test (Wald 1945, "Sequential tests of statistical
hypotheses"): do estimates score 50 % or 75 %? Each opening is played once from each seat. With two roles,
only the winner of a pair of matches counts, so seats and openings give no advantage. A player that scores
75 % wins 90 % of the pairs that have a winner. With more roles, the points of each match count.

If estimates do not raise the score, the likelihood ratio is a nonnegative supermartingale. The probability
that the ratio ever reaches ``1 / risk`` is at most ``risk``, for any number of matches and any stopping time
(Ville 1939).
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

#: Weight of estimates in searches without playouts.
ALONE: Final = 1.0
#: For two roles: probability of accepting estimates that do not raise the score, by weight of estimates.
RISKS: Final[Mapping[float, float]] = {ALONE: 0.03, 0.6: 0.01, 0.3: 0.01}
#: For more roles: probability of accepting estimates that do not raise the score, by weight of estimates.
_RISKS_ALONE: Final[Mapping[float, float]] = {ALONE: 0.05}
#: Probability that estimates with a score of 75 % are rejected before the last match.
MISSED: Final = 0.05
#: Mean lead, per pair of matches with a winner, of estimates that score 75 %: 90 % won minus 10 % lost.
_LEAD_IN_PAIRS: Final = 0.8
#: Number of matches of a trial per weight of estimates. A third weight does not add matches to the trial.
_MATCHES: Final = 24
#: Number of leaves per move in a match without a clock.
LEAVES: Final = 2000
#: Minimum number of games of self-play before a trial.
FEWEST_GAMES: Final = 200
#: Number of matches for which a trial with a clock plans its time.
_PLANNED_MATCHES: Final = 20
#: Minimum seconds per move of a match with a clock.
_FASTEST: Final = 0.005
#: Maximum seconds per move of a match with a clock.
_SLOWEST: Final = 0.25
#: Maximum loss, in standard errors of the goals, that a trial tolerates.
_TOLERATED_LOSS: Final = 0.5
#: Size in bytes of the tree of each player.
_MEMORY: Final = 1 << 24
#: Maximum number of random moves before a match.
_LONGEST_OPENING: Final = 4
#: Maximum number of joint moves of a match. Longer matches are abandoned.
_LONGEST_MATCH: Final = 400
#: Half width of a 95 % confidence interval, in standard errors.
_NINETY_FIVE: Final = 1.96


@dataclass(frozen=True, slots=True)
class Trial:
    """Results of matches between searches with estimates and other searches."""

    roles: int = 2  # Number of roles. Each opening is played once from each seat.
    # For each match, 0.5 plus half of the lead. The lead is the goal of the role with estimates minus the
    # mean goal of the other roles. For two roles, a win is 1 and a draw is 0.5.
    leads: list[float] = field(default_factory=list)
    # For each match of a game that is not zero-sum, 0.5 plus half of the gain. The gain is the role's goal
    # with estimates minus its goal in the match without estimates. Empty for zero-sum games.
    gains: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """Mean of the leads; 0.5 before the first match."""
        return sum(self.leads) / len(self.leads) if self.leads else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the score by Wilson's method (1927); 0 to 1 before the first match.

        >>> [round(bound, 2) for bound in Trial(2, [1.0] * 9 + [0.0]).interval]
        [0.6, 0.98]
        """
        if not self.leads:
            return 0.0, 1.0
        square = _NINETY_FIVE**2 / len(self.leads)
        centre = (self.score + square / 2) / (1 + square)
        reach = sqrt(square * (self.score * (1 - self.score) + square / 4)) / (1 + square)
        return max(0.0, centre - reach), min(1.0, centre + reach)

    @property
    def evidence(self) -> float:
        """Likelihood ratio of a score of 75 % to a score of 50 %.

        A pair of matches without a winner keeps the ratio. With more than two roles, a draw keeps the ratio.

        >>> Trial(2, [1.0, 1.0, 0.0, 1.0]).evidence, Trial(3, [1.0, 1.0, 0.25]).evidence
        (1.8, 1.6875)
        """
        if self.roles != 2:
            return prod(0.5 + lead for lead in self.leads)
        pairs = [first + second - 1 for first, second in zip(self.leads[::2], self.leads[1::2], strict=True)]
        return prod(1 + _LEAD_IN_PAIRS * ((lead > 1e-9) - (lead < -1e-9)) for lead in pairs)

    @property
    def costs_goals(self) -> bool:
        """Whether estimates lower the goal of the role that uses the estimates."""
        losses = [0.5 - gain for gain in self.gains]
        # A single large loss is weak evidence, so the largest loss counts twice in the standard error.
        squares = [loss * loss for loss in losses]
        return any(losses) and sum(losses) >= _TOLERATED_LOSS * sqrt(sum(squares) + max(squares))


def decide(
    trials: Mapping[float, Trial],
    play: Callable[[float], bool],
    matches: int,
    risks: Mapping[float, float] = RISKS,
    report: Callable[[int], object] = lambda _: None,
) -> float:
    """Return the first weight of estimates whose trial shows a gain, or 0 if no trial does.

    The next opening is played for the weight with the most evidence so far, or for the first of several
    weights with equal evidence. A weight without a decision after the last match is rejected.

    ``play`` adds the matches of an opening to the trial of a weight, or returns False if time is up.
    ``matches`` is the maximum total number of matches. For each weight, ``risks`` has the probability of
    accepting estimates that do not raise the score. ``report`` receives the number of matches so far.
    """
    racing = dict(trials)
    while racing:
        trust = max(racing, key=lambda weight: racing[weight].evidence)
        trial = racing[trust]
        played = sum(len(other.leads) for other in trials.values())
        report(played)
        if played + trial.roles > matches or not play(trust):
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
    leaves: int | None = LEAVES,
    precision: float = 1.0,
    risk: float = 1.0,
    end: float = inf,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[int], object] = lambda _: None,
) -> tuple[float, Trial]:
    """Return the weight of estimates in searches, from 0 to 1, and the trial that tested the weight.

    If the weight is 0, the function returns the trial with the most evidence. After too few games of
    self-play, the trial is empty. Without a clock, the same seed gives the same trial.

    ``precision`` multiplies the number of matches. ``risk`` multiplies the probabilities of accepting
    estimates that do not raise the score. A move searches at most ``leaves`` leaves; None means no limit.
    ``end``, a time of ``perf_counter``, also limits the seconds per move. The trial ends if ``stop``, which
    is called before every move, returns True. For ``report``, see ``decide``.
    """
    roles = len(game.roles)
    plain_risks = RISKS if roles == 2 else _RISKS_ALONE
    risks = {trust: risk * plain_risk for trust, plain_risk in plain_risks.items()}
    trials = {trust: Trial(roles) for trust in risks}
    if progress.games < FEWEST_GAMES:
        return 0.0, trials[ALONE]
    # Games of a single joint move have no positions to learn from.
    length, is_shared = max(1.0, progress.positions / progress.games), progress.is_shared
    arena = _Arena(game, weights, Random(seed), leaves, None, end, length, stop, is_shared)
    most = max(roles, int(precision * _MATCHES * min(2, len(risks))))
    chosen = decide(trials, lambda trust: arena.play_round(trials[trust], trust), most, risks, report)
    return chosen, trials[chosen] if chosen else max(trials.values(), key=lambda trial: trial.evidence)


def try_out(
    game: Game,
    weights: Weights,
    *,
    seed: int,
    matches: int,
    rivals: Weights | None = None,
    leaves: int = LEAVES,
) -> Trial:
    """Play matches: one role searches with the estimates of ``weights``, the other roles with ``rivals``.

    Without ``rivals``, the other roles use playouts. The number of matches is rounded up to a multiple of the
    number of roles. The same seed gives the same trial.
    """
    trial = Trial(len(game.roles))
    arena = _Arena(game, weights, Random(seed), leaves, rivals)
    while len(trial.leads) < matches:
        arena.play_round(trial, ALONE)
    return trial


def _opening(game: Game, random: Random) -> State:
    """Return a state after random moves, or the initial state if the random moves end the game."""
    state = start = game.initial_state()
    for _ in range(random.randrange(_LONGEST_OPENING + 1)):
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if state.is_terminal or state.stuck_role is not None:
            return start
    return state


@dataclass
class _Arena:
    """Fast matches for the trials of all weights. All trials use the same openings and share the time."""

    game: Game
    weights: Weights
    random: Random
    leaves: int | None
    rivals: Weights | None = None
    end: float = inf
    length: float = 0.0  # Expected number of joint moves of a match.
    stop: Callable[[], bool] = lambda: False
    has_baseline: bool = False

    def __post_init__(self) -> None:
        self._planned = _PLANNED_MATCHES * 3 // 2 if self.has_baseline else _PLANNED_MATCHES
        self._openings: list[State] = []
        self._baselines: list[list[float]] = []

    def play_round(self, trial: Trial, trust: float) -> bool:
        """Play the next opening of a trial from all seats; if stopped, return False and add no results.

        In games that are not zero-sum, a role can lead although its own goal is low. Each opening is
        therefore also played without estimates, as a baseline.
        """
        number = len(trial.leads) // trial.roles
        if number == len(self._openings):
            self._openings.append(_opening(self.game, self.random))
        opening = self._openings[number]
        if self.has_baseline and number == len(self._baselines):
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
            if self.has_baseline:
                gains.append((1 + goals[seat] - self._baselines[number][seat]) / 2)
        trial.leads.extend(leads)
        trial.gains.extend(gains)
        return True

    def _play(self, state: State, seat: int | None, trust: float) -> list[float] | None:
        """Play a match in which role ``seat`` uses estimates; return the roles' values; None if stopped."""
        game, seconds = self.game, inf
        if self.end < inf:
            time_left = self.end - perf_counter()
            seconds = min(max(_FASTEST, time_left / (max(1, self._planned) * self.length)), _SLOWEST)
        sides = [TreeSearcher(game, seed=self.random.getrandbits(32), memory=_MEMORY) for _ in game.roles]
        if seat is not None:
            for number, side in enumerate(sides):
                weights = self.weights if number == seat else self.rivals
                if weights is not None:
                    side.use_estimates(weights, trust)
        made = 0
        while made < _LONGEST_MATCH and not state.is_terminal and state.stuck_role is None:
            joint = []
            for role, side in zip(game.roles, sides, strict=True):
                legal = state.legal_moves(role)
                if len(legal) > 1:
                    if perf_counter() >= self.end or self.stop():
                        return None
                    side.begin(state)
                    side.advance(seconds, self.leaves)
                    joint.append(side.best(game.role_index(role)))
                else:
                    joint.append(legal[0])
            state = state.next(joint)
            made += 1
        self._planned -= 1
        # Moves are weaker in self-play, so matches can be longer than games of self-play.
        self.length += max(0, made - self.length) / 4
        return [side.value_of_end(state, role) for role, side in enumerate(sides)]
