"""Why something holds and why it does not: every answer checks out against the rules."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.datalog.derivations import Checker
from tests.datalog.programs import CONSTANTS, ROLES, Case, cases, rows
from tests.datalog.ways import WAYS, loads
from tests.examples import examples

import anygame
from anygame.datalog.strategy import DEFAULT, Strategy

law = settings(
    max_examples=examples(20),
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def atom_text(name: str, row: tuple[str, ...]) -> str:
    return f"({name} {' '.join(row)})" if row else name


def check_answers(case: Case, strategy: Strategy = DEFAULT) -> None:
    """Explain some facts of every relation, and some atoms that are no facts."""
    try:
        game = case.game(strategy)
        state = game.state(case.states[0])
        found = rows(state, case)
    except anygame.LimitError:
        assume(False)
    facts = found | {
        ("true", 1): {(str(fact),) for fact in state.facts},
        ("does", 2): {(role, str(move)) for role, move in zip(ROLES, case.moves, strict=True)},
    }
    checker = Checker(game.program, facts)
    for (name, arity), known in found.items():
        for row in sorted(known)[:6]:
            checker.check(state.explain(atom_text(name, row), case.moves))
        others = [row for row in product(map(str, CONSTANTS), repeat=arity) if row not in facts[name, arity]]
        for row in others[:3]:
            if name not in {"true", "does"}:
                checker.check_failure(state.explain_failure(atom_text(name, row), case.moves))
                with pytest.raises(anygame.QueryError):
                    state.explain(atom_text(name, row), case.moves)


@law
@given(cases())
def test_every_answer_checks_out(case: Case) -> None:
    check_answers(case)


@settings(law, max_examples=examples(8))
@given(cases(), st.sampled_from(["on_demand", "arguments_whole"]))
def test_every_answer_checks_out_however_it_is_computed(case: Case, way: str) -> None:
    check_answers(case, WAYS[way])


CITIES = """
    (role r) (init (at a)) (legal r (go b)) (legal r stay)
    (road a b) (road b c) (road c a)
    (<= (reach ?x ?y) (road ?x ?y))
    (<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
    (<= (alone ?x) (road ?x ?y) (not (true (at ?x))) (distinct ?x ?y))
    (<= (next (at ?x)) (does r (go ?x)))
"""


def test_a_derivation_is_a_tree_of_rules_and_facts() -> None:
    state = anygame.loads(CITIES, name="cities").initial_state()
    assert str(state.explain("(alone b)")) == (
        "(alone b)   [by the rule at cities:6:5]\n"
        "├─ (road b c)   [fact cities:3:16]\n"
        "├─ (not (true (at b)))   [nothing derives the atom]\n"
        "└─ (distinct b c)   [the terms differ]"
    )
    assert str(state.explain("(true (at a))")) == "(true (at a))   [in the state]"


def test_a_recursive_fact_can_rest_on_a_nonrecursive_rule() -> None:
    rules = "(role r) (<= (q 0) (role ?x)) (<= (q 1) (not (q 0))) (<= (q 1) (q 1) (role ?x)) (<= (q 1) (q 0))"
    derivation = anygame.loads(rules).initial_state().explain("(q 1)")
    assert [part.conclusion for part in derivation.premises] == ["(q 0)"]


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (p a) (p ?x)) (<= (p a) (distinct a b))",
        "(<= (p a) (p b)) (<= (p b) (p a)) (<= (p a) (distinct a b)) (<= (p b) (distinct a b))",
        "(<= (p a) (or (p b) (distinct a b))) (<= (p b) (or (p a) (distinct a b)))",
        "(<= (p a) (role ?x) (or (not (not (p a))) (distinct a b)))",
    ],
)
def test_derivations_of_static_facts_are_not_circular(rules: str) -> None:
    state = anygame.loads(f"(role r) {rules}").initial_state()
    Checker(state.game.program, {("p", 1): {("a",), ("b",)}, ("role", 1): {("r",)}}).check(
        state.explain("(p a)")
    )


def test_a_derivation_uses_the_moves() -> None:
    state = anygame.loads(CITIES).initial_state()
    derivation = state.explain("(next (at b))", ["(go b)"])
    assert [(part.conclusion, part.reason) for part in derivation.premises] == [("(does r (go b))", "move")]
    with pytest.raises(anygame.QueryError, match="give a joint move"):
        state.explain("(next (at b))")


def test_of_several_facts_the_first_by_text_is_explained() -> None:
    state = anygame.loads(CITIES).initial_state()
    assert state.explain("(reach ?x ?y)").conclusion == "(reach a a)"


def test_a_derivation_shows_each_fact_once() -> None:
    derivation = anygame.loads(CITIES).initial_state().explain("(reach a a)")
    text = str(derivation)
    assert text.count("(road a b)") == 1
    assert "shown above" not in text or text.index("shown above") > text.index("by the rule")
    assert derivation.to_dict()["conclusion"] == "(reach a a)"


def test_derivations_through_a_disjunction_are_not_circular() -> None:
    game = anygame.loads("(role r) (q a) (<= (p a) (or (p b) (q a))) (<= (p b) (or (p a) (q a)))")
    state = game.initial_state()
    checker = Checker(game.program, {("p", 1): {("a",), ("b",)}, ("q", 1): {("a",)}})
    for atom in ("(p a)", "(p b)"):
        checker.check(state.explain(atom))


def test_each_part_of_a_relation_that_negates_itself_has_its_own_rounds() -> None:
    game = anygame.loads(
        """
        (role r) (edge a b) (edge b c) (edge c d) (start a 1) (start c 0)
        (<= (mark ?x 1) (start ?x 1))
        (<= (mark ?y 1) (mark ?x 1) (edge ?x ?y) (not (start ?y 0)))
        (<= (mark ?x 0) (start ?x 0) (not (mark ?x 1)))
        (<= (mark ?y 0) (mark ?x 0) (edge ?x ?y) (not (mark ?y 1)))
        """
    )
    state = game.initial_state()
    marks = {("a", "1"), ("b", "1"), ("c", "0"), ("d", "0")}
    edges = {("a", "b"), ("b", "c"), ("c", "d")}
    start = {("a", "1"), ("c", "0")}
    checker = Checker(
        game.program, {("mark", 2): set(marks), ("edge", 2): set(edges), ("start", 2): set(start)}
    )
    assert {(str(b["x"]), str(b["n"])) for b in state.query("(mark ?x ?n)")} == marks
    for mark in marks:
        checker.check(state.explain(f"(mark {' '.join(mark)})"))


def test_a_long_derivation_is_printed_in_part() -> None:
    links = " ".join(f"(succ {number} {number + 1})" for number in range(1200))
    game = anygame.loads(f"(role r) (reach 0) {links} (<= (reach ?y) (reach ?x) (succ ?x ?y))")
    text = str(game.initial_state().explain("(reach 1200)"))
    assert "nested too deep to show" in text
    assert "shown above" not in text
    assert 50 < len(text.splitlines()) < 1000


def test_a_long_body_is_explained() -> None:
    count = 120
    body = " ".join(f"(link ?x{number} ?x{number + 1})" for number in range(count))
    game = anygame.loads(f"(role r) (link a b) (link b a) (<= far {body}) (<= (far ?x{count} ?x0) {body})")
    state = game.initial_state()
    assert len(state.explain("far").premises) == count
    assert len(state.explain_failure("(far a b)").attempts[0].held) >= 1


def test_a_failure_names_the_part_that_fails() -> None:
    state = anygame.loads(CITIES, name="cities").initial_state()
    assert str(state.explain_failure("(alone a)")) == (
        "(alone a) does not hold\n"
        "the rule at cities:6:5: (<= (alone ?x) (road ?x ?y) (not (true (at ?x))) (distinct ?x ?y))\n"
        "    fails  (not (true (at a)))"
    )
    (attempt,) = state.explain_failure("(alone d)").attempts
    assert (attempt.held, attempt.failed) == (("(not (true (at d)))",), "(road d ?y)")


def test_a_failure_without_any_rule() -> None:
    state = anygame.loads(CITIES).initial_state()
    assert (
        str(state.explain_failure("(road b a)")) == "(road b a) does not hold: no rule or fact can derive it"
    )
    assert state.explain_failure("(road b a)").to_dict() == {"atom": "(road b a)", "attempts": []}


def test_variables_of_the_question_are_not_those_of_the_rules() -> None:
    game = anygame.loads("(role r) (item a) (<= (p (box ?x)) (lid ?x)) (<= (w ?x ?y) (item ?x) (item ?y))")
    state = game.initial_state()
    assert [attempt.failed for attempt in state.explain_failure("(p ?x)").attempts] == ["(lid ?x)"]
    assert state.explain_failure("(w ?y b)").attempts[0].failed == "(item b)"
    assert state.explain("(w ?y ?y)").conclusion == "(w a a)"


def test_an_atom_that_holds_has_no_failure() -> None:
    state = anygame.loads(CITIES).initial_state()
    with pytest.raises(anygame.QueryError, match="holds: ask why"):
        state.explain_failure("(road a b)")
    with pytest.raises(anygame.QueryError, match="does not hold"):
        state.explain("(road b a)")
    with pytest.raises(anygame.QueryError, match="have no relation"):
        state.explain("(rode b a)")


WIDE = " ".join(["?x"] * 20)
CHAIN = "".join(f"(<= (p{number + 1} {WIDE}) (p{number} {WIDE}))" for number in range(30))


def test_an_explanation_that_repeats_large_terms_is_bounded() -> None:
    short = replace(DEFAULT, explanation_characters=100_000)
    text = f"(role r) (q {'a' * 1000}) (<= (p0 {WIDE}) (q ?x)) {CHAIN}"
    state = loads(text, short).initial_state()
    with pytest.raises(anygame.LimitError, match="the explanation takes more than 100,000 char") as caught:
        state.explain(f"(p30 {WIDE})")
    assert (caught.value.limit, caught.value.bound) == ("text", 100_000)
    assert str(state.explain(f"(p2 {WIDE})")).count("by the rule") == 3
    every = " ".join(f"(p{number} {WIDE})" for number in range(9))
    state = loads(f"{text} (r b 1) (r b 2) (<= (no ?x) {every} (r ?x ?z))", short).initial_state()
    with pytest.raises(anygame.LimitError, match="the explanation"):
        state.explain_failure("(no ?x)")


def test_a_question_that_doubles_terms_is_not_explained() -> None:
    left = " ".join(f"?x{number}" for number in range(1, 31))
    right = " ".join(f"(f ?x{number} ?x{number})" for number in range(30))
    text = f"(role r) (q a) (<= (p {left} {right}) {' '.join(f'(q ?x{n})' for n in range(31))} (q b))"
    state = anygame.loads(text).initial_state()
    asked = " ".join(f"?y{number}" for number in range(30))
    message = "an instance of a rule for p"
    with pytest.raises(anygame.LimitError, match=message) as caught:
        state.explain_failure(f"(p {asked} {asked})")
    assert caught.value.limit == "text"
    others = " ".join(f"?z{number}" for number in range(30))
    assert "fails  (q b)" in str(state.explain_failure(f"(p {asked} {others})"))


def test_conjunctions_inside_alternatives_are_explained() -> None:
    text = (
        "(role r) (p a) (q a) (s b) (<= (t ?x) (p ?x) (or (s ?x) (and (q ?x) (not (s ?x)) (distinct ?x b))))"
    )
    assert str(anygame.loads(text).initial_state().explain("(t a)")).splitlines() == [
        "(t a)   [by the rule at <text>:1:28]",
        "├─ (p a)   [fact <text>:1:10]",
        "└─ (and (q a) (not (s a)) (distinct a b))   [from the premises below]",
        "   ├─ (q a)   [fact <text>:1:16]",
        "   ├─ (not (s a))   [nothing derives the atom]",
        "   └─ (distinct a b)   [the terms differ]",
    ]


def test_explaining_ends_at_a_number_of_steps() -> None:
    facts = " ".join(f"(n {number})" for number in range(30))
    body = "(n ?a) (n ?b) (n ?c) (n ?d) (up ?a ?b) (up ?b ?c) (up ?c ?d)"
    text = f"(role r) {facts} (<= (up ?x ?y) (n ?x) (n ?y) (distinct ?x ?y)) (<= (p) {body} (not (n ?d)))"
    quick = replace(DEFAULT, explanation_steps=8)
    state = loads(f"{text} (<= q {body} (last ?d)) (last 29)", quick).initial_state()
    with pytest.raises(anygame.LimitError, match="explaining why p fails takes more than 8 steps") as caught:
        state.explain_failure("p")
    assert caught.value.limit == "steps"
    assert str(state.explain("(up 1 2)"))


def test_the_derivation_of_a_given_fact_is_not_circular() -> None:
    """A rule that says a fact again, and asks for that fact, stands before it."""
    sheet = "(role r) (<= p (role ?x) p p) p (init s) (<= (legal r go) p) (<= terminal (not p)) (goal r 100)"
    found = anygame.loads(sheet).initial_state().explain("(legal r go)")
    assert [each.reason for each in found.premises] == ["fact"]
