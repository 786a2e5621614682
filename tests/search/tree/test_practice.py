"""Practice: estimates learned from self-play, minimax over them in the tree, and trials that judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.tree.race import RACE, TAKING, estimates

import anygame
from anygame.search import Search
from anygame.search.evaluation.network import first_weights
from anygame.search.learning import practice
from anygame.search.learning.learner import Learner
from anygame.search.learning.practice import learn_estimates
from anygame.search.learning.trial import Trial, judge
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.store import CHILDREN, EXPANSIONS, NODES, NONE
from anygame.search.tree.worker import FREE_PATHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.analysis import MoveAnalysis
    from anygame.search.tree.store import Store

_WORTHLESS_DRAW = """
(role a) (role b) (init start) (end win) (end draw) (end lose)
(<= (legal a ?x) (end ?x) (true start)) (<= (legal b noop) (true start))
(<= (next (ended ?x)) (does a ?x)) (<= terminal (true (ended ?x)))
(<= (goal a 100) (true (ended win))) (<= (goal b 0) (true (ended win)))
(<= (goal a 0) (true (ended draw))) (<= (goal b 0) (true (ended draw)))
(<= (goal a 0) (true (ended lose))) (<= (goal b 100) (true (ended lose)))
"""
_STUCK = """
(role a) (role b) (init (left 2))
(<= (legal a go) (true (left 2))) (<= (legal a wait) (true (left 2))) (<= (legal b go) (true (left 2)))
(<= (next (left 1)) (true (left 2)))
(<= terminal (true (left 0))) (goal a 100) (goal b 0)
"""


#: More moves than are made at once, each of which leads to a choice of the other role.
_MANY_MOVES = """
(role a) (role b) (init first)
(<= (legal a (take ?n)) (number ?n) (true first)) (<= (legal a noop) (true second))
(<= (legal b (take ?n)) (small ?n) (true second)) (<= (legal b noop) (true first))
(<= (next second) (true first))
(<= (next (took ?n)) (true first) (does a (take ?n))) (<= (next (took ?n)) (true (took ?n)))
(<= (next (ended ?n)) (true second) (does b (take ?n)))
(<= terminal (true (ended ?n)))
(<= (goal a 100) (true (ended 1)) (true (took ?n)) (small ?n)) (<= (goal a 0) (not (goal a 100)))
(<= (goal b 0) (goal a 100)) (<= (goal b 100) (not (goal a 100)))
(small 1) (small 2) (small 3)
""" + " ".join(f"(number {number})" for number in range(1, 601))


def _searcher(name: str, trust: float = 0.6) -> TreeSearcher:
    game = anygame.loads(name) if "(" in name else anygame.load(name)
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    weights = first_weights(searcher.shape, 32, 3)
    # Large enough that one pattern or gate too many would show.
    first = searcher.shape.inputs + 1
    weights[first : first + searcher.shape.patterns] *= 3
    weights[len(weights) - searcher.shape.gating :] = 0.3
    searcher.use_estimates(weights, trust)
    searcher.begin(game.initial_state())
    return searcher


def _in_order(searcher: TreeSearcher) -> list[MoveAnalysis]:
    """Return the moves of the first role in the order of its options."""
    moves = searcher.analysis().moves[searcher.game.roles[0]]
    actions = searcher._machine.compiled.actions[0]
    return sorted(moves, key=lambda each: actions.index(each.move))


def _weights(searcher: TreeSearcher) -> NDArray[np.float32]:
    assert searcher.estimates is not None
    return searcher.estimates.network.weights


def _store(searcher: TreeSearcher) -> Store:
    return searcher._trees[0].store


def _choice(store: Store, expansion: int) -> tuple[int, int, NDArray[np.int32]]:
    """Return which role has a choice, its first option, and the nodes that its options lead to."""
    mover, children = int(store.mover[expansion]), int(store.first_child[expansion])
    if mover > 1 or children < 0:
        return mover, 0, store.child[:0]
    others = int(store.option_counts[expansion, 0]) if mover else 0
    count = int(store.option_counts[expansion, mover])
    return mover, int(store.first_option[expansion]) + others, store.child[children : children + count]


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "hex_pie"])
def test_leaves_have_their_estimate_and_others_the_best_of_their_options(name: str) -> None:
    searcher = _searcher(name)
    searcher.advance(60, 20_000)
    store, weights = _store(searcher), _weights(searcher)
    expected = estimates(searcher, weights, store.states[: store.counts[NODES]])
    leaves = 0
    for expansion in range(int(store.counts[EXPANSIONS])):
        mover, options, children = _choice(store, expansion)
        if not len(children):
            continue
        values = store.option_minimax[options : options + len(children)] / 65535
        best = float(store.minimax[expansion])
        assert values.max() == pytest.approx(1 - best if mover else best, abs=2e-5)
        for number, child in enumerate(children):
            is_proven = store.low[child, 0] == store.high[child, 0]
            if child == NONE or store.expansion[child] != NONE or is_proven:
                continue
            value = expected[child]
            assert values[number] == pytest.approx(1 - value if mover else value, abs=1e-4)
            leaves += 1
    assert leaves > 500


def test_minimax_goes_up_whatever_changes_below() -> None:
    """Where no state is met twice, an option is worth what its child is, but for descents under way."""
    searcher = _searcher("connect_four", trust=1.0)
    searcher.advance(60, 20_000)
    store, worker = _store(searcher), searcher._trees[0].worker
    listed = store.child[: store.counts[CHILDREN]]
    parents = np.bincount(listed[listed != NONE], minlength=int(store.counts[NODES]))
    wrong = seen = 0
    for expansion in range(int(store.counts[EXPANSIONS])):
        mover, options, children = _choice(store, expansion)
        for number, child in enumerate(children):
            is_proven = store.low[child, 0] == store.high[child, 0]
            if is_proven or store.expansion[child] == NONE or parents[child] > 1:
                continue
            value = float(store.minimax[store.expansion[child]])
            expected = 1 - value if mover else value
            seen += 1
            wrong += abs(store.option_minimax[options + number] / 65535 - expected) > 1e-4
    under_way = len(worker.free_paths) - int(worker.counts[FREE_PATHS])
    assert seen > 500
    assert wrong <= under_way


def test_moves_that_are_made_one_by_one_have_their_estimate() -> None:
    searcher = _searcher(_MANY_MOVES, trust=1.0)
    searcher.advance(60, 3000)
    store = _store(searcher)
    expected = estimates(searcher, _weights(searcher), store.states[: store.counts[NODES]])
    mover, options, children = _choice(store, int(store.expansion[searcher._trees[0].root]))
    assert (mover, len(children)) == (0, 600)
    leaves = [
        (number, int(child))
        for number, child in enumerate(children)
        if child != NONE and store.expansion[child] == NONE and store.low[child, 0] != store.high[child, 0]
    ]
    assert len(leaves) > 128
    for number, child in leaves:
        value = store.option_minimax[options + number] / 65535
        assert value == pytest.approx(expected[child], abs=1e-4)


def test_estimates_that_are_used_beside_playouts_leave_nothing_of_those_that_were_used_alone() -> None:
    searcher, other = _searcher("tic_tac_toe", trust=1.0), _searcher("tic_tac_toe", trust=0.6)
    assert searcher.settings != other.settings
    searcher.use_estimates(_weights(searcher), 0.6)
    assert searcher.settings == other.settings


def test_a_draw_is_neither_won_nor_lost_whatever_it_is_worth() -> None:
    game = anygame.loads(_WORTHLESS_DRAW)
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    searcher.use_estimates(first_weights(searcher.shape, 32, 1), 0.6)
    searcher.begin(game.initial_state())
    searcher.advance(60, 10)
    store = _store(searcher)
    options = {str(each.move): number for number, each in enumerate(_in_order(searcher))}
    values = store.option_minimax[: len(options)] / 65535
    assert values[options["win"]] == pytest.approx(1, abs=1e-4)
    assert values[options["draw"]] == pytest.approx(0.5, abs=1e-4)
    assert values[options["lose"]] == pytest.approx(0, abs=1e-4)


@pytest.mark.slow
def test_in_general_sum_games_a_trial_compares_with_play_without_estimates() -> None:
    """Who takes pieces has them, whatever the other takes: goals are shares of what was taken."""
    searcher = TreeSearcher(anygame.load("capture_chess"), seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, games=300)
    learned = Learner(searcher, 1)
    assert learned.play(300)
    assert report is not None
    assert learned.progress.is_shared
    _, trial = judge(searcher.game, learned.weights, learned.progress, seed=1, risk=practice.RISK)
    assert len(trial.gains) == len(trial.leads) == report.trial_matches
    assert sum(trial.leads) == report.trial_score
    assert trial.gains != trial.leads


@pytest.mark.parametrize(
    ("source", "leaves"),
    [(TAKING, 12), ("three_player_chomp", 2000), ("rock_paper_scissors", 30)],
)
def test_leaves_have_the_estimated_goals_of_all_roles(source: str, leaves: int) -> None:
    """Where more than two play, or several choose at once, means of estimates stand for those of playouts."""
    searcher = _searcher(source, trust=1.0)
    searcher.advance(60, leaves)
    store, weights = _store(searcher), _weights(searcher)
    states = store.states[: store.counts[NODES]]
    found = [estimates(searcher, weights, states, number) for number in range(searcher.shape.outputs)]
    expected = np.array(found if len(found) > 1 else [found[0], 1 - found[0]]).T
    seen = 0
    is_leaf = store.expansion[: len(states)] == NONE
    is_leaf &= (store.low[: len(states)] < store.high[: len(states)]).any(axis=1)
    for node in np.flatnonzero(is_leaf & (store.visits[: len(states)] > 0)):
        assert store.sums[node] / store.visits[node] == pytest.approx(expected[node], abs=1e-4)
        seen += 1
    assert seen
    # A node is worth the mean of its leaves, for each role.
    root = searcher._trees[0].root
    assert ((store.sums[root] / store.visits[root] >= 0) & (store.sums[root] / store.visits[root] <= 1)).all()


def test_the_value_of_a_joint_move_is_the_mean_of_its_leaves() -> None:
    searcher = _searcher("rock_paper_scissors", trust=1.0)
    searcher.advance(60, 300)
    store = _store(searcher)
    seen = 0
    for expansion in range(int(store.counts[EXPANSIONS])):
        node = int(store.owner[expansion])
        if store.mover[expansion] == NONE and store.visits[node] > 10 and (store.low[node] < 1).all():
            one, other = store.sums[node] / store.visits[node]
            assert store.minimax[expansion] == pytest.approx((1 + one - other) / 2, abs=1e-5)
            seen += 1
    assert seen


def test_gating_fluents_are_of_small_relations_that_do_not_change_with_every_move() -> None:
    gates = {}
    for source in ("hex_pie", "connect_four", _STUCK):
        searcher = _searcher(source)
        gates[source] = {str(searcher.game.fluent_terms[number]) for number in searcher.gating}
    colors = {f"(marker player{number} {color})" for number in (1, 2) for color in ("red", "blue")}
    assert gates["hex_pie"] == {*colors, "swapOption"}
    assert not gates["connect_four"]
    assert not gates[_STUCK]


@pytest.mark.parametrize("source", ["monty_hall", "lights_out"])
def test_other_games_are_not_practised(source: str) -> None:
    search = Search(anygame.load(source), seed=1)
    assert search.practise(games=500) is None
    assert search.run(iterations=50).nodes


def test_a_role_without_moves_ends_practice_without_a_game() -> None:
    searcher = TreeSearcher(anygame.loads(_STUCK), seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, seconds=0.05)
    assert report is not None
    assert (report.games, report.trial_matches, report.is_used) == (0, 0, False)
    learned = Learner(searcher, 1)
    assert learned.play(500)
    assert not learned.progress.games
    assert learned.progress.given_up >= 500


def test_contradictory_goals_do_not_end_practice() -> None:
    """Where the rules give the winner several goals, the highest counts, in trials as in searches."""
    game = anygame.loads(RACE + "(<= (goal black 0) (won black))")
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, games=300)
    assert report is not None
    assert report.trial_matches
    assert 0 < report.trial_score <= report.trial_matches


def test_any_seed_will_do() -> None:
    searcher = TreeSearcher(anygame.load("tic_tac_toe"), seed=-3, memory=1 << 22)
    for seed in (-3, 1 << 80):
        learned = Learner(searcher, seed)
        assert learned.play(100)
        assert learned.progress.games >= 100


def test_practice_can_be_stopped_and_asked_for_too_little() -> None:
    search = Search(anygame.load("connect_four"), seed=1)
    report = search.practise(seconds=1000, stop=lambda: True)
    assert report is not None
    assert not report.is_used
    for wrong in ({}, {"seconds": 0.0}, {"games": -1}):
        with pytest.raises(ValueError, match="expected a positive limit for practice"):
            search.practise(**wrong)
    assert Search(anygame.load("connect_four", machine="reasoner")).practise(games=10) is None


def test_accepted_estimates_are_used_in_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.load("connect_four")
    for points, is_used in ((1, True), (0.5, False)):
        found = 0.6 * is_used, Trial(2, [points] * 6)
        monkeypatch.setattr(practice, "judge", lambda *_, found=found, **__: found)
        search = Search(game, seed=1)
        before = search.run(iterations=3000).moves
        report = search.practise(games=300)
        assert report is not None
        assert report.is_used == is_used
        assert Search(game, seed=1).run(iterations=3000).moves == before
        if is_used:
            with pytest.raises(ValueError, match="nothing has been searched yet"):
                search.analysis()
            assert search.run(iterations=3000).moves != before
        else:
            assert search.analysis().moves == before
