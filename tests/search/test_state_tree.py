"""The tree over states: proofs against exact solutions, odd rules, and what bounds it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.search.graph_games import KINDS, random_nodes, reached, sheet

import anygame
from anygame.search import solve
from anygame.search.analysis import best_first
from anygame.search.state_tree import StateSearcher

if TYPE_CHECKING:
    from collections.abc import Iterator


def _searched(game: anygame.Game, iterations: int, seed: int = 1) -> StateSearcher:
    searcher = StateSearcher(game, seed=seed)
    searcher.begin(game.initial_state())
    searcher.advance(60, iterations)
    return searcher


def _after(game: anygame.Game, *moves: str) -> anygame.State:
    """Return the state after moves of roles that take turns."""
    state = game.initial_state()
    for move in moves:
        legal = [state.legal_moves(role) for role in game.roles]
        state = state.next([move if len(each) > 1 else each[0] for each in legal])
    return state


def test_tic_tac_toe_is_proven_a_draw() -> None:
    game = anygame.load("tic_tac_toe", machine="reasoner")
    searcher = StateSearcher(game, seed=1)
    searcher.begin(_after(game, "(mark 1 1)", "(mark 2 2)", "(mark 3 3)"))
    searcher.advance(60, 5_000)
    assert searcher.is_done
    assert searcher.analysis().proven == {"x": 50, "o": 50}


@pytest.mark.slow
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "kinds", [("left",), ("left", "right"), ("left", "right", "random"), KINDS], ids="-".join
)
def test_bounds_enclose_exact_values_on_random_graphs(kinds: tuple[str, ...], forward: bool) -> None:
    """Whatever the graph: cycles, chance, simultaneous moves, ends without a goal."""
    random = Random(f"{kinds} {forward}")
    closed = 0
    for number in range(8):
        nodes = random_nodes(random, kinds, forward=forward, missing=0.1)
        if not any(nodes[n].goals[0] is not None for n in reached(nodes)):
            continue
        game = anygame.loads(sheet(nodes), machine="reasoner")
        exact = solve(game).bounds["left"]
        assert exact is not None
        found = _searched(game, 100, number).analysis()
        for each in found.moves[game.roles[0]]:
            if len(found.moves[game.roles[0]]) == 1:
                assert each.bounds.least <= exact.least + 1e-6, sheet(nodes)
                assert exact.most - 1e-6 <= each.bounds.most, sheet(nodes)
        proven = found.proven[game.roles[0]]
        if proven is not None and exact.least == exact.most:
            assert proven == pytest.approx(exact.least, abs=1e-6), sheet(nodes)
            closed += 1
    assert closed > 1


@pytest.mark.parametrize("name", ["tic_tac_toe", "rock_paper_scissors"])
def test_the_same_seed_finds_the_same_however_time_is_cut(name: str) -> None:
    game = anygame.load(name, machine="reasoner")
    whole = _searched(game, 60).analysis()
    pieces = StateSearcher(game, seed=1)
    pieces.begin(game.initial_state())
    done = 0
    while done < 60:
        done += pieces.advance(0, 60 - done)
    assert pieces.analysis() == whole


def test_the_subtree_of_the_new_state_is_kept() -> None:
    game = anygame.load("tic_tac_toe", machine="reasoner")
    searcher = _searched(game, 400)
    before = searcher.analysis().nodes
    searcher.begin(_after(game, "(mark 2 2)"))
    visits = sum(each.visits for each in searcher.analysis().moves[game.roles[1]])
    assert visits > 10
    searcher.advance(60, 1)
    after = searcher.analysis()
    assert 5 < after.nodes < before
    assert sum(each.visits for each in after.moves[game.roles[1]]) == visits + 1
    # A state that is not known begins a new tree.
    searcher.begin(game.initial_state())
    assert searcher.analysis().nodes == 1


def test_a_win_is_played_by_its_shortest_line_and_a_loss_by_its_longest() -> None:
    """Two heaps of Nim told as a graph: b wins at once, a in two moves; d and c lose likewise."""
    win = """
        (role left) (role right) (init (at start)) (turn start left) (turn far left) (turn mid right)
        (edge start a far) (edge start b won) (edge far a won) (edge far b lost)
        (<= (legal ?r ?m) (true (at ?n)) (turn ?n ?r) (edge ?n ?m ?k))
        (<= (legal ?r noop) (role ?r) (true (at ?n)) (not (turn ?n ?r)))
        (<= (next (at ?k)) (true (at ?n)) (turn ?n ?r) (does ?r ?m) (edge ?n ?m ?k))
        (<= terminal (true (at won))) (<= terminal (true (at lost)))
        (<= (goal left 100) (true (at won))) (<= (goal right 0) (true (at won)))
        (<= (goal left 0) (true (at lost))) (<= (goal right 100) (true (at lost)))
    """
    assert str(_searched(anygame.loads(win, machine="reasoner"), 100).best(0)) == "b"
    loss = win.replace("far a won", "far a lost").replace("start b won", "start b lost")
    found = _searched(anygame.loads(loss, machine="reasoner"), 100)
    assert found.analysis().proven == {"left": 0, "right": 100}
    assert str(found.best(0)) == "a"


def test_a_state_where_a_role_is_stuck_is_worth_its_goals_and_proves_nothing() -> None:
    game = anygame.loads(
        """
        (role a) (role b) (init (at start))
        (<= (legal a hill) (true (at start))) (<= (legal a cliff) (true (at start)))
        (<= (legal a on) (not (true (at start))))
        (<= (legal b wait) (not (true (at cliff))))
        (<= (next (at ?x)) (does a ?x))
        (<= terminal (true (at on)))
        (<= (goal a 70) (true (at on))) (<= (goal a 10) (not (true (at on)))) (goal b 30)
        """,
        machine="reasoner",
    )
    searcher = _searched(game, 50)
    assert str(searcher.best(0)) == "hill"
    cliff = next(each for each in searcher.analysis().moves[game.roles[0]] if str(each.move) == "cliff")
    assert (cliff.goal, cliff.proven) == (10, None)
    searcher.begin(game.initial_state().next(["cliff", "wait"]))
    assert searcher.is_done
    assert searcher.advance(1) == 0
    assert str(searcher.best(0)) == "on"
    with pytest.raises(ValueError, match="b has no legal move"):
        searcher.best(1)


@pytest.mark.parametrize("values", [(), ("20", "30"), ("lots",)], ids=["missing", "doubled", "no number"])
def test_no_value_is_proven_without_a_usable_goal(values: tuple[str, ...]) -> None:
    other = " ".join(f"(<= (goal me {value}) (true (did a)))" for value in values)
    game = anygame.loads(
        "(role me) (legal me a) (legal me b) (<= (next (did ?x)) (does me ?x)) (<= terminal (true (did ?x)))"
        f"(<= (goal me 60) (true (did b))) {other}",
        machine="reasoner",
    )
    searcher = _searched(game, 30)
    assert str(searcher.best(0)) == "b"
    assert [each.proven for each in searcher.analysis().moves[game.roles[0]]] == [60, None]


def test_endless_games_are_searched_and_nothing_false_is_proven() -> None:
    game = anygame.loads(
        "(role me) (role you) (init (s 0)) (legal me a) (legal me b) (legal you c)"
        "(<= (next (s 1)) (true (s 0)) (does me a)) (<= (next (s 0)) (true (s 1)))"
        "(<= (next (s 2)) (true (s 0)) (does me b)) (<= terminal (true (s 2)))"
        "(<= (goal me 50) (true (s 2))) (<= (goal you 50) (true (s 2)))"
        "(<= (goal me 0) (not (true (s 2)))) (<= (goal you 100) (not (true (s 2))))",
        machine="reasoner",
    )
    searcher = _searched(game, 20)
    assert searcher.best(0) in game.initial_state().legal_moves("me")
    assert searcher.analysis().depth <= 500
    by_move = {str(each.move): each.bounds for each in searcher.analysis().moves[game.roles[0]]}
    assert by_move["b"] == (50, 50)
    # Who goes round can still go to the end; what is gained by going round for ever nobody knows.
    assert by_move["a"] == (50, 100)


def test_roles_that_are_no_opponents_are_not_held_to_their_worst() -> None:
    """Both want the same: the other could spoil it, and has no reason to."""
    game = anygame.loads(
        """
        (role a) (role b) (init (at start)) (turn start a) (turn fork b)
        (edge start safe safe) (edge start trust fork) (edge fork spoil nothing) (edge fork share all)
        (<= (legal ?r ?m) (true (at ?n)) (turn ?n ?r) (edge ?n ?m ?k))
        (<= (legal ?r noop) (role ?r) (true (at ?n)) (not (turn ?n ?r)))
        (<= (next (at ?k)) (true (at ?n)) (turn ?n ?r) (does ?r ?m) (edge ?n ?m ?k))
        (worth safe 30) (worth nothing 0) (worth all 100)
        (<= terminal (true (at ?n)) (worth ?n ?g)) (<= (goal ?r ?g) (role ?r) (true (at ?n)) (worth ?n ?g))
        """,
        machine="reasoner",
    )
    searcher = _searched(game, 400)
    assert str(searcher.best(0)) == "trust"
    assert not searcher.is_done


def test_hidden_information_proves_nothing() -> None:
    game = anygame.load("monty_hall", machine="reasoner")
    assert set(_searched(game, 200).analysis().proven.values()) == {None}


def test_a_tree_stays_within_its_memory() -> None:
    game = anygame.load("connect_four", machine="reasoner")
    searcher = StateSearcher(game, seed=1, memory=200_000)
    searcher.begin(game.initial_state())
    assert searcher.advance(60, 120) == 120
    assert searcher.bytes < 210_000
    assert searcher.analysis().nodes < 40


def test_thousands_of_moves_in_no_time() -> None:
    numbers = " ".join(f"(digit {n})" for n in range(18))
    game = anygame.loads(
        f"(role me) {numbers} (<= (legal me (pick ?a ?b ?c)) (digit ?a) (digit ?b) (digit ?c))"
        "(<= (next (picked ?a)) (does me (pick ?a ?b ?c))) (<= terminal (true (picked ?a)))"
        "(<= (goal me 100) (true (picked 1))) (<= (goal me 0) (true (picked ?a)) (distinct ?a 1))",
        machine="reasoner",
    )
    searcher = StateSearcher(game, seed=1)
    searcher.begin(game.initial_state())
    assert searcher.advance(0) == 0
    assert searcher.best(0) in game.initial_state().legal_moves("me")
    searcher.advance(60, 200)
    found = searcher.analysis()
    assert found.proven == {"me": 100}
    assert len(found.moves[game.roles[0]]) == 5832
    assert str(found.best("me")).startswith("(pick 1")


def test_the_best_move_is_the_first_of_the_analysis() -> None:
    for name in ("tic_tac_toe", "rock_paper_scissors", "three_player_chomp"):
        game = anygame.load(name, machine="reasoner")
        for iterations in (1, 60):
            searcher = _searched(game, iterations)
            for place, role in enumerate(game.roles):
                moves = searcher.analysis().moves[role]
                assert searcher.best(place) == moves[0].move
                assert best_first(moves) == moves


def test_an_error_of_the_rules_can_be_met_again() -> None:
    """The search goes on with other lines; nothing is stuck in the one that failed."""
    game = anygame.load("tic_tac_toe", machine="reasoner")
    searcher = _searched(game, 5)

    def failing() -> Iterator[bool]:
        raise KeyboardInterrupt
        yield False

    searcher._work = failing()
    with pytest.raises(KeyboardInterrupt):
        searcher.advance(60, 5)
    assert searcher.advance(60, 5) == 5
