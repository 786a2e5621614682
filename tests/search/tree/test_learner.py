"""Learning from self-play: what is learned, and that it can be gone on with exactly."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.tree.race import RACE, TAKING, estimates

import anygame
from anygame.search import solve
from anygame.search.learning.learner import Learner
from anygame.search.learning.self_play import FILLED, LISTED, NEXT, STEPS
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from anygame.game.game import Game


#: Two roles show numbers at once, three times, and add them up.
_BIDDING = (
    """
(role a) (role b) (init (round 0)) (init (has a 0)) (init (has b 0)) (then 0 1) (then 1 2) (then 2 3)
(<= (legal ?r (show ?n)) (role ?r) (number ?n)) (number 1) (number 2) (number 3)
(<= (next (round ?m)) (true (round ?n)) (then ?n ?m))
(<= (next (has ?r ?k)) (does ?r (show ?n)) (true (has ?r ?m)) (plus ?m ?n ?k))
(<= terminal (true (round 3)))
(<= (more ?r ?s) (true (has ?r ?n)) (true (has ?s ?m)) (less ?m ?n))
(<= (goal ?r 100) (more ?r ?s)) (<= (goal ?r 0) (more ?s ?r))
(<= (goal ?r 50) (role ?r) (not (more a b)) (not (more b a)))
"""
    + "".join(f"(plus {one} {other} {one + other})" for one in range(7) for other in (1, 2, 3))
    + "".join(f"(less {one} {other})" for other in range(10) for one in range(other))
)


def _learner(game: Game, seed: int = 1) -> Learner:
    return Learner(TreeSearcher(game, seed=1, memory=1 << 22), seed)


def test_practice_separates_won_from_lost_positions() -> None:
    game = anygame.load("tic_tac_toe")
    table = solve(game, table=True).table
    assert table is not None
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    learned = Learner(searcher, 1)
    assert learned.play(4000)
    assert learned.progress.games >= 4000
    assert learned.progress.positions > 4 * learned.progress.games
    random = Random(1)
    told: dict[float, list[float]] = {0: [], 50: [], 100: []}
    for _ in range(300):
        state = game.initial_state()
        while not state.is_terminal:
            values = estimates(searcher, learned.weights, searcher.packed(state).reshape(1, -1))
            exact = table.value(state)
            assert exact is not None
            told[exact[game.roles[0]].least].append(float(values[0]))
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    lost, drawn, won = (float(np.mean(told[goal])) for goal in (0, 50, 100))
    assert lost + 0.05 < drawn < won - 0.05


def test_learning_estimates_the_goal_of_each_of_three_roles() -> None:
    game = anygame.loads(TAKING)
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    learned = Learner(searcher, 1)
    assert learned.play(6000)
    state = game.initial_state()
    for joint in (("(take 2)", "noop", "noop"), ("noop", "(take 2)", "noop"), ("noop", "noop", "(take 1)")):
        state = state.next(joint)  # then two are left, which the first role takes
    packed = searcher.packed(state).reshape(1, -1)
    found = [float(estimates(searcher, learned.weights, packed, role)[0]) for role in range(3)]
    assert found[0] > 0.8
    assert max(found[1:]) < 0.2


def test_with_simultaneous_moves_the_learner_finds_the_dominant_move() -> None:
    """Each shows up to three, again and again: more is better, and who has shown more in all has won."""
    game = anygame.loads(_BIDDING)
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    learned = Learner(searcher, 1)
    assert learned.play(3000)
    state = game.initial_state()
    values = [
        float(estimates(searcher, learned.weights, searcher.packed(state.next(joint)).reshape(1, -1))[0])
        for joint in (("(show 3)", "(show 1)"), ("(show 2)", "(show 2)"), ("(show 1)", "(show 3)"))
    ]
    assert values[0] > values[1] > values[2] + 0.1
    searcher.use_estimates(learned.weights, 1.0)
    searcher.begin(state)
    searcher.advance(60, 300)
    assert [str(searcher.best(role)) for role in range(2)] == ["(show 3)", "(show 3)"]


def test_too_many_joint_moves_at_a_time_are_not_learned_from() -> None:
    many = "".join(f"(number {number})" for number in range(200))
    text = """
        (role a) (role b) (init start) (<= (legal ?r (show ?n)) (role ?r) (number ?n))
        (<= (next (shown ?r ?n)) (does ?r (show ?n))) (<= terminal (true (shown ?r ?n)))
        (<= (goal a 100) (true (shown a 1))) (<= (goal a 0) (not (goal a 100))) (goal b 0)
    """
    assert not _learner(anygame.loads(text + many)).play(100)


def test_the_same_seed_and_number_of_games_teach_the_same() -> None:
    game = anygame.load("connect_four")
    found = []
    for seed in (1, 1, 2):
        learned = Learner(TreeSearcher(game, seed=1, memory=1 << 24), seed)
        assert learned.play(300)
        found.append(learned.weights)
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_resumed_learning_gives_the_same_weights() -> None:
    game = anygame.loads(RACE)
    whole, first = _learner(game), _learner(game)
    assert whole.play(900)
    assert first.play(300)
    state = first.state()
    assert first.play(400)  # what was taken is a copy
    second = _learner(game, seed=7)
    second.restore(state)
    assert second.progress.games < 400
    assert second.play(900)
    found, expected = second.state(), whole.state()
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in found)
    assert second.progress.games == whole.progress.games
    assert second.progress.squared_error == whole.progress.squared_error > 0


def test_a_saved_state_has_only_the_states_that_can_still_be_sampled() -> None:
    game = anygame.loads(RACE)
    first, second = _learner(game), _learner(game, seed=7)
    assert first.play(6000)
    state = first.state()
    assert len(state["states"]) == len(state["targets"]) == 1 << 16 < state["counts"][FILLED]
    second.restore(state)
    assert first.play(7000)
    assert second.play(7000)
    assert (second.weights == first.weights).all()


def test_estimates_err_less_than_who_knows_nothing() -> None:
    """Who says one half of each position errs by a quarter, squared."""
    learner = _learner(anygame.loads(RACE))
    assert learner.play(1000)
    error, positions = learner.progress.squared_error, learner.progress.positions
    assert learner.play(4000)
    assert 0.02 < (learner.progress.squared_error - error) / (learner.progress.positions - positions) < 0.2


@pytest.mark.parametrize(
    "name",
    ["means", "weights", "squares", "counts", "lengths", "trail", "values", "states", "random", "opposed"],
)
def test_a_state_of_something_else_is_refused_and_changes_nothing(name: str) -> None:
    learner = _learner(anygame.loads(RACE))
    assert learner.play(100)
    before = learner.state()
    for wrong in (
        {**before, name: before[name][:-1]},
        {**before, name: before[name].astype(np.int8)},
        {other: before[other] for other in before if other != name},
    ):
        with pytest.raises(ValueError, match="no array"):
            learner.restore(wrong)
    broken = before["weights"].copy()
    broken[0, 0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        learner.restore({**before, "weights": broken})
    with pytest.raises(ValueError, match="no array 'trail'"):
        learner.restore({**before, "lengths": before["lengths"] - 1000})
    counted = before["counts"].copy()
    counted[NEXT] = 1 << 40
    with pytest.raises(ValueError, match="counts in the saved state are out of range"):
        learner.restore({**before, "counts": counted})
    listed = before["counts"].copy()
    listed[LISTED] = 1 << 40
    with pytest.raises(ValueError, match="counts in the saved state are out of range"):
        learner.restore({**before, "counts": listed})
    with pytest.raises(ValueError, match="squares or steps are negative"):
        learner.restore({**before, "row_steps": -before["row_steps"]})
    after = learner.state()
    assert all((after[each] == before[each]).all() for each in before)


def test_learning_steps_shrink() -> None:
    learner = _learner(anygame.loads(RACE))
    assert learner.play(500)
    early = learner.state()
    late = {**early, "counts": early["counts"].copy()}
    late["counts"][STEPS] = 10**8
    moved = []
    for state in (early, late):
        learner.restore(state)
        assert learner.play(600)
        moved.append(float(np.abs(learner.state()["weights"] - early["weights"]).mean()))
    assert 0 < 20 * moved[1] < moved[0]
