"""Long bodies, wide relations, long chains of relations, many facts: more than CPython nests."""

from __future__ import annotations

import pytest
from tests.datalog.ways import WAYS, loads

import anygame

LONG = 3000


def first_state(text: str) -> anygame.State:
    return anygame.loads(text).initial_state()


@pytest.mark.slow
@pytest.mark.parametrize("length", [21, 100, 250])
def test_a_rule_can_have_a_long_body(length: int) -> None:
    body = " ".join(f"(link ?x{number} ?x{number + 1})" for number in range(length))
    state = first_state(
        f"(role r) (link a b) (link b a) (<= (ends ?x0 ?x{length}) {body}) (<= terminal (ends a c))"
    )
    assert [(str(found["x"]), str(found["y"])) for found in state.query("(ends ?x ?y)")] == (
        [("a", "b"), ("b", "a")] if length % 2 else [("a", "a"), ("b", "b")]
    )
    assert not state.is_terminal


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_long_body_of_tests(way: str) -> None:
    names = [f"?x{number}" for number in range(60)]
    body = " ".join(f"(true (at {name} {number}))" for number, name in enumerate(names))
    tests = " ".join(f"(not (bad {name})) (distinct {name} ?x0)" for name in names[1:])
    facts = " ".join(f"(init (at p{number} {number}))" for number in range(60))
    state = loads(
        f"(role r) {facts} (bad q) (<= (all ?x0 ?x59) {tests} {body}) (<= terminal (all ?x ?y))", WAYS[way]
    ).initial_state()
    assert state.is_terminal
    assert len(list(state.query("(all p0 p59)"))) == 1


def test_a_relation_can_have_300_arguments() -> None:
    values = " ".join(f"v{number}" for number in range(300))
    variables = " ".join(f"?x{number}" for number in range(300))
    state = first_state(
        f"""
        (role r) (init (row {values})) (legal r turn)
        (<= (next (row {variables})) (true (row {variables})) (not (stop {variables})))
        (<= (first ?x0) (true (row {variables})))
        (<= terminal (true (row {variables})) (distinct ?x0 v0))
        """
    )
    assert state.next(["turn"]) == state
    assert [str(found["x"]) for found in state.query("(first ?x)")] == ["v0"]
    assert not state.is_terminal


def chain(kind: str) -> str:
    """Write a chain of relations, each resting on the one before."""
    start = "(p0 a)" if kind == "static" else "(<= (p0 ?x) (true ?x))"
    step = {
        "static": "(<= (p{1} ?x) (p{0} ?x))",
        "state": "(<= (p{1} ?x) (p{0} ?x))",
        "negated": "(<= (p{1} ?x) (true ?x) (not (p{0} ?x)))",
    }[kind]
    links = [step.format(number, number + 1) for number in range(LONG)]
    return f"(role r) (init a) {start} {' '.join(reversed(links))} (<= terminal (p{LONG} a))"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["static", "state", "negated"])
def test_a_long_chain_of_relations(kind: str) -> None:
    state = first_state(chain(kind))
    assert state.is_terminal
    assert len(str(state.explain("terminal")).splitlines()) > (1 if kind == "negated" else 100)
    assert not list(state.query(f"(p{LONG - 1} b)"))


def test_a_long_cycle_of_relations() -> None:
    count = 60
    links = " ".join(f"(<= (p{number + 1} ?x) (p{number} ?x))" for number in range(count))
    state = first_state(f"(role r) (p7 a) {links} (<= (p0 ?x) (p{count} ?x)) (<= terminal (p6 a))")
    assert state.is_terminal
    assert str(state.explain("(p6 a)")).count("fact") == 1


@pytest.mark.slow
def test_a_state_can_have_ten_thousand_facts() -> None:
    count = 10_000
    facts = " ".join(
        f"(init (cell {number} {number % 7})) (succ {number} {number + 1})" for number in range(count)
    )
    state = first_state(
        f"""
        (role r) {facts}
        (<= (legal r (go ?x)) (true (cell ?x 5)) (succ ?x 6))
        (<= (legal r (go 12)) (true (cell 12 5)))
        (<= (next (cell ?y ?n)) (does r (go ?m)) (true (cell ?x ?n)) (succ ?x ?y))
        (<= terminal (true (cell {count} ?n)))
        """
    )
    assert len(state.facts) == count
    assert [str(move) for move in state.legal_moves("r")] == ["(go 12)", "(go 5)"]
    after = state.next(["(go 5)"])
    assert len(after.facts) == count
    assert after.is_terminal
    assert not state.is_terminal


def test_many_facts_beside_variables_for_whole_fluents() -> None:
    facts = " ".join(f"(weight {number} w{number % 9})" for number in range(21_000))
    state = first_state(
        f"(role r) {facts} (init (a 1)) (init (b 1 2)) (init c) (legal r stay)"
        f"(<= (next ?f) (true ?f) (does ?r ?m)) (<= terminal (weight 20999 w2))"
    )
    assert state.next(["stay"]) == state
    assert state.is_terminal


def test_terms_can_be_nested_deeply() -> None:
    deep = "z"
    for _ in range(120):
        deep = f"(s {deep})"
    state = first_state(
        f"(role r) (init (at {deep})) (legal r down)"
        "(<= (next (at ?x)) (true (at (s ?x)))) (<= terminal (true (at z)))"
    )
    for _ in range(120):
        assert not state.is_terminal
        state = state.next(["down"])
    assert state.is_terminal


@pytest.mark.slow
def test_a_transitive_closure_is_complete() -> None:
    count = 150
    steps = " ".join(f"(step {number} {(number + 1) % count})" for number in range(count))
    state = first_state(
        f"(role r) {steps} (<= (reach ?x ?y) (step ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))"
    )
    assert len(list(state.query("(reach ?x ?y)"))) == count * count
    assert state.explain("(reach 0 0)").reason == "rule"
