"""What rules mean: the places where readers of GDL have come to different answers."""

from __future__ import annotations

import pytest
from tests.game.sheets import asked, facts_after, moves_of, start_of, texts

import anygame

#: Two things, of which the first is bad.
THINGS = "(thing a) (thing b) (bad a) "


# -- names --------------------------------------------------------------------------------------------


def test_keywords_are_read_in_any_case() -> None:
    state = anygame.loads(
        """
        (ROLE robot) (Init (at 1)) (LEGAL robot go)
        (<= (Next (at 2)) (DOES robot go) (True (at 1)))
        (<= TERMINAL (NOT (tRUE (at 1))))
        (<= (GOAL robot 100) Terminal)
        """
    ).initial_state()
    assert not state.is_terminal
    state = state.next(["go"])
    assert texts(state.facts) == ["(at 2)"]
    assert state.is_terminal
    assert state.goal("robot") == 100


def test_operators_are_read_in_any_case() -> None:
    rules = THINGS + "(<= (fine ?x) (thing ?x) (Not (bad ?x)) (OR (thing ?x) (bad ?x)) (Distinct ?x c))"
    assert asked(rules, "(fine ?x)") == ["b"]


@pytest.mark.parametrize(("case_sensitive", "moves"), [(True, []), (False, ["go"])])
def test_other_names_are_case_sensitive_by_default(case_sensitive: bool, moves: list[str]) -> None:
    rules = "(init (S One)) (<= (legal robot Go) (true (s one)))"
    assert moves_of(rules, case_sensitive=case_sensitive) == moves


@pytest.mark.parametrize(("case_sensitive", "pairs"), [(True, ["a b", "b a"]), (False, ["a a", "b b"])])
def test_variables_are_case_sensitive_by_default(case_sensitive: bool, pairs: list[str]) -> None:
    rules = "(thing a) (thing b) (<= (pair ?x ?X) (thing ?x) (thing ?X))"
    found = asked(rules, "(pair ?left ?right)", case_sensitive=case_sensitive)
    assert set(pairs) <= set(found)
    assert len(found) == (4 if case_sensitive else 2)


def test_moves_as_text_ignore_case_if_the_sheet_does() -> None:
    game = anygame.loads(
        "(ROLE Robot) (legal ROBOT (Go North)) (<= (NEXT (At ?w)) (does ROBOT (go ?w)))", case_sensitive=False
    )
    assert game.roles == ("robot",)
    state = game.initial_state().next({"ROBOT": "(GO north)"})
    assert state == game.state(["(AT North)"])
    assert [str(found["where"]) for found in state.query("(TRUE (at ?Where))")] == ["north"]


def test_numbers_are_symbols() -> None:
    assert asked("(number 1) (number 01) (number 1.0) (number +1)", "(number ?n)") == ["+1", "01", "1", "1.0"]
    assert not asked("(number 1)", "(number 01)")
    assert moves_of("(init (at 1)) (<= (legal robot go) (true (at 01)))") == []


def test_a_name_with_nothing_in_parentheses_is_the_name_itself() -> None:
    assert moves_of("open1 (open2) (<= (legal robot one) (open1)) (<= (legal robot two) open2)") == [
        "one",
        "two",
    ]
    assert facts_after(
        "(init (on)) (legal robot (go)) (<= (next (a (b))) (does robot go) (true on))", "go"
    ) == ["(a b)"]


def test_a_relation_with_two_arities_is_two_relations() -> None:
    rules = "(edge a b) (edge a) (<= (start ?x) (edge ?x)) (<= (link ?x ?y) (edge ?x ?y))"
    assert asked(rules, "(start ?x)") == ["a"]
    assert asked(rules, "(link ?x ?y)") == ["a b"]
    assert asked(rules, "(edge ?x)") == ["a"]


def test_a_function_with_two_arities_is_two_functions() -> None:
    rules = """
        (init (at 1)) (init (at 1 2)) (legal robot (go 1)) (legal robot (go 1 2)) (legal robot go)
        (<= (next (short ?x)) (does robot (go ?x)))
        (<= (next (long ?x ?y)) (does robot (go ?x ?y)))
        (<= (next (was ?x)) (true (at ?x)))
        """
    assert facts_after(rules, "(go 1)") == ["(short 1)", "(was 1)"]
    assert facts_after(rules, "(go 1 2)") == ["(long 1 2)", "(was 1)"]
    assert facts_after(rules, "go") == ["(was 1)"]


# -- bodies -------------------------------------------------------------------------------------------


def test_an_empty_body_makes_a_fact() -> None:
    assert moves_of("(<= (legal robot go)) (<= terminal)") == ["go"]
    assert start_of("(legal robot go) (<= terminal)").is_terminal


def test_an_undefined_relation_is_false() -> None:
    assert moves_of("(<= (legal robot yes) (unheard of)) (<= (legal robot no) (not (unheard of)))") == ["no"]


def test_negation_of_a_disjunction_negates_each_part() -> None:
    rules = "(thing a) (thing b) (thing c) (p a) (q b) (<= (neither ?x) (thing ?x) (not (or (p ?x) (q ?x))))"
    assert asked(rules, "(neither ?x)") == ["c"]


def test_nested_disjunctions_can_be_negated() -> None:
    rules = (
        THINGS + "(p b) (thing c) (<= (none ?x) (thing ?x) (not (or (bad ?x) (or (p ?x) (distinct ?x c)))))"
    )
    assert asked(rules, "(none ?x)") == ["c"]


def test_negation_of_a_conjunction_negates_some_part() -> None:
    rules = "(thing a) (thing b) (p a) (q a) (p b) (<= (some ?x) (thing ?x) (not (and (p ?x) (q ?x))))"
    assert asked(rules, "(some ?x)") == ["b"]


def test_double_negation_is_none() -> None:
    rules = THINGS + "(<= (worse ?x) (thing ?x) (not (not (bad ?x))))"
    assert asked(rules, "(worse ?x)") == ["a"]


def test_double_negation_binds_variables() -> None:
    assert asked(THINGS + "(<= (worse ?x) (not (not (bad ?x))))", "(worse ?x)") == ["a"]


def test_threefold_negation_is_negation() -> None:
    rules = THINGS + "(<= (fine ?x) (thing ?x) (not (not (not (bad ?x)))))"
    assert asked(rules, "(fine ?x)") == ["b"]


def test_a_disjunction_of_nothing_is_false() -> None:
    assert moves_of("(<= (legal robot yes) (or)) (<= (legal robot no) (not (or)))") == ["no"]


def test_a_disjunction_of_one_formula_means_this_formula() -> None:
    assert asked(THINGS + "(<= (worse ?x) (or (bad ?x)))", "(worse ?x)") == ["a"]


def test_a_disjunction_may_bind_and_test() -> None:
    rules = """
        (p a) (q a) (q b) (r b) (r c)
        (<= (either ?x) (or (p ?x) (r ?x)))
        (<= (both ?x) (q ?x) (or (p ?x) (and (r ?x) (distinct ?x c))))
        """
    assert asked(rules, "(either ?x)") == ["a", "b", "c"]
    assert asked(rules, "(both ?x)") == ["a", "b"]


def test_distinct_looks_into_terms() -> None:
    rules = """
        (pair (f a) (f a)) (pair (f a) (f b)) (pair (f a) (g a)) (pair (f a) a) (pair (f (f a)) (f (f a)))
        (<= (differ ?x ?y) (pair ?x ?y) (distinct ?x ?y))
        """
    assert asked(rules, "(differ ?x ?y)") == ["(f a) (f b)", "(f a) (g a)", "(f a) a"]


def test_distinct_between_a_pattern_and_a_term() -> None:
    rules = "(thing a) (held (f a)) (held (f b)) (<= (other ?y) (thing ?x) (held ?y) (distinct ?y (f ?x)))"
    assert asked(rules, "(other ?y)") == ["(f b)"]


def test_not_distinct_means_equal() -> None:
    rules = "(p a) (p b) (q b) (q c) (<= (shared ?x) (p ?x) (q ?y) (not (distinct ?x ?y)))"
    assert asked(rules, "(shared ?x)") == ["b"]
    assert asked("(p a) (p b) (<= (same ?x ?y) (p ?x) (not (distinct ?x ?y)))", "(same ?x ?y)") == [
        "a a",
        "b b",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "(thing ?x) (not (bad ?x)) (distinct ?x c)",
        "(not (bad ?x)) (thing ?x) (distinct ?x c)",
        "(distinct ?x c) (not (bad ?x)) (thing ?x)",
        "(not (or (bad ?x) (worse ?x))) (distinct ?x c) (thing ?x)",
    ],
)
def test_the_order_of_literals_does_not_matter(body: str) -> None:
    rules = THINGS + f"(thing c) (<= (legal robot (take ?x)) {body})"
    assert moves_of(rules) == ["(take b)"]


def test_the_order_of_rules_does_not_matter() -> None:
    rules = [
        "(<= (legal robot (go ?y)) (path 1 ?y))",
        "(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))",
        "(<= (path ?x ?y) (edge ?x ?y))",
        "(edge 1 2) (edge 2 3)",
    ]
    assert moves_of(" ".join(rules)) == moves_of(" ".join(reversed(rules))) == ["(go 2)", "(go 3)"]


def test_a_body_of_many_literals() -> None:
    body = " ".join(f"(next_to ?x{n} ?x{n + 1})" for n in range(30))
    rules = f"(next_to a b) (next_to b a) (<= (legal robot (walk ?x0 ?x30)) {body} (not (next_to ?x0 ?x30)))"
    assert moves_of(rules) == ["(walk a a)", "(walk b b)"]


def test_a_body_of_many_tests() -> None:
    facts = " ".join(f"(p{n} a) (p{n} b)" for n in range(25))
    body = " ".join(f"(p{n} ?x)" for n in range(25))
    assert asked(f"{facts} (<= (all ?x) {body} (not (q ?x))) (q a)", "(all ?x)") == ["b"]


# -- the relations of GDL -----------------------------------------------------------------------------


def test_goal_may_depend_on_the_absence_of_another_goal() -> None:
    rules = """
        (role other) (init (won other))
        (<= (goal ?r 100) (true (won ?r)))
        (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))
        """
    state = start_of(rules)
    assert (state.goal("robot"), state.goal("other")) == (0, 100)


def test_legal_goal_and_terminal_can_occur_in_bodies() -> None:
    rules = """
        (init (left 1))
        (<= (legal robot go) (true (left 1)))
        (<= can_move (legal robot ?m))
        (<= terminal (not can_move))
        (<= (goal robot 50) (not terminal))
        (<= (goal robot 100) terminal)
        (<= decided (goal robot 100))
        (<= (next ended) decided)
        (<= (next running) (not decided) (does robot go))
        """
    state = start_of(rules)
    assert (state.is_terminal, state.goal("robot")) == (False, 50)
    state = state.next(["go"])
    assert texts(state.facts) == ["running"]
    assert (state.is_terminal, state.goal("robot")) == (True, 100)


def test_moves_and_fluents_as_bare_variables() -> None:
    rules = """
        (role other) (init (cell 1 x)) (init flag) (legal robot (put 1)) (legal robot pass) (legal other wait)
        (<= (next (did ?r ?m)) (does ?r ?m))
        (<= (next ?f) (true ?f))
        """
    state = start_of(rules).next(["(put 1)", "wait"])
    assert texts(state.facts) == ["(cell 1 x)", "(did other wait)", "(did robot (put 1))", "flag"]


def test_next_may_be_a_fact() -> None:
    rules = "(init start) (legal robot go) (next done) (<= terminal (true done))"
    assert not start_of(rules).is_terminal
    assert facts_after(rules, "go") == ["done"]


def test_nothing_stays_true_by_itself() -> None:
    assert facts_after("(init (at 1)) (legal robot go)", "go") == []


def test_init_may_be_rules() -> None:
    rules = "(index 1) (index 2) (<= (init (cell ?x ?y b)) (index ?x) (index ?y) (distinct ?x ?y))"
    assert texts(start_of(rules).facts) == ["(cell 1 2 b)", "(cell 2 1 b)"]


def test_init_may_hold_twice_over() -> None:
    assert texts(start_of("(init a) (init a) (<= (init a)) (<= (init a) (role robot))").facts) == ["a"]


def test_roles_are_those_of_the_facts_each_once_in_order() -> None:
    with_derived = "(role b) (role a) (role b) (extra c) (<= (role ?r) (extra ?r)) (legal a x) (legal b x)"
    assert anygame.loads(with_derived).roles == ("b", "a")


def test_moves_of_unknown_roles_are_ignored() -> None:
    state = start_of("(legal robot go) (legal stranger go)")
    assert texts(state.legal_moves("robot")) == ["go"]
    assert texts(state.next(["go"]).facts) == []


def test_a_move_no_rule_reads_is_a_move() -> None:
    rules = "(init on) (legal robot (shout (very loud))) (<= (next ?f) (true ?f))"
    assert facts_after(rules, "(shout (very loud))") == ["on"]


def test_recursion_over_terms_that_grow_and_shrink() -> None:
    rules = """
        (init (stack (box a (box b (box c nil)))))
        (<= (inside ?s) (true (stack ?s)))
        (<= (inside ?rest) (inside (box ?x ?rest)))
        (<= (legal robot (lift ?x)) (inside (box ?x ?rest)))
        (<= (next (stack (box ?x nil))) (does robot (lift ?x)))
        """
    assert moves_of(rules) == ["(lift a)", "(lift b)", "(lift c)"]
    assert facts_after(rules, "(lift b)") == ["(stack (box b nil))"]


def test_a_fluent_is_no_relation_and_a_relation_no_fluent() -> None:
    rules = (
        "(init (at 1)) (at 2) (<= (legal robot (from ?x)) (at ?x)) (<= (legal robot (on ?x)) (true (at ?x)))"
    )
    assert moves_of(rules) == ["(from 2)", "(on 1)"]
