"""Learning from self-play: what is learned, and that it can be gone on with exactly."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.tree.race import RACE, estimates

import anygame
from anygame.search import solve
from anygame.search.tree.learner import Learner
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.self_play import NEXT, STEPS

if TYPE_CHECKING:
    from anygame.game.game import Game


def _learner(game: Game, seed: int = 1) -> Learner:
    return Learner(TreeSearcher(game, seed=1, memory=1 << 22), seed)


def test_practice_tells_won_positions_from_lost_ones() -> None:
    game = anygame.load("tic_tac_toe")
    table = solve(game, table=True).table
    assert table is not None
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    learned = Learner(searcher, 1)
    assert learned.play(4000)
    assert learned.games >= 4000
    assert learned.positions > 4 * learned.games
    random = Random(1)
    told: dict[float, list[float]] = {0: [], 50: [], 100: []}
    for _ in range(300):
        state = game.initial_state()
        while not state.is_terminal:
            values = estimates(learned.weights, searcher.packed(state).reshape(1, -1))
            exact = table.value(state)
            assert exact is not None
            told[exact[game.roles[0]].least].append(float(values[0]))
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    lost, drawn, won = (float(np.mean(told[goal])) for goal in (0, 50, 100))
    assert lost + 0.05 < drawn < won - 0.05


def test_the_same_seed_and_number_of_games_teach_the_same() -> None:
    game = anygame.load("connect_four")
    found = []
    for seed in (1, 1, 2):
        learned = Learner(TreeSearcher(game, seed=1, memory=1 << 24), seed)
        assert learned.play(300)
        found.append(learned.weights)
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_learning_goes_on_exactly_as_if_nothing_had_been_between() -> None:
    game = anygame.loads(RACE)
    whole, first = _learner(game), _learner(game)
    assert whole.play(900)
    assert first.play(300)
    state = first.state()
    assert first.play(400)  # what was taken is a copy
    second = _learner(game, seed=7)
    second.restore(state)
    assert second.games < 400
    assert second.play(900)
    found, expected = second.state(), whole.state()
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in found)
    assert second.games == whole.games
    assert second.squared_error == whole.squared_error > 0


def test_estimates_err_less_than_who_knows_nothing() -> None:
    """Who says one half of each position errs by a quarter, squared."""
    learner = _learner(anygame.loads(RACE))
    assert learner.play(1000)
    error, positions = learner.squared_error, learner.positions
    assert learner.play(4000)
    assert 0.02 < (learner.squared_error - error) / (learner.positions - positions) < 0.2


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
        with pytest.raises(ValueError, match="the state of a learning has"):
            learner.restore(wrong)
    broken = before["weights"].copy()
    broken[0, 0] = np.nan
    with pytest.raises(ValueError, match="no numbers"):
        learner.restore({**before, "weights": broken})
    with pytest.raises(ValueError, match="other trail than it says"):
        learner.restore({**before, "lengths": before["lengths"] - 1000})
    counted = before["counts"].copy()
    counted[NEXT] = 1 << 40
    with pytest.raises(ValueError, match="counts what it has not"):
        learner.restore({**before, "counts": counted})
    after = learner.state()
    assert all((after[each] == before[each]).all() for each in before)


def test_steps_shrink_as_learning_goes_on() -> None:
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
