"""Fluents and moves are laid out alike wherever they pass."""

from __future__ import annotations

from tests.datalog.ways import WAYS, loads

import anygame


def test_a_fluent_that_only_next_makes_of_a_kind_is_read_again() -> None:
    game = anygame.loads(
        """
        (role r) (init (at 1)) (legal r go)
        (<= (next done) (true (at 1)))
        (<= terminal (true done))
        """
    )
    state = game.initial_state().next(["go"])
    assert set(map(str, state.facts)) == {"done"}
    assert state.is_terminal


def test_a_constant_initial_state_may_become_compound() -> None:
    game = anygame.loads("(role r) (init start) (legal r go) (<= (next (at 1)) (true start))")
    assert set(map(str, game.initial_state().next(["go"]).facts)) == {"(at 1)"}


def test_moves_declared_of_another_kind_than_those_legal() -> None:
    game = anygame.loads(
        """
        (role r) (input r (put 1)) (legal r pass)
        (<= (next (did ?m)) (does r ?m))
        """
    )
    assert set(map(str, game.initial_state().next(["pass"]).facts)) == {"(did pass)"}


def test_a_whole_fluent_as_a_variable_takes_every_kind() -> None:
    game = anygame.loads(
        """
        (role r) (init (a 1)) (init (b 1 2)) (init c) (legal r go)
        (<= (next ?f) (true ?f) (not (gone ?f)))
        (gone (a 1)) (gone c)
        """
    )
    assert set(map(str, game.initial_state().next(["go"]).facts)) == {"(b 1 2)"}


def test_terms_deep_in_relations_are_taken_apart_and_put_together() -> None:
    game = anygame.loads(
        """
        (role r) (init (stack (cons a (cons b nil)))) (legal r pop)
        (<= (next (stack ?rest)) (true (stack (cons ?top ?rest))))
        (<= (next (out (pair ?top ?top))) (true (stack (cons ?top ?rest))))
        (<= terminal (true (stack nil)))
        """
    )
    state = game.initial_state().next(["pop"])
    assert set(map(str, state.facts)) == {"(stack (cons b nil))", "(out (pair a a))"}
    state = state.next(["pop"])
    assert state.is_terminal
    assert set(map(str, state.facts)) == {"(stack nil)", "(out (pair b b))"}


def test_a_key_that_a_head_takes_apart_is_tested_when_asked_on_demand() -> None:
    game = loads(
        """
        (role r) (legal r go) (thing a) (thing (f a))
        (<= (pair ?v ?v) (true ?v))
        (<= (next (found ?x ?y)) (thing ?x) (thing ?y) (pair ?x ?y))
        """,
        WAYS["on_demand_once_grown"],
    )
    game.state(["(f b)", "b"]).next(["go"])
    state = game.state(["(f a)"]).next(["go"])
    assert set(map(str, state.facts)) == {"(found (f a) (f a))"}


def test_parts_of_a_term_have_names_that_no_sheet_has() -> None:
    body = "(or (and (not (role ?x)) (role ?x.0))) (q ?x)"
    state = anygame.loads(f"(role r) (role s) (q (g a a)) (q b) (<= (p ?x) {body})").initial_state()
    assert {str(each) for each in state.query("(p ?answer)")} == {"{?answer: b}", "{?answer: (g a a)}"}
