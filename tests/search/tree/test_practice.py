"""Practice: estimates learned from self-play, minimax over them in the tree, and trials that judge them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import anygame
from anygame.search import Search, solve
from anygame.search.tree import practice
from anygame.search.tree.practice import learn_estimates
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.self_play import first_weights
from anygame.search.tree.store import CHILDREN, EXPANSIONS, NODES, NONE
from anygame.search.tree.worker import FREE_PATHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.analysis import MoveAnalysis
    from anygame.search.tree.store import Store

_BOTH_CHOOSE = """
(role a) (role b) (init start)
(<= (legal ?r (show ?n)) (role ?r) (number ?n)) (number 1) (number 2)
(<= (next (shown ?r ?n)) (does ?r (show ?n)))
(<= terminal (true (shown ?r ?n)))
(<= (goal a 100) (true (shown a ?n)) (true (shown b ?n))) (<= (goal a 0) (not (goal a 100)))
(<= (goal b 0) (goal a 100)) (<= (goal b 100) (not (goal a 100)))
"""
#: Pawns that walk up a board of five by six and take each other; who comes to the other side first has won.
_RACE = """
(role white) (role black) (init (turn white))
(<= (init (at ?x 1 white)) (column ?x)) (<= (init (at ?x 6 black)) (column ?x))
(column 1) (column 2) (column 3) (column 4) (column 5)
(ahead white 1 2) (ahead white 2 3) (ahead white 3 4) (ahead white 4 5) (ahead white 5 6)
(<= (beside ?x ?y) (ahead white ?x ?y) (column ?y)) (<= (beside ?x ?y) (beside ?y ?x))
(<= (ahead black ?y ?z) (ahead white ?z ?y)) (goes white black) (goes black white)
(<= (taken ?x ?y) (true (at ?x ?y ?r)))
(<= (legal ?r (move ?x ?y ?x ?z)) (true (turn ?r)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (not (taken ?x ?z)))
(<= (legal ?r (move ?x ?y ?v ?z)) (true (turn ?r)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (beside ?x ?v)
    (not (true (at ?v ?z ?r))))
(<= (legal ?r noop) (goes ?r ?s) (true (turn ?s)))
(<= (next (turn ?s)) (true (turn ?r)) (goes ?r ?s))
(<= (next (at ?v ?z ?r)) (does ?r (move ?x ?y ?v ?z)))
(<= (touched ?x ?y) (does ?r (move ?x ?y ?v ?z))) (<= (touched ?v ?z) (does ?r (move ?x ?y ?v ?z)))
(<= (next (at ?x ?y ?r)) (true (at ?x ?y ?r)) (not (touched ?x ?y)))
(<= (won white) (true (at ?x 6 white))) (<= (won black) (true (at ?x 1 black)))
(<= (can ?r) (legal ?r (move ?x ?y ?v ?z)))
(<= (won ?s) (goes ?r ?s) (true (turn ?r)) (not (can ?r)))
(<= terminal (won ?r))
(<= (goal white 100) (won white)) (<= (goal white 0) (not (won white)))
(<= (goal black 0) (won white)) (<= (goal black 100) (not (won white)))
"""
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


def _estimates(weights: NDArray[np.float32], states: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the estimates of states by matrices."""
    bits = np.unpackbits(states.view(np.uint8), axis=1, bitorder="little").astype(np.float64)
    hidden = bits @ weights[:-2] + weights[-2]
    total = np.maximum(hidden[:, :-1], 0) @ weights[-1, :-1] + hidden[:, -1]
    return np.asarray(1 / (1 + np.exp(-total)))


def _searcher(name: str, trust: float = 0.6) -> TreeSearcher:
    game = anygame.load(name)
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    searcher.use_estimates(first_weights(searcher.code.weights.shape, 3), trust)
    searcher.begin(game.initial_state())
    return searcher


def _in_order(searcher: TreeSearcher) -> list[MoveAnalysis]:
    """Return the moves of the first role in the order of its options."""
    moves = searcher.analysis().moves[searcher.game.roles[0]]
    actions = searcher._machine.compiled.actions[0]
    return sorted(moves, key=lambda each: actions.index(each.move))


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
    store, weights = _store(searcher), searcher.code.weights
    estimates = _estimates(weights, store.states[: store.counts[NODES]])
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
            value = estimates[child]
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


def test_a_draw_is_neither_won_nor_lost_whatever_it_is_worth() -> None:
    game = anygame.loads(_WORTHLESS_DRAW)
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    searcher.use_estimates(first_weights(searcher.code.weights.shape, 1), 0.6)
    searcher.begin(game.initial_state())
    searcher.advance(60, 10)
    store = _store(searcher)
    options = {str(each.move): number for number, each in enumerate(_in_order(searcher))}
    values = store.option_minimax[: len(options)] / 65535
    assert values[options["win"]] == pytest.approx(1, abs=1e-4)
    assert values[options["draw"]] == pytest.approx(0.5, abs=1e-4)
    assert values[options["lose"]] == pytest.approx(0, abs=1e-4)


def test_practice_tells_won_positions_from_lost_ones() -> None:
    game = anygame.load("tic_tac_toe")
    table = solve(game, table=True).table
    assert table is not None
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    learned = practice.self_play(searcher, seed=1, games=4000)
    assert learned is not None
    assert learned.games >= 4000
    assert learned.positions > 4 * learned.games
    assert learned.seconds > 0
    random = Random(1)
    told: dict[float, list[float]] = {0: [], 50: [], 100: []}
    for _ in range(300):
        state = game.initial_state()
        while not state.is_terminal:
            values = _estimates(learned.weights, searcher.packed(state).reshape(1, -1))
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
        learned = practice.self_play(TreeSearcher(game, seed=1, memory=1 << 24), seed=seed, games=300)
        assert learned is not None
        found.append(learned.weights)
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


def test_a_trial_tells_good_estimates_from_bad_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learned from thousands of games beats its own opposite in nearly all matches."""
    monkeypatch.setattr(practice, "_LEAVES", 500)
    game = anygame.loads(_RACE)
    searcher = TreeSearcher(game, seed=1, memory=1 << 24)
    learned = practice.self_play(searcher, seed=1, games=3000)
    assert learned is not None
    good = learned.weights
    bad = good.copy()
    bad[-1] *= -1
    bad[:, -1] *= -1
    scores = []
    for weights in (good, bad):
        trial = practice.try_out(game, weights, seed=1)
        assert 6 <= len(trial.leads) <= 24
        assert set(trial.leads) <= {0, 0.5, 1}
        assert not trial.gains
        scores.append(sum(trial.leads) / len(trial.leads))
    assert scores[0] > scores[1] + 0.3


def test_estimates_help_where_no_move_has_many_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundred leaves a root move has one try or none: visits say how many moves follow it, no more."""
    monkeypatch.setattr(practice, "_LEAVES", 100)
    game = anygame.loads(_RACE)
    learned = practice.self_play(TreeSearcher(game, seed=1, memory=1 << 24), seed=1, games=3000)
    assert learned is not None
    trial = practice.try_out(game, learned.weights, seed=1)
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
    assert practice.Trial(leads, gains).speaks_for_it == is_good


def test_a_trial_ends_when_it_is_decided() -> None:
    assert not practice.Trial([1] * 5).is_decided
    assert practice.Trial([1] * 6).is_decided
    assert practice.Trial([0] * 6).is_decided
    assert not practice.Trial([1, 0] * 4).is_decided
    assert practice.Trial([1] * 6, [0.4] * 6).is_decided
    assert not practice.Trial([1] * 6, [0.4, 0.5, 0.6, 0.5, 0.5, 0.4]).is_decided


@pytest.mark.slow
def test_where_both_can_gain_a_trial_compares_with_play_without_estimates() -> None:
    """Who takes pieces has them, whatever the other takes: goals are shares of what was taken."""
    searcher = TreeSearcher(anygame.load("capture_chess"), seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, games=300)
    learned = practice.self_play(searcher, seed=1, games=300)
    assert report is not None
    assert learned is not None
    assert learned.is_shared
    trial = practice.try_out(searcher.game, learned.weights, seed=1, is_shared=True)
    assert len(trial.gains) == len(trial.leads) == report.trial_matches
    assert sum(trial.leads) == report.trial_score
    assert trial.gains != trial.leads


@pytest.mark.parametrize(
    "source", [_BOTH_CHOOSE, "monty_hall", "lights_out", "three_player_chomp"], ids=range(4)
)
def test_other_games_are_not_practised(source: str) -> None:
    game = anygame.loads(source) if "(" in source else anygame.load(source)
    search = Search(game, seed=1)
    assert search.practise(games=500) is None
    assert search.run(iterations=50).nodes


def test_a_role_without_moves_ends_practice_without_a_game() -> None:
    searcher = TreeSearcher(anygame.loads(_STUCK), seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, seconds=0.05)
    assert report is not None
    assert (report.games, report.trial_matches, report.is_used) == (0, 0, False)
    learned = practice.self_play(searcher, seed=1, games=500)
    assert learned is not None
    assert not learned.games


def test_contradictory_goals_do_not_end_practice() -> None:
    """Where the rules give the winner several goals, the highest counts, in trials as in searches."""
    game = anygame.loads(_RACE + "(<= (goal black 0) (won black))")
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    report = learn_estimates(searcher, seed=1, games=300)
    assert report is not None
    assert report.trial_matches >= 6
    assert 0 < report.trial_score < report.trial_matches


def test_any_seed_will_do() -> None:
    searcher = TreeSearcher(anygame.load("tic_tac_toe"), seed=-3, memory=1 << 22)
    for seed in (-3, 1 << 80):
        learned = practice.self_play(searcher, seed=seed, games=100)
        assert learned is not None
        assert learned.games >= 100


def test_practice_can_be_stopped_and_asked_for_too_little() -> None:
    search = Search(anygame.load("connect_four"), seed=1)
    report = search.practise(seconds=1000, stop=lambda: True)
    assert report is not None
    assert not report.is_used
    for wrong in ({}, {"seconds": 0.0}, {"games": -1}):
        with pytest.raises(ValueError, match="for how many seconds to practise, or how many games"):
            search.practise(**wrong)
    assert Search(anygame.load("connect_four", machine="reasoner")).practise(games=10) is None


def test_what_is_used_shows_in_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.load("connect_four")
    for points, is_used in ((1, True), (0.5, False)):
        trial = practice.Trial([points] * 6)
        monkeypatch.setattr(practice, "try_out", lambda *_, trial=trial, **__: trial)
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
