"""The native search: what it says of moves, bounds and memory, against the rules and against exact values."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.examples import examples
from tests.search.graph_games import KINDS, bounds, random_nodes, reached, sheet

import anygame
from anygame.network.kernels import background, kernel
from anygame.search.tree.lanes import load_states, read_states
from anygame.search.tree.searcher import TreeSearcher

_COIN = """
(role me) (role random) (init start)
(<= (legal me (bet ?c)) (true start) (coin ?c)) (<= (legal random toss) (true start))
(<= (legal me noop) (true (chose ?c))) (<= (legal random ?c) (true (chose ?d)) (coin ?c))
(coin heads) (coin tails) (coin edge)
(<= (next (chose ?c)) (does me (bet ?c)))
(<= (next (fell ?c ?d)) (does random ?c) (true (chose ?d)))
(<= terminal (true (fell ?c ?d)))
(<= (goal me 90) (true (fell ?c ?c))) (<= (goal me 30) (true (fell ?c ?d)) (distinct ?c ?d))
"""
_WIDE = """
(role left) (role right) (init go) {numbers}
(<= (legal left (take ?x ?y)) (number ?x) (number ?y)) (<= (legal right (take ?x ?y)) (number ?x) (number ?y))
(<= (next (took ?r ?x ?y)) (does ?r (take ?x ?y)))
(<= terminal (true (took ?r ?x ?y)))
(<= (goal left 100) (true (took left ?x 3))) (<= (goal left 0) (true (took left ?x ?y)) (distinct ?y 3))
(<= (goal right 50) (true (took right ?x ?y)))
"""
_ROUNDS = """
(role left) (role right) (init (round 0)) {numbers}
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(<= (legal ?r (pick ?n)) (role ?r) (number ?n))
(<= (next (last ?r ?n)) (does ?r (pick ?n)))
(<= (next (round ?next)) (true (round ?now)) (succ ?now ?next))
(<= terminal (true (round 5)))
(<= same (true (last left ?n)) (true (last right ?n)))
(<= (goal left 100) same) (<= (goal left 0) (not same)) (<= (goal right 50) (role right))
"""


def _searcher(game: anygame.Game, seed: int = 1, memory: int = 1 << 26, threads: int = 1) -> TreeSearcher:
    searcher = TreeSearcher(game, seed=seed, memory=memory, threads=threads)
    searcher.begin(game.initial_state())
    return searcher


def _run(searcher: TreeSearcher, iterations: int) -> int:
    done = 0
    while done < iterations and not searcher.is_done:
        made = searcher.advance(60, iterations - done)
        done += made
    return done


@pytest.mark.parametrize("fluents", [1, 63, 64, 65, 200])
def test_states_come_out_of_lanes_as_they_went_in(fluents: int) -> None:
    random = np.random.default_rng(fluents)
    words = -(-fluents // 64)
    bits = random.random((300, 64 * words)) < 0.5
    bits[:, fluents:] = False
    states = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    rows, square = np.zeros((16 + fluents, 8), np.uint64), np.zeros(64, np.uint64)
    lanes = np.sort(random.permutation(512)[:300]).astype(np.int32)
    load_states(rows, 16, fluents, lanes, states, np.arange(300, dtype=np.int32), 300, square)
    found = np.zeros((512, words), np.uint64)
    read_states(rows, 16, fluents, 512, found, square)
    assert (found[lanes] == states).all()
    others = np.setdiff1d(np.arange(512), lanes)
    assert not found[others].any()


@pytest.mark.parametrize("name", ["tic_tac_toe", "hex_pie", "six_in_a_row", "copolymer"])
def test_its_moves_are_the_legal_ones_wherever_play_goes(name: str) -> None:
    game = anygame.load(name)
    searcher = TreeSearcher(game, seed=1, memory=1 << 26)
    random = Random(5)
    state = game.initial_state()
    for _ in range(12):
        if state.is_terminal:
            break
        searcher.begin(state)
        _run(searcher, 200)
        found = searcher.analysis()
        for role in game.roles:
            told = [each.move for each in found.moves[role]]
            assert sorted(told, key=str) == list(state.legal_moves(role))
            assert searcher.best(game.role_index(role)) == told[0]
            for each in found.moves[role]:
                follow = state
                for joint in each.line:
                    follow = follow.next(joint)
                assert not each.line or each.line[0][game.role_index(role)] == each.move
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])


def test_tic_tac_toe_is_proven_a_draw() -> None:
    game = anygame.load("tic_tac_toe")
    searcher = _searcher(game)
    _run(searcher, 1_000_000)
    found = searcher.analysis()
    assert searcher.is_done
    assert found.proven == {"x": 50, "o": 50}
    assert found.nodes <= 5478


def test_a_quick_win_is_preferred_and_a_loss_put_off() -> None:
    game = anygame.loads("""
        (role me) (init (at a))
        (edge a b) (edge a c) (edge a d) (edge b e) (edge e w) (edge c w) (edge d x) (end w) (end x)
        (<= (legal me (to ?y)) (true (at ?x)) (edge ?x ?y)) (<= (next (at ?y)) (does me (to ?y)))
        (<= terminal (true (at ?x)) (end ?x))
        (<= (goal me 100) (true (at w))) (<= (goal me 10) (true (at x)))""")
    searcher = _searcher(game)
    _run(searcher, 1000)
    (moves,) = searcher.analysis().moves.values()
    assert (str(moves[0].move), moves[0].proven) == ("(to c)", 100)
    assert len(moves[0].line) == 2


def test_chance_is_weighed() -> None:
    game = anygame.loads(_COIN)
    searcher = _searcher(game)
    _run(searcher, 10_000)
    assert searcher.analysis().proven == {"me": 50}


@pytest.mark.parametrize("size", [3, 30])
def test_joint_moves_may_be_more_than_can_be_listed(size: int) -> None:
    game = anygame.loads(_WIDE.format(numbers=" ".join(f"(number {n})" for n in range(1, size + 1))))
    searcher = _searcher(game)
    _run(searcher, 60_000)
    assert str(searcher.best(0)).endswith(" 3)")


def test_a_role_without_a_move_ends_the_game() -> None:
    game = anygame.loads("""
        (role me) (role you) (init start) (<= (legal me go) (true start)) (<= (legal me stay) (true start))
        (<= (legal you wait) (true start)) (<= (next stuck) (does me go)) (<= (next over) (does me stay))
        (<= terminal (true over)) (<= (goal me 70) (true over)) (<= (goal me 40) (true stuck))
        (goal you 0)""")
    searcher = _searcher(game)
    _run(searcher, 100)
    assert str(searcher.best(0)) == "stay"
    assert searcher.analysis().proven[game.roles[0]] == 70


def test_endless_games_are_searched_all_the_same() -> None:
    game = anygame.loads("""
        (role me) (role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 0)
        (legal me on) (legal me back) (legal you on) (legal you back)
        (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does me on))
        (<= (next (at ?y)) (true (at ?x)) (succ ?y ?x) (does me back))
        (goal me 50) (goal you 50)""")
    searcher = _searcher(game)
    assert _run(searcher, 3000) > 0
    assert str(searcher.best(0)) in {"on", "back"}


def test_states_after_the_end_have_no_moves_to_search() -> None:
    game = anygame.loads("(role me) (legal me a) (legal me b) terminal (goal me 30)")
    searcher = _searcher(game)
    assert searcher.is_done
    assert searcher.advance(0.1) == 0


def test_the_same_seed_gives_the_same_tree_and_another_one_another() -> None:
    game = anygame.load("hex_pie")
    told = []
    for seed in (3, 3, 4):
        searcher = _searcher(game, seed=seed)
        _run(searcher, 3000)
        told.append(searcher.analysis().moves)
    assert told[0] == told[1]
    assert told[0] != told[2]


def test_memory_is_bounded_and_what_is_known_stays() -> None:
    game = anygame.load("six_in_a_row")
    searcher = _searcher(game, memory=3 << 20)
    searcher.begin(game.initial_state())
    visits = 0
    for _ in range(6):
        _run(searcher, 10_000)
        found = searcher.analysis()
        assert searcher.bytes < 80 << 20  # a worker takes most of it, whatever the memory
        most = max(each.visits for each in found.moves[game.roles[0]])
        assert most >= visits
        visits = most
    assert found.nodes < 60_000


def test_what_is_won_is_won_though_the_winning_moves_were_forgotten() -> None:
    game = anygame.load("tic_tac_toe")
    for seed in range(8):
        random = Random(seed)
        searcher = TreeSearcher(game, seed=seed, memory=1 << 22)
        state = game.initial_state().next(["(mark 1 1)", "noop"]).next(["noop", "(mark 1 2)"])
        while not state.is_terminal:
            searcher.begin(state)
            _run(searcher, 10_000)
            assert searcher.analysis().proven[game.roles[0]] == 100
            chosen = [searcher.best(0), random.choice(state.legal_moves("o"))]
            if len(state.legal_moves("o")) > 1:
                searcher._trees[0]._forget_moves(1 << 30)
            state = state.next(chosen)
        assert state.goal("x") == 100


def test_thousands_of_joint_moves_a_state_leave_room_for_more() -> None:
    game = anygame.loads(_ROUNDS.format(numbers=" ".join(f"(number {n})" for n in range(100))))
    searcher = _searcher(game, memory=12 << 20)
    state = game.initial_state()
    while not state.is_terminal:
        searcher.begin(state)
        assert searcher.advance(60, 15_000) >= 15_000
        state = state.next([searcher.best(0), searcher.best(1)])


def test_threads_add_up() -> None:
    game = anygame.load("tic_tac_toe")
    searcher = _searcher(game, threads=3)
    _run(searcher, 100_000)
    assert searcher.analysis().proven == {"x": 50, "o": 50}
    with pytest.raises(ValueError, match="at least one thread"):
        TreeSearcher(game, threads=0)


@pytest.mark.parametrize("forward", [True, False], ids=["acyclic", "cyclic"])
@pytest.mark.parametrize(
    "kinds", [("left",), ("left", "right"), ("left", "right", "random"), KINDS], ids="-".join
)
def test_bounds_hold_the_value(kinds: tuple[str, ...], forward: bool) -> None:
    for seed in range(examples(12)):
        nodes = random_nodes(Random(f"{kinds} {forward} {seed}"), kinds, forward=forward)
        if all(nodes[number].goals[0] is None for number in reached(nodes)):
            continue
        least, most, exact = bounds(nodes)
        game = anygame.loads(sheet(nodes))
        state = game.initial_state()
        if not exact or state.is_terminal:
            continue
        searcher = _searcher(game)
        _run(searcher, 3000)
        found = searcher.analysis()
        for name, low, high in (("left", least, most), ("right", 100 - most, 100 - least)):
            role = game.roles[game.role_index(name)]
            proven = found.proven[role]
            if proven is not None:
                assert low - 0.01 <= proven <= high + 0.01
            else:
                assert not forward or "both" in kinds
            if "both" not in kinds:
                assert max(each.bounds.least for each in found.moves[role]) <= high + 0.01


def test_a_search_goes_on_where_faster_code_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop stands in for straight code until that is compiled; the tree is the same, whenever it comes."""
    seen = []
    for at_once, finished_after in ((1 << 30, 0), (-1, 400), (-1, 1 << 30)):
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "COMPILED_AT_ONCE", at_once)
            patch.setattr(background.Compilation, "wait", lambda _: False)
            searcher = _searcher(anygame.load("connect_four"))
            compiled = searcher._machine.kernel
            for number in range(6):
                if number * 200 >= finished_after:
                    compiled.finish()
                assert searcher.advance(60, 200) >= 200
            seen.append(searcher.analysis().moves)
    assert seen[0] == seen[1] == seen[2]
