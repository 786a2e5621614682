"""The native search: what it says of moves, bounds and memory, against the rules and against exact values."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.examples import examples
from tests.search.graph_games import KINDS, TOGETHER, bounds, random_nodes, reached, sheet

import anygame
from anygame.network.kernels import compilation, kernel
from anygame.search.lanes import describe, load_states, read_states
from anygame.search.tree.searcher import Tree, TreeSearcher

if TYPE_CHECKING:
    from anygame.search.reporting import Option

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
_BET = """
(role me) (role you) (role random) (init start) (coin heads) (coin tails)
(<= (legal me (bet ?c)) (coin ?c)) (<= (legal random ?c) (coin ?c)) (legal you noop)
(<= (next (fell ?c)) (does random ?c)) (<= terminal (not (true start)))
(<= (goal me 100) (true (fell heads))) (<= (goal me 0) (true (fell tails)))
(<= (goal you 0) (true (fell heads))) (<= (goal you 100) (true (fell tails)))
"""
#: You may trust me, that I like what is best for both: but most ends are those of opponents.
_TRUST = """
(role me) (role you) (init (at start))
(leads start you trust asked) (leads start you leave far)
(leads asked me share shared) (leads asked me give given) (to given later) (to later both)
(to far 1) (to 1 2) (to 2 3) (to 3 4) (to 4 5) (to 5 6) (to 6 7) (to 7 8) (to 8 further)
(leads further you stop nothing) (leads further you on last)
(leads last me all mine) (leads last me some left)
(end shared 50 50) (end both 100 100) (end nothing 100 0) (end mine 0 100) (end left 30 70)
(<= (chooses ?r ?p) (leads ?p ?r ?m ?q))
(<= (legal ?r ?m) (true (at ?p)) (leads ?p ?r ?m ?q))
(<= (legal ?r noop) (role ?r) (true (at ?p)) (not (chooses ?r ?p)))
(<= (next (at ?q)) (true (at ?p)) (does ?r ?m) (leads ?p ?r ?m ?q))
(<= (next (at ?q)) (true (at ?p)) (to ?p ?q))
(<= terminal (true (at ?p)) (end ?p ?m ?y))
(<= (goal me ?m) (true (at ?p)) (end ?p ?m ?y)) (<= (goal you ?y) (true (at ?p)) (end ?p ?m ?y))
"""
#: Of ten draws seven are won, whatever is chosen.
_LOTTERY = """
(role left) (role right) (role random) (init start)
(legal left a) (legal left b) (legal right a) (legal right b) {draws}
(<= (next (drawn ?n)) (does random (draw ?n))) (<= terminal (not (true start)))
(<= won (true (drawn ?n)) (wins ?n)) (wins 1) (wins 2) (wins 3) (wins 4) (wins 5) (wins 6) (wins 7)
(<= (goal left 100) won) (<= (goal left 0) (not won)) (<= (goal right 0) won) (<= (goal right 100) (not won))
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
def test_states_in_lanes_are_read_back_unchanged(fluents: int) -> None:
    random = np.random.default_rng(fluents)
    words = -(-fluents // 64)
    bits = random.random((300, 64 * words)) < 0.5
    bits[:, fluents:] = False
    states = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    rows, square = np.zeros((16 + fluents, 8), np.uint64), np.zeros(64, np.uint64)
    lanes = np.sort(random.permutation(512)[:300]).astype(np.int32)
    kernel = anygame.load("tic_tac_toe").backends.needed_network().kernel
    game = describe(kernel, [False, False])[0]._replace(layout=np.array([16, fluents, 0, 0, 0]))
    load_states(game, rows, lanes, states, np.arange(300, dtype=np.int32), 300, square)  # type: ignore[no-untyped-call]
    found = np.zeros((512, words), np.uint64)
    read_states(rows, 16, fluents, 512, found, square)  # type: ignore[no-untyped-call]
    assert (found[lanes] == states).all()
    others = np.setdiff1d(np.arange(512), lanes)
    assert not found[others].any()


@pytest.mark.parametrize("name", ["tic_tac_toe", "hex_pie", "six_in_a_row", "copolymer"])
def test_the_tree_has_exactly_the_legal_moves(name: str) -> None:
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


def test_chance_at_the_same_time_holds_nobody_to_anything() -> None:
    game = anygame.loads(_BET)
    searcher = _searcher(game)
    _run(searcher, 1000)
    found = searcher.analysis()
    assert found.proven == {"me": None, "you": None}
    assert found.goals[game.roles[0]] == pytest.approx(50, abs=10)


def test_proofs_about_opponents_are_dropped_for_cooperative_roles() -> None:
    game = anygame.loads(_TRUST)
    for seed in range(6):
        searcher = _searcher(game, seed=seed)
        _run(searcher, 3000)
        assert str(searcher.best(1)) == "trust"
        (trust,) = (each for each in searcher.analysis().moves[game.roles[1]] if str(each.move) == "trust")
        assert trust.bounds == (50, 100)


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


def test_an_end_that_was_looked_at_is_one_in_what_leads_there() -> None:
    game = anygame.loads("""
        (role me) (init (at 0)) (succ 0 1) (succ 1 2) (legal me go) (legal me stay)
        (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m) (does me go))
        (<= (next (at ?n)) (true (at ?n)) (does me stay)) (<= terminal (not (true (at 0))))
        (<= (goal me 40) (true (at 1))) (<= (goal me 90) (true (at 2)))""")
    searcher = TreeSearcher(game, seed=1, memory=1 << 26)
    start = game.initial_state()
    searcher.begin(start.next(["go"]))
    assert searcher.analysis().proven == {"me": 40}
    searcher.begin(start)
    _run(searcher, 300)
    (go,) = (each for each in searcher.analysis().moves[game.roles[0]] if str(each.move) == "go")
    assert (go.proven, len(go.line)) == (40, 1)


@pytest.mark.parametrize("goals", [(0, 333_333, 700_001, 1_000_000), (-999_999_999, 1, 700_001)], ids=str)
def test_large_goals_are_reported_exactly(goals: tuple[int, ...]) -> None:
    numbers = " ".join(f"(number {n} {goal})" for n, goal in enumerate(goals))
    game = anygame.loads(f"""
        (role me) (init start) {numbers} (<= (legal me (take ?n)) (number ?n ?g))
        (<= (next (took ?n)) (does me (take ?n))) (<= terminal (not (true start)))
        (<= (goal me ?g) (true (took ?n)) (number ?n ?g))""")
    searcher = _searcher(game)
    _run(searcher, 100)
    (moves,) = searcher.analysis().moves.values()
    assert sorted(each.bounds.least for each in moves) == list(goals)


def test_means_stay_exact_after_millions_of_tries() -> None:
    draws = " ".join(f"(legal random (draw {n}))" for n in range(1, 11))
    searcher = _searcher(anygame.loads(_LOTTERY.format(draws=draws)))
    _run(searcher, 1000)
    tree = searcher._trees[0]
    first = int(tree.store.first_option[tree.store.expansion[tree.root]])
    tree.store.tries[first : first + 4] = 19_000_000
    tree.store.mean[first : first + 2], tree.store.mean[first + 2 : first + 4] = 0.7, 0.3
    tree.store.option_low[first : first + 4] = 0
    _run(searcher, 200_000)
    for role, mean in enumerate((0.7, 0.3)):
        for option in tree.options(tree.root, role):
            assert option.mean == pytest.approx(mean, abs=5e-4)


def test_visits_do_not_overflow() -> None:
    game = anygame.load("connect_four")
    searcher = _searcher(game)
    _run(searcher, 10_000)
    before = searcher.analysis().goals
    tree = searcher._trees[0]
    more = ((1 << 31) - 2000) / int(tree.store.visits[tree.root])
    tree.store.sums[tree.root] *= more
    tree.store.visits[tree.root] = (1 << 31) - 2000
    first = int(tree.store.first_option[tree.store.expansion[tree.root]])
    tree.store.tries[first : first + 7] = (1 << 31) - 2000
    assert _run(searcher, 20_000) >= 20_000
    found = searcher.analysis()
    assert all(each.visits > 0 for each in found.moves[game.roles[0]])
    for role, goal in found.goals.items():
        assert goal == pytest.approx(before[role], abs=1)


def test_there_is_room_for_a_tree_however_little_is_given() -> None:
    searcher = _searcher(anygame.load("connect_four"), memory=1)
    assert _run(searcher, 20_000) >= 20_000


def test_the_same_seed_gives_the_same_tree_and_another_one_another() -> None:
    game = anygame.load("hex_pie")
    told = []
    for seed in (3, 3, 4):
        searcher = _searcher(game, seed=seed)
        _run(searcher, 3000)
        told.append(searcher.analysis().moves)
    assert told[0] == told[1]
    assert told[0] != told[2]


def test_memory_is_bounded_and_known_values_are_kept() -> None:
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


def test_a_proven_win_remains_after_its_moves_are_dropped() -> None:
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


@pytest.mark.parametrize("threads", [1, 2])
def test_options_are_read_once(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = _searcher(anygame.load("six_in_a_row"), threads=threads)
    _run(searcher, 2000)
    read: list[int] = []
    options = Tree.options

    def counted(tree: Tree, node: int, role: int) -> list[Option]:
        read.append(node)
        return options(tree, node, role)

    monkeypatch.setattr(Tree, "options", counted)
    best = searcher.best(0)
    assert len(read) == threads
    moves = searcher.analysis().moves[searcher.game.roles[0]]
    assert moves[0].move == best
    assert len(read) < 600
    assert [bool(each.line) for each in moves] == [True] * 50 + [False] * (len(moves) - 50)


@pytest.mark.slow
@pytest.mark.parametrize("forward", [True, False], ids=["acyclic", "cyclic"])
@pytest.mark.parametrize(
    "kinds",
    [("left",), ("left", "right"), ("left", "right", "random"), KINDS, ("left", "right", "gamble")],
    ids="-".join,
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
                assert not forward or TOGETHER.keys() & kinds
            if "both" not in kinds:
                assert max(each.bounds.least for each in found.moves[role]) <= high + 0.01


def test_a_search_continues_when_faster_code_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop stands in for straight code until that is compiled; the tree is the same, whenever it comes."""
    seen = []
    for at_once, finished_after in ((1 << 30, 0), (-1, 400), (-1, 1 << 30)):
        with monkeypatch.context() as patch:
            patch.setattr(kernel, "COMPILED_AT_ONCE", at_once)
            patch.setattr(compilation.Compilation, "wait", lambda _: False)
            searcher = _searcher(anygame.load("connect_four"))
            compiled = searcher._machine.kernel
            for number in range(6):
                if number * 200 >= finished_after:
                    compiled.finish()
                assert searcher.advance(60, 200) >= 200
            seen.append(searcher.analysis().moves)
    assert seen[0] == seen[1] == seen[2]
