"""Questions in any order, to relations computed in any way."""

from __future__ import annotations

import pytest
from tests.datalog.ways import WAYS, loads

import anygame
from anygame.cli.commands.explain import describe
from anygame.datalog.strategy import DEFAULT, Strategy

in_every_way = pytest.mark.parametrize("strategy", [DEFAULT, *WAYS.values()], ids=["default", *WAYS])


def test_the_forced_ways_are_really_taken() -> None:
    text = """
        (role r) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 1) (legal r stay)
        (<= (far ?x ?y) (succ ?x ?y))
        (<= (far ?x ?z) (far ?x ?y) (succ ?y ?z))
        (<= terminal (true (at ?x)) (far ?x 9))
        """
    ways = {}
    for way in ("on_demand", "counted"):
        ways[way] = describe(loads(text, WAYS[way]), "plan")
    plain = describe(anygame.loads(text), "plan")
    assert [part["on_demand"] for part in plain if "far" in part["relations"][0]] == [False]
    assert [part["on_demand"] for part in ways["on_demand"] if "far" in part["relations"][0]] == [True]
    assert any(part["source"].startswith("def table") for part in ways["on_demand"] if part["on_demand"])
    assert not any("grow(" in part["source"] for part in plain)
    assert any("grow(" in part["source"] for part in ways["counted"])


@in_every_way
def test_a_term_that_no_rule_has_made_yet_can_be_asked_for(strategy: Strategy) -> None:
    game = loads(
        "(role r) (init a) (d a) (<= (p 1 (g (f ?x))) (true ?x)) (<= (s 1 (g (f ?x))) (d ?x))",
        strategy,
    )
    for name in "ps":
        state = game.initial_state()
        assert len(list(state.query(f"({name} 1 (g (f a)))"))) == 1
        assert not list(state.query(f"({name} 1 (g (f b)))"))
        assert not list(state.query(f"({name} 1 (g (g a)))"))
        assert [str(found["x"]) for found in state.query(f"({name} 1 (g (f ?x)))")] == ["a"]
        assert [str(found["x"]) for found in state.query(f"({name} 1 (g ?x))")] == ["(f a)"]
        assert [str(found["x"]) for found in state.query(f"({name} ?y ?x)")] == ["(g (f a))"]


@in_every_way
def test_a_rule_may_ask_for_a_term_that_no_rule_has_made_yet(strategy: Strategy) -> None:
    game = loads(
        """
        (role r) (init a) (d a) (d b)
        (<= (p 1 (g (f ?x))) (true ?x))
        (<= (legal r (yes ?x)) (d ?x) (p 1 (g (f ?x))))
        (<= (legal r (no ?x)) (d ?x) (not (p 1 (g (f ?x)))))
        (<= terminal (d ?x) (or (p 1 (g (f ?x))) (p 2 (g (f ?x)))))
        """,
        strategy,
    )
    state = game.initial_state()
    assert [str(move) for move in state.legal_moves("r")] == ["(no b)", "(yes a)"]
    assert state.is_terminal
    empty = game.state([])
    assert [str(move) for move in empty.legal_moves("r")] == ["(no a)", "(no b)"]
    assert not empty.is_terminal


@in_every_way
def test_recursion_in_a_test_needs_no_first_row(strategy: Strategy) -> None:
    game = loads(
        """
        (role r) (init a) (q a) (q c)
        (<= (p a) (or (p b) (q a)))
        (<= (p b) (or (p a) (q d)))
        (<= (p ?x) (true ?x) (or (p ?x) (p c)))
        (<= (p c) (not (not (p d))))
        """,
        strategy,
    )
    assert [str(found["x"]) for found in game.initial_state().query("(p ?x)")] == ["a", "b"]
    assert [str(found["x"]) for found in game.state(["e"]).query("(p ?x)")] == ["a", "b"]


@in_every_way
def test_all_kinds_of_recursion_give_the_same_facts(strategy: Strategy) -> None:
    game = loads(
        """
        (role r) (init (on a b)) (init (on b c)) (init (on c a)) (init (on d e)) (legal r wait)
        (<= (left ?x ?y) (true (on ?x ?y)))
        (<= (left ?x ?z) (left ?x ?y) (true (on ?y ?z)))
        (<= (right ?x ?y) (true (on ?x ?y)))
        (<= (right ?x ?z) (true (on ?x ?y)) (right ?y ?z))
        (<= (double ?x ?y) (true (on ?x ?y)))
        (<= (double ?x ?z) (double ?x ?y) (double ?y ?z))
        (<= (odd ?x ?y) (true (on ?x ?y)))
        (<= (odd ?x ?z) (even ?x ?y) (true (on ?y ?z)))
        (<= (even ?x ?z) (odd ?x ?y) (true (on ?y ?z)))
        (<= (apart ?x ?y) (true (on ?x ?u)) (true (on ?y ?v)) (not (left ?x ?y)) (not (odd ?x ?y)))
        """,
        strategy,
    )
    state = game.initial_state()

    def pairs(name: str) -> set[str]:
        return {f"{found['x']}{found['y']}" for found in state.query(f"({name} ?x ?y)")}

    around = {first + second for first in "abc" for second in "abc"}
    assert pairs("odd") == around | {"de"}
    assert pairs("even") == around
    assert pairs("left") == pairs("right") == pairs("double") == around | {"de"}
    assert pairs("apart") == {"ad", "bd", "cd", "da", "db", "dc", "dd"}
    assert len(list(state.query("(left a ?y)"))) == 3
    assert len(list(state.query("(double d e)"))) == 1
    assert not list(state.query("(double e d)"))


def test_plans_made_in_one_state_serve_in_others() -> None:
    game = anygame.loads(
        """
        (role r) (legal r wait) (size 3) (base (row 1)) (base (col 1))
        (<= (pair ?x ?y) (true (row ?x)) (true (col ?y)))
        (<= full (pair ?x ?y) (size ?x) (size ?y))
        (<= terminal full (not (true stop)))
        (<= (next ?f) (true ?f))
        """
    )
    for count in (0, 1, 40, 2):
        facts = [f"({kind} {number})" for kind in ("row", "col") for number in range(1, count + 1)]
        state = game.state(facts)
        assert len(list(state.query("(pair ?x ?y)"))) == count * count
        assert state.is_terminal == (count >= 3)
        assert state.next(["wait"]) == state


@in_every_way
def test_recursion_that_waits_for_one_row(strategy: Strategy) -> None:
    game = loads(
        """
        (role r) (init a) (link 1 2) (link 2 3) (link 2 1)
        (<= (lit 1) (true a))
        (<= (lit ?y) (lit ?x) (link ?x ?y))
        (<= (lit 9) open)
        (<= open (lit 3))
        (<= shut (lit 4))
        (<= (lit ?x) shut (link ?x ?y))
        (<= (w ?x) open (or (e (f b ?x) ?x ?v)))
        (<= open (w (f 0)))
        """,
        strategy,
    )
    state = game.initial_state()
    assert [str(found["x"]) for found in state.query("(lit ?x)")] == ["1", "2", "3", "9"]
    assert list(state.query("open"))
    assert not list(state.query("shut"))
    assert not list(game.state([]).query("open"))
