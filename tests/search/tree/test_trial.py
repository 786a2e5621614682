"""Trials: matches of searches with estimates against searches without, and what is made of them."""

from __future__ import annotations

from math import prod
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from tests.search.tree.race import RACE, TAKING

import anygame
from anygame.search.learning.learner import Learner, Progress
from anygame.search.learning.run import errs_more
from anygame.search.learning.trial import ALONE, RISKS, Trial, decide, judge, try_out
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.search.learning.trial import Weights


#: Both roles choose once, at the same time. The first wins if the choices are equal.
_ONE_MOVE = """
(role a) (role b) (init start)
(<= (legal ?r left) (role ?r)) (<= (legal ?r right) (role ?r))
(<= (next (did ?r ?m)) (does ?r ?m)) (<= terminal (not (true start)))
(<= equal (true (did a ?m)) (true (did b ?m)))
(<= (goal a 100) equal) (<= (goal a 0) (not equal)) (<= (goal b 0) equal) (<= (goal b 100) (not equal))
"""


def _learned(game: Game, games: int) -> Weights:
    learner = Learner(TreeSearcher(game, seed=1, memory=1 << 24), 1)
    assert learner.play(games)
    return learner.weights


def _opposite(game: Game, weights: Weights) -> Weights:
    """Return weights whose estimates say the opposite."""
    shape = TreeSearcher(game, memory=1 << 22).shape
    opposite = weights.copy()
    opposite[shape.inputs + 1 + shape.patterns :] *= -1
    opposite[:, -1] *= -1
    return opposite


def test_a_trial_separates_good_from_bad_estimates() -> None:
    """What is learned from thousands of games is accepted, and its own opposite is not."""
    game = anygame.loads(RACE)
    good = _learned(game, 3000)
    trust, trial = judge(game, good, Progress(games=3000), seed=1, leaves=500)
    assert trust
    assert trial.score > 0.7
    assert set(trial.leads) <= {0, 0.5, 1}
    assert not trial.gains
    assert judge(game, good, Progress(games=100), seed=1) == (0, Trial())
    trust, trial = judge(game, _opposite(game, good), Progress(games=3000), seed=1, leaves=500)
    assert not trust
    assert 4 <= len(trial.leads) <= 48


def test_of_three_roles_each_has_the_estimates_in_turn() -> None:
    """The last one to take can hold its own against two who do not see further than their moves."""
    game = anygame.loads(TAKING)
    good = _learned(game, 6000)
    trial = try_out(game, good, seed=1, leaves=100, matches=8)
    assert len(trial.leads) == 9  # whole rounds
    # Who wins has half a point more, who loses a quarter less: one of the others has won.
    assert set(trial.leads) <= {1, 0.25}
    again = try_out(game, good, rivals=good, seed=1, leaves=100, matches=9)
    assert set(again.leads) <= {1, 0.25}


def test_estimates_help_where_no_move_has_many_visits() -> None:
    """With a hundred leaves a root move has one try or none: visits say how many moves follow it, no more."""
    game = anygame.loads(RACE)
    trial = try_out(game, _learned(game, 3000), seed=1, leaves=100, matches=12)
    assert trial.score > 0.8


@pytest.mark.parametrize(
    ("leads", "gains", "is_good"),
    [
        ([1] * 12, [], True),
        ([1] * 10, [], False),
        ([1] * 12 + [0, 0] + [1] * 4, [], True),
        ([0, 0] + [1] * 12, [], False),
        # Who has a better seat, or a better opening, has shown nothing.
        ([1, 0] * 12, [], False),
        ([1] * 3 + [0.5] * 21, [], False),
        # A small lead in every pair is a gain.
        ([0.55] * 12, [0.5] * 12, True),
        ([0.55] * 12, [0.51] * 12, True),
        ([0.9] * 12, [0.45] * 12, False),
        ([0.9] * 12, [0.45, 0.55] * 6, True),
    ],
)
def test_estimates_are_used_for_leads_that_cost_nothing(
    leads: list[float], gains: list[float], is_good: bool
) -> None:
    trials = {ALONE: Trial()}

    def play(trust: float) -> bool:
        trial = trials[trust]
        number = len(trial.leads)
        trial.leads.extend(leads[number : number + 2])
        trial.gains.extend(gains[number : number + 2])
        return True

    assert decide(trials, play, len(leads)) == (ALONE if is_good else 0)


def test_games_of_one_move_have_a_trial_with_a_clock() -> None:
    game = anygame.loads(_ONE_MOVE)
    weights = _learned(game, 300)
    _, trial = judge(game, weights, Progress(games=300), seed=1, leaves=20, end=perf_counter() + 60)
    assert trial.leads


def test_of_more_roles_each_match_counts() -> None:
    leads = [1, 0.25, 1, 1, 1, 0.25]
    assert Trial(3, leads).evidence == pytest.approx(prod(0.5 + lead for lead in leads))


def _simulated(
    scores: dict[float, float], matches: int, *, advantage: float = 0.0, trials: int = 400
) -> tuple[float, float]:
    """Return how many of some trials accept a weight, and their mean number of matches.

    Args:
        scores: for each weight, its mean points of a match.
        matches: of a trial, at most.
        advantage: what an opening adds to the score of one seat, and takes from the other, or the reverse.
        trials: their number.
    """
    random, accepted, played = Random(1), 0, 0
    for _ in range(trials):
        found = {trust: Trial() for trust in scores}

        def play(trust: float, found: dict[float, Trial] = found) -> bool:
            sign = random.choice((-1, 1))
            for shift in (sign * advantage, -sign * advantage):
                found[trust].leads.append(float(random.random() < scores[trust] + shift))
            return True

        accepted += decide(found, play, matches) > 0
        played += sum(len(trial.leads) for trial in found.values())
    return accepted / trials, played / trials


@pytest.mark.parametrize("matches", [20, 48, 192])
@pytest.mark.parametrize("advantage", [0.0, 0.3])
def test_useless_estimates_are_accepted_at_the_stated_rate_at_most(matches: int, advantage: float) -> None:
    """However they are used; the bound of 5 % has a margin of two standard errors."""
    accepted, played = _simulated(dict.fromkeys(RISKS, 0.5), matches, advantage=advantage, trials=2000)
    assert accepted <= sum(RISKS.values()) + 0.01
    assert played <= matches
    worse, _ = _simulated(dict.fromkeys(RISKS, 0.4), matches, advantage=advantage)
    assert worse <= 0.01


@pytest.mark.parametrize(
    ("matches", "score", "accepted", "played"),
    [(48, 0.9, 0.97, 18), (48, 1.0, 1.0, 12), (192, 0.75, 0.93, 45), (192, 0.9, 0.99, 18)],
)
def test_clearly_better_estimates_are_accepted(
    matches: int, score: float, accepted: float, played: float
) -> None:
    found = _simulated({1.0: score, 0.6: 0.5, 0.3: 0.5}, matches)
    assert found[0] >= accepted
    assert found[1] <= played


@pytest.mark.parametrize("better", RISKS)
def test_the_weight_that_helps_is_found(better: float) -> None:
    scores = dict.fromkeys(RISKS, 0.35) | {better: 0.85}
    accepted, _ = _simulated(scores, 192)
    assert accepted >= 0.97


def test_an_undecided_trial_does_not_accept_estimates() -> None:
    trials = {trust: Trial() for trust in RISKS}

    def play(trust: float) -> bool:
        trials[trust].leads.extend([1.0, 1.0])
        return len(trials[trust].leads) < 8

    assert decide(trials, play, 48) == 0
    assert sum(len(trial.leads) for trial in trials.values()) == 8
    assert decide({ALONE: Trial(3)}, play, 2) == 0


@pytest.mark.parametrize("roles", [2, 3])
def test_matches_of_a_trial_are_a_multiple_of_the_roles(roles: int) -> None:
    game = anygame.loads(RACE if roles == 2 else TAKING)
    _, trial = judge(game, _learned(game, 300), Progress(games=300), seed=2, leaves=20, precision=0.3)
    assert trial.roles == roles
    assert trial.leads
    assert len(trial.leads) % roles == 0


def test_wrong_estimates_of_known_values_are_detected() -> None:
    """Values of tic-tac-toe are exact; those of a larger game are not known."""
    game = anygame.load("tic_tac_toe")
    good = _learned(game, 3000)
    assert not errs_more(game, good, 1.0, seed=1, leaves=30)
    assert errs_more(game, _opposite(game, good), 1.0, seed=1, leaves=30)
    assert not errs_more(anygame.load("capture_chess"), good, 1.0, seed=1, leaves=30)


def test_estimates_can_be_compared_with_earlier_estimates() -> None:
    """More games teach more; the number of matches is that asked for, and the same seed gives the same."""
    game = anygame.loads(RACE)
    late, early = _learned(game, 3000), _learned(game, 64)
    trials = [
        try_out(game, weights, rivals=rivals, seed=3, matches=10, leaves=50)
        for weights, rivals in ((late, early), (early, late), (late, early))
    ]
    assert [len(trial.leads) for trial in trials] == [10, 10, 10]
    assert trials[0].score > 0.6 > 0.4 > trials[1].score
    assert trials[0].leads == trials[2].leads


def test_an_interval_is_never_surer_than_its_matches() -> None:
    assert Trial().interval == (0, 1)
    low, high = Trial(2, [1.0] * 6).interval
    assert 0.5 < low < 0.65
    assert high == pytest.approx(1)
    assert Trial(2, [0.5] * 100).interval[0] == pytest.approx(0.404, abs=0.002)
    assert Trial(2, [1.0, 0.0]).score == 0.5
    assert Trial().score == 0.5
