"""Unification: laws, and terms that share their parts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.language.test_laws import law, terms

from anygame.language import Compound, Constant, Term, Variable, parse_term
from anygame.language.unification import apply, match, measure, unify, unify_all

LEVELS = 200


def doubled(name: str, levels: int) -> list[tuple[Term, Term]]:
    """Return equations in which each variable stands for a term that holds the one before it twice."""
    variables = [Variable(f"{name}{number}") for number in range(levels + 1)]
    return [(larger, Compound("f", (smaller, smaller))) for smaller, larger in pairwise(variables)]


@law
@given(terms, terms)
def test_a_unifier_makes_terms_equal(left: Term, right: Term) -> None:
    found = unify(left, right, {})
    if found is not None:
        assert apply(left, found) is apply(right, found)
    assert (found is None) == (unify(right, left, {}) is None)


@law
@given(st.lists(st.tuples(terms, terms), max_size=4))
def test_pairs_may_be_unified_one_by_one(pairs: list[tuple[Term, Term]]) -> None:
    one_by_one: dict[Variable, Term] | None = {}
    for left, right in pairs:
        one_by_one = None if one_by_one is None else unify(left, right, one_by_one)
    together = unify_all(pairs, {})
    assert (one_by_one is None) == (together is None)
    if together is not None:
        assert all(apply(left, together) is apply(right, together) for left, right in pairs)


@law
@given(terms)
def test_measures_are_those_of_the_text(term: Term) -> None:
    text = str(term)
    depths = [text[:end].count("(") - text[:end].count(")") for end in range(len(text))]
    assert measure([term], {}) == (len(text), max(depths))
    assert measure([term, term], {}) == (2 * len(text), max(depths))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("?x", "(f ?x)"),
        ("(g ?x ?y)", "(g (f ?y) (f ?x))"),
        ("(g ?x ?x)", "(g (f ?x) (f (f ?x)))"),
        ("(g ?x ?y ?y)", "(g ?y (f ?z) (f (f ?x)))"),
        ("(f a)", "(f b)"),
        ("(f a)", "(f a a)"),
        ("(f ?x b)", "(f a ?x)"),
        ("a", "(a b)"),
    ],
)
def test_some_terms_have_no_unifier(left: str, right: str) -> None:
    assert unify(parse_term(left), parse_term(right), {}) is None
    assert unify(parse_term(right), parse_term(left), {}) is None


def test_bindings_passed_in_hold_and_stay_as_they_are() -> None:
    x, y = Variable("x"), Variable("y")
    known: dict[Variable, Term] = {x: Constant("a")}
    assert unify(x, Constant("b"), known) is None
    assert unify(Compound("f", (x,)), Compound("f", (y,)), known) == {x: Constant("a"), y: Constant("a")}
    assert known == {x: Constant("a")}


def test_terms_that_double_are_unified_and_measured_without_being_written() -> None:
    left, right = doubled("x", LEVELS), doubled("y", LEVELS)
    found = unify_all([*left, *right, (Variable(f"x{LEVELS}"), Variable(f"y{LEVELS}"))], {})
    assert found is not None
    assert apply(Variable("x0"), found) is apply(Variable("y0"), found)
    measured = measure([Variable(f"x{LEVELS}")], found)
    assert measured is not None
    assert measured[0] > 10**12
    assert measured[1] == LEVELS
    assert measure([Variable("x3")], found) == (
        len("(f (f (f ?x0 ?x0) (f ?x0 ?x0)) (f (f ?x0 ?x0) (f ?x0 ?x0)))"),
        3,
    )


def test_a_variable_far_below_itself_is_found() -> None:
    ring = (Variable("x0"), Variable(f"x{LEVELS}"))
    assert unify_all([*doubled("x", LEVELS), ring], {}) is None


def test_long_chains_of_equal_variables() -> None:
    variables = [Variable(f"v{number}") for number in range(3000)]
    found = unify_all([*((variables[0], other) for other in variables), (variables[-1], Constant("a"))], {})
    assert found is not None
    assert {apply(variable, found) for variable in variables} == {Constant("a")}


def test_a_ground_pattern_matches_itself_alone() -> None:
    term = parse_term("(f a (g b))")
    assert match(term, term, {})
    assert not match(term, parse_term("(f a (g c))"), {})
    assert not match(parse_term("(f ?x ?x)"), term, {})
    bindings: dict[Variable, Term] = {}
    assert match(parse_term("(f ?x (g ?y))"), term, bindings)
    assert bindings == {Variable("x"): Constant("a"), Variable("y"): Constant("b")}
