"""Rules that have no meaning to compute are refused, with every place at fault."""

from __future__ import annotations

import pytest
from tests.game.sheets import asked, errors_of, start_of

import anygame
from anygame.language.diagnostics import Diagnostic


def test_a_negation_does_not_bind_variables() -> None:
    rules = "(bad robot) (<= (goal ?r 100) (not (bad ?r)))"
    assert errors_of(rules) == [("unsafe-variable", ["?r", "?r"])]


def test_distinct_does_not_bind_variables() -> None:
    rules = "(thing a) (<= (pair ?x ?y) (thing ?x) (distinct ?x ?y))"
    assert errors_of(rules) == [("unsafe-variable", ["?y", "?y"])]


def test_a_disjunction_that_binds_in_one_part_only() -> None:
    rules = "(p a) (q a) (<= (some ?x) (or (p ?x) (q a)))"
    assert errors_of(rules) == [("unsafe-variable", ["?x", "?x"])]


def test_a_variable_only_in_the_head_is_an_error() -> None:
    rules = "(init on) (<= (next (at ?x ?y)) (true on))"
    assert errors_of(rules) == [("unsafe-variable", ["?x"]), ("unsafe-variable", ["?y"])]


@pytest.mark.parametrize("head", ["(legal ?p ?p)", "(goal ?p 100)", "(legal ?p go)"])
def test_the_error_for_an_unbound_role_suggests_a_literal(head: str) -> None:
    with pytest.raises(anygame.RuleSheetError, match=r"add \(role \?p\) to the body"):
        anygame.loads(f"(role robot) (init on) (<= {head} (true on))")


def test_all_errors_are_sorted_by_place() -> None:
    rules = "\n(<= (p ?x) (not (q ?y)))\n(<= (legal robot ?m) (not (r ?m)))\n(<= fine (role ?r))"
    assert errors_of(rules) == [
        ("unsafe-variable", ["?x"]),
        ("unsafe-variable", ["?y"]),
        ("unsafe-variable", ["?m", "?m"]),
    ]


def test_places_are_given_by_line_and_column() -> None:
    with pytest.raises(anygame.RuleSheetError) as refused:
        anygame.loads("(role robot)\n(<= (goal ?r 100)\n    (not (bad ?r)))\n", name="sheet.kif")
    assert "sheet.kif:2:11: error[unsafe-variable]" in str(refused.value)
    assert "sheet.kif:3:15" in str(refused.value)


def test_a_fact_with_variables_is_an_error() -> None:
    assert errors_of("(thing ?x)") == [("variable-in-fact", ["?x"])]


def test_relations_that_deny_each_other() -> None:
    errors = errors_of("(<= p (not q)) (<= q (not p))")
    assert errors == [("unstratified", ["(<= p (not q))", "(<= q (not p))"])]


def test_a_relation_that_denies_itself() -> None:
    errors = errors_of("(n 1) (<= (odd ?x) (n ?x) (not (odd ?x)))")
    assert errors == [("unstratified", ["(<= (odd ?x) (n ?x) (not (odd ?x)))"])]


def test_a_long_cycle_through_one_negation() -> None:
    errors = errors_of("(<= a b) (<= b c) (<= c (not a)) (<= d (not c))")
    assert [(code, sorted(places)) for code, places in errors] == [
        ("unstratified", ["(<= a b)", "(<= b c)", "(<= c (not a))"])
    ]


def test_a_negation_inside_a_disjunction_counts() -> None:
    errors = errors_of("(on a) (<= (p ?x) (on ?x) (or (on b) (not (q ?x)))) (<= (q ?x) (p ?x))")
    assert [code for code, _ in errors] == ["unstratified"]


def test_a_cycle_without_a_negation_is_welcome() -> None:
    assert asked("(e 1) (<= (p ?x) (q ?x)) (<= (q ?x) (p ?x)) (<= (p ?x) (e ?x))", "(q ?x)") == ["1"]


def test_init_may_not_depend_on_the_state() -> None:
    rule = "(<= (init (at 2)) (true (at 1)))"
    assert errors_of(f"(init (at 1)) {rule}") == [("static-relation", [rule])]


def test_init_may_not_depend_on_the_state_through_others() -> None:
    rule = "(<= (init (at 2)) somewhere)"
    assert errors_of(f"(init (at 1)) (<= somewhere (not (true (at 2)))) {rule}") == [
        ("static-relation", [rule])
    ]


def test_init_may_not_depend_on_the_moves() -> None:
    rule = "(<= (init on) (does robot go))"
    assert errors_of(f"(legal robot go) {rule}") == [("static-relation", [rule])]


@pytest.mark.parametrize("head", ["(legal robot jump)", "(goal robot 100)", "terminal"])
def test_relations_of_a_state_cannot_depend_on_moves(head: str) -> None:
    rule = f"(<= {head} (does robot go))"
    assert errors_of(f"(legal robot go) {rule}") == [("action-dependent", [rule])]


def test_legal_may_not_depend_on_the_moves_through_others() -> None:
    rule = "(<= (legal robot jump) moved)"
    assert errors_of(f"(legal robot go) (<= moved (does robot ?m)) {rule}") == [("action-dependent", [rule])]


@pytest.mark.parametrize("head", ["(true (at 1))", "(does robot go)"])
def test_the_state_and_the_moves_are_not_stated(head: str) -> None:
    assert [code for code, _ in errors_of(f"(init on) {head}")] == ["state-in-head"]
    assert [code for code, _ in errors_of(f"(init on) (<= {head} (true on))")] == ["state-in-head"]


def test_a_sheet_needs_a_role() -> None:
    with pytest.raises(anygame.RuleSheetError) as refused:
        anygame.loads("(init on)")
    codes = [fault.code for fault in refused.value.diagnostics if isinstance(fault, Diagnostic)]
    assert codes == ["no-role"]


@pytest.mark.parametrize("text", ["(legal robot)", "(goal robot)", "(terminal now)", "(init a b)", "(next)"])
def test_keywords_with_a_wrong_number_of_arguments(text: str) -> None:
    assert [code for code, _ in errors_of(text)] == ["keyword-arity"]


def test_odd_things_are_warnings_and_the_game_is_played() -> None:
    state = start_of("(<= (legal robot go)) (p (q)) (<= r (and (p q) (p q))) (<= s (or))")
    codes = sorted(warning.code for warning in state.game.program.warnings)
    assert codes == ["and-formula", "empty-body", "empty-or", "zero-arity"]
    assert next(state.query("r"), None) is not None
    assert next(state.query("s"), None) is None
