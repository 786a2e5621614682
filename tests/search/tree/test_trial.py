"""Trials: matches of searches with estimates against searches without, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.tree.race import RACE, TAKING

import anygame
from anygame.search.learning.learner import Learner, Progress
from anygame.search.learning.trial import Trial, interval, judge, try_out
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.search.learning.trial import Weights


def _learned(game: Game, games: int) -> Weights:
    learner = Learner(TreeSearcher(game, seed=1, memory=1 << 24), 1)
    assert learner.play(games)
    return learner.weights


def test_a_trial_tells_good_estimates_from_bad_ones() -> None:
    """What is learned from thousands of games beats its own opposite in nearly all matches."""
    game = anygame.loads(RACE)
    good = _learned(game, 3000)
    bad = good.copy()
    bad[-1] *= -1
    bad[:, -1] *= -1
    scores = []
    for weights in (good, bad):
        trial = try_out(game, weights, seed=1, leaves=500)
        assert 6 <= len(trial.leads) <= 24
        assert set(trial.leads) <= {0, 0.5, 1}
        assert not trial.gains
        scores.append(sum(trial.leads) / len(trial.leads))
    assert scores[0] > scores[1] + 0.3


def test_of_three_roles_each_has_the_estimates_in_turn() -> None:
    """The last one to take can hold its own against two who do not see further than their moves."""
    game = anygame.loads(TAKING)
    good = _learned(game, 6000)
    trial = try_out(game, good, seed=1, leaves=100, matches=9)
    assert len(trial.leads) == 9
    # Who wins has half a point more, who loses a quarter less: one of the others has won.
    assert set(trial.leads) <= {1, 0.25}
    again = try_out(game, good, rivals=good, seed=1, leaves=100, matches=9)
    assert set(again.leads) <= {1, 0.25}


def test_estimates_help_where_no_move_has_many_visits() -> None:
    """With a hundred leaves a root move has one try or none: visits say how many moves follow it, no more."""
    game = anygame.loads(RACE)
    trial = try_out(game, _learned(game, 3000), seed=1, leaves=100)
    assert sum(trial.leads) / len(trial.leads) > 0.8


@pytest.mark.parametrize(
    ("leads", "gains", "is_good"),
    [
        ([1] * 6, [], True),
        ([1, 1, 1, 0], [], True),
        ([1, 1, 1], [], False),
        ([1, 1, 0, 0], [], False),
        ([1] + [0.5] * 11, [], False),
        ([0.5] * 24, [], False),
        ([0.55] * 6, [0.5] * 6, True),
        ([0.55] * 6, [0.51] * 6, True),
        ([0.9] * 6, [0.45] * 6, False),
        ([0.9] * 6, [0.45, 0.55] * 3, True),
    ],
)
def test_estimates_are_used_for_leads_that_cost_nothing(
    leads: list[float], gains: list[float], is_good: bool
) -> None:
    assert Trial(leads, gains).speaks_for_it == is_good


def test_a_trial_ends_when_it_is_decided() -> None:
    assert not Trial([1] * 5).is_decided
    assert Trial([1] * 6).is_decided
    assert Trial([0] * 6).is_decided
    assert not Trial([1, 0] * 4).is_decided
    assert Trial([1] * 6, [0.4] * 6).is_decided
    assert not Trial([1] * 6, [0.4, 0.5, 0.6, 0.5, 0.5, 0.4]).is_decided


@pytest.mark.parametrize(
    ("alone", "beside", "expected", "tried"),
    [
        ([1] * 6, None, 1.0, 1),
        ([1] * 5 + [0], [1] * 6, 0.6, 2),
        ([1] * 5 + [0], [1] * 4 + [0] * 2, 1.0, 2),
        ([1, 0] * 6, [1] * 6, 0.6, 2),
        ([1, 0] * 6, [0, 1] * 6, 0.0, 2),
        # Beside playouts bad ones may seem good with few leaves.
        ([0] * 6, [1] * 6, 0.0, 1),
    ],
)
def test_the_better_way_to_use_estimates_is_taken(
    monkeypatch: pytest.MonkeyPatch,
    alone: list[float],
    beside: list[float] | None,
    expected: float,
    tried: int,
) -> None:
    trials: list[Trial] = []

    def told(*_: object, trust: float, **__: object) -> Trial:
        trials.append(Trial(alone if trust == 1 else beside or []))
        return trials[-1]

    monkeypatch.setattr("anygame.search.learning.trial.try_out", told)
    trust, trial = judge(anygame.loads(RACE), np.zeros((1, 1), np.float32), Progress(games=500), seed=1)
    assert (trust, len(trials)) == (expected, tried)
    assert trial.speaks_for_it == (trust > 0)


def test_estimates_can_be_tried_against_earlier_ones() -> None:
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
    assert interval(0.5, 0) == (0, 1)
    low, high = interval(1.0, 6)
    assert 0.5 < low < 0.65
    assert high == pytest.approx(1)
    assert interval(0.5, 100)[0] == pytest.approx(0.404, abs=0.002)
    assert Trial([1.0, 0.0]).score == 0.5
    assert Trial().score == 0.5
