"""Small sheets, each built round one habit of writing rules that is easily misread."""

from __future__ import annotations

import pytest
from tests.game.sheets import asked, errors_of, facts_after, moves_of, start_of, texts

import anygame


def test_fluents_that_exclude_each_other() -> None:
    rules = """
        (init (lamp red))
        (colour red) (colour green)
        (<= lit (true (lamp ?c)))
        (<= dark (not lit))
        (<= red_only (true (lamp red)) (not (true (lamp green))))
        (<= green_only (true (lamp green)) (not (true (lamp red))))
        (<= (legal robot switch) lit)
        (<= (next (lamp green)) (does robot switch) red_only)
        (<= (next (lamp red)) (does robot switch) green_only)
        (<= terminal (not red_only) (not dark))
        (<= (goal robot 100) green_only)
        (<= (goal robot 0) (not green_only))
        """
    state = start_of(rules)
    assert (state.is_terminal, state.goal("robot")) == (False, 0)
    state = state.next(["switch"])
    assert texts(state.facts) == ["(lamp green)"]
    assert (state.is_terminal, state.goal("robot")) == (True, 100)


def test_a_goal_that_always_holds() -> None:
    state = start_of(
        "(init (left 1)) (<= (goal robot 100)) (legal robot go) (<= terminal (not (true (left 1))))"
    )
    assert (state.is_terminal, state.goal("robot")) == (False, 100)
    assert (state.next(["go"]).is_terminal, state.next(["go"]).goal("robot")) == (True, 100)


def test_terminal_and_goal_can_depend_on_legal() -> None:
    rules = """
        (init (pile 2)) (less 1 0) (less 2 1)
        (<= (legal robot (take ?n ?m)) (true (pile ?n)) (less ?n ?m))
        (<= (next (pile ?m)) (does robot (take ?n ?m)))
        (<= stuck (not (legal robot (take 1 0))) (not (legal robot (take 2 1))))
        (<= terminal stuck)
        (<= (goal robot 100) stuck)
        (<= (goal robot 0) (not stuck))
        """
    state = start_of(rules)
    for move in ("(take 2 1)", "(take 1 0)"):
        assert not state.is_terminal
        assert texts(state.legal_moves("robot")) == [move]
        assert state.goal("robot") == 0
        state = state.next([move])
    assert state.is_terminal
    assert not state.legal_moves("robot")
    assert state.goal("robot") == 100


def test_static_relations_can_determine_legal_moves() -> None:
    rules = """
        (goal robot 100) (card ace) (card king) (suit hearts) (beats ace king)
        (<= (card_of ?c ?s) (card ?c) (suit ?s))
        (<= (strong ?c) (beats ?c ?other) (card_of ?other hearts))
        (<= (legal robot (play ?c ?s)) (card_of ?c ?s) (strong ?c))
        """
    assert moves_of(rules) == ["(play ace hearts)"]
    assert start_of(rules).goal("robot") == 100


def test_a_snake_that_follows_its_head() -> None:
    rules = """
        (init (head 1)) (init (tail 0)) (succ 0 1) (succ 1 2) (succ 2 3)
        (<= (next (tail ?x)) (true (head ?x)))
        (<= (next (head ?y)) (true (head ?x)) (does robot (crawl ?y)) (succ ?x ?y))
        (<= (legal robot (crawl ?y)) (true (head ?x)) (succ ?x ?y))
        """
    assert facts_after(rules, "(crawl 2)") == ["(head 2)", "(tail 1)"]
    assert facts_after(rules, "(crawl 2)", "(crawl 3)") == ["(head 3)", "(tail 2)"]


def test_moves_that_are_whatever_is_offered() -> None:
    rules = """
        (init (offered (step left))) (init (offered wait))
        (<= (legal robot ?m) (true (offered ?m)))
        (<= (next (offered ?m)) (true (offered ?m)) (not (does robot ?m)))
        """
    assert moves_of(rules) == ["(step left)", "wait"]
    assert facts_after(rules, "(step left)") == ["(offered wait)"]


def test_names_with_and_without_parentheses_mix() -> None:
    rules = """
        (init (closed))
        (<= open1 (not (true closed)))
        (<= open2 (true (closed)))
        (<= (legal robot enter) (open1))
        (<= (legal robot (knock)) (open2))
        (<= (next (in)) (does robot knock))
        (<= (terminal) (true in))
        """
    state = start_of(rules)
    assert texts(state.legal_moves("robot")) == ["knock"]
    state = state.next(["(knock)"])
    assert state.is_terminal
    assert texts(state.legal_moves("robot")) == ["enter"]


def test_rules_of_distinct_alone_bind_nothing() -> None:
    rules = "(<= (apart ?x ?y ?u ?v) (distinct ?x ?u)) (<= (apart ?x ?y ?u ?v) (distinct ?y ?v))"
    assert [code for code, _ in errors_of(rules)] == ["unsafe-variable"] * 8


def test_undefined_relations_allow_no_move() -> None:
    rules = """
        (init (door shut))
        (<= (legal robot lose) (never_heard_of ?x))
        (<= (legal robot draw) (true (door ajar)))
        (<= (legal robot win) (true (door shut)))
        """
    assert moves_of(rules) == ["win"]


def test_facts_of_next_are_not_true_initially() -> None:
    rules = """
        (init (count 0)) (legal robot go)
        (<= (next (fresh)) (not (true (fresh))))
        (<= (next (always)) (role ?r))
        """
    assert texts(start_of(rules).facts) == ["(count 0)"]
    assert facts_after(rules, "go") == ["always", "fresh"]
    assert facts_after(rules, "go", "go") == ["always"]


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        ("(<= (legal ?r wait) (true on))", ["?r"]),
        ("(<= (goal ?r 0) (not (true on)))", ["?r"]),
        ("(<= (goal ?r 0) (not (goal ?r 100)))", ["?r", "?r"]),
    ],
)
def test_heads_about_unbound_roles_are_refused(rule: str, places: list[str]) -> None:
    assert errors_of(f"(init on) {rule}") == [("unsafe-variable", places)]


def test_declarations_are_relations_and_change_nothing() -> None:
    rules = """
        (base (light on)) (base (light off)) (base (never seen)) (input robot press) (input robot kick)
        (init (light off))
        (<= (legal robot press) (true (light off)))
        (<= (next (light on)) (does robot press))
        """
    assert texts(start_of(rules).facts) == ["(light off)"]
    assert moves_of(rules) == ["press"]
    assert facts_after(rules, "press") == ["(light on)"]
    assert asked(rules, "(base ?f)") == ["(light off)", "(light on)", "(never seen)"]
    assert asked(rules, "(input robot ?m)") == ["kick", "press"]


def test_declarations_by_rules_and_of_an_older_style() -> None:
    rules = "(n 1) (n 2) (<= (base (at ?x)) (n ?x)) (base at 1 2) (input robot) (init (at 1))"
    assert asked(rules, "(base ?f)") == ["(at 1)", "(at 2)"]


def test_legal_through_itself_and_functions() -> None:
    rules = """
        (legal robot (nest nil))
        (<= (reached ?x) (legal robot (nest ?x)))
        (<= (legal robot (nest (s ?x))) (reached ?x) (short ?x))
        (<= (depth (s ?x)) (reached (s ?x)))
        """
    assert moves_of(rules) == ["(nest nil)"]
    assert moves_of(rules + "(short nil)") == ["(nest (s nil))", "(nest nil)"]
    assert asked(rules + "(short nil) (short (s nil))", "(depth ?x)") == ["(s (s nil))", "(s nil)"]


def test_a_head_can_repeat_variables() -> None:
    rules = """
        (point 1 1) (point 2 2) (next done)
        (<= (across ?x ?y ?z ?y) (point ?x ?y) (point ?z ?z) (distinct ?x ?z))
        (<= (legal robot (draw ?x ?y ?x ?z)) (point ?x ?y) (point ?z ?z) (distinct ?y ?z))
        (<= terminal (true done))
        """
    assert asked(rules, "(across ?a ?b ?c ?d)") == ["1 1 2 1", "2 2 1 2"]
    assert asked(rules, "(across ?a ?b ?a ?b)") == []
    assert moves_of(rules) == ["(draw 1 1 1 2)", "(draw 2 2 2 1)"]
    assert facts_after(rules, "(draw 1 1 1 2)") == ["done"]


def test_circular_facts_are_false() -> None:
    rules = """
        (<= selfmade selfmade)
        (<= hen egg) (<= egg hen)
        (<= (many ?x) (role ?x) (many ?x))
        (<= (legal robot a) selfmade) (<= (legal robot b) hen) (<= (legal robot c) (many robot))
        (<= (legal robot d) (not selfmade) (not egg) (not (many robot)))
        """
    assert moves_of(rules) == ["d"]


def test_two_relations_through_each_other_make_the_start() -> None:
    rules = """
        (link 1 2) (link 2 3) (link 3 4)
        (r 1)
        (<= (s ?y) (r ?x) (link ?x ?y))
        (<= (r ?y) (s ?x) (link ?x ?y))
        (<= (init (even ?x)) (s ?x))
        (<= (init (odd ?x)) (r ?x))
        """
    assert texts(start_of(rules).facts) == ["(even 2)", "(even 4)", "(odd 1)", "(odd 3)"]


def test_left_recursion_terminates() -> None:
    rules = """
        (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
        (init (pile a 2)) (init (pile c 5))
        (<= (smaller ?x ?z) (smaller ?x ?y) (smaller ?y ?z))
        (<= (smaller ?x ?y) (succ ?x ?y))
        (<= (legal robot (reduce ?p ?x)) (true (pile ?p ?n)) (smaller ?x ?n))
        """
    wanted = ["(reduce a 0)", "(reduce a 1)", *(f"(reduce c {n})" for n in range(5))]
    assert moves_of(rules) == wanted


def test_goals_can_use_negated_distinct() -> None:
    rules = """
        (init (holds robot coin)) (legal robot go)
        (<= (goal robot 100) (true (holds robot ?x)) (not (distinct ?x coin)))
        (<= (goal robot 0) (true (holds robot ?x)) (distinct ?x coin))
        """
    assert start_of(rules).goal("robot") == 100


def test_distinct_at_the_start_of_a_rule() -> None:
    rules = "(n 1) (n 2) (<= (legal robot (move ?x ?y)) (distinct ?x ?y) (n ?x) (n ?y))"
    assert moves_of(rules) == ["(move 1 2)", "(move 2 1)"]


def test_functions_and_sentences_of_several_arities() -> None:
    rules = """
        (init (tile 1)) (init (tile 1 2)) (big 1) (big 1 2)
        (<= (legal robot (pick ?x)) (true (tile ?x)) (big ?x))
        (<= (legal robot (pick ?x ?y)) (true (tile ?x ?y)) (big ?x ?y))
        """
    assert moves_of(rules) == ["(pick 1 2)", "(pick 1)"]


def test_roles_that_share_all_their_rules() -> None:
    game = anygame.loads(
        """
        (role left) (role right)
        (<= (legal ?r (bid ?n)) (role ?r) (number ?n))
        (number 1) (number 2)
        (<= (next (bid ?r ?n)) (does ?r (bid ?n)))
        (<= (higher ?r ?other) (true (bid ?r 2)) (true (bid ?other 1)))
        (<= bids (true (bid ?r ?n)))
        (<= terminal bids)
        (<= (goal ?r 100) (higher ?r ?other))
        (<= (goal ?r 0) (higher ?other ?r))
        (<= (goal ?r 50) (role ?r) (not (higher left right)) (not (higher right left)))
        """
    )
    state = game.initial_state().next({"right": "(bid 2)", "left": "(bid 1)"})
    assert state.is_terminal
    assert (state.goal("left"), state.goal("right")) == (0, 100)
    assert game.initial_state().goal("left") == 50
