from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from anygame.language import Compound, Constant, Term, Variable, parse_term, substitute, variables_of

TERM = parse_term("(f ?x (g a ?y) ?x)")


def test_equal_terms_are_the_same_object() -> None:
    assert Compound("f", (Constant("a"), Variable("x"))) is Compound("f", (Constant("a"), Variable("x")))
    assert len({*map(parse_term, ["x", "?x", "(x a)", "(x a a)", "(x ?x)"])}) == 5


@pytest.mark.parametrize("term", [Constant("a"), Variable("x"), TERM], ids=str)
def test_copies_and_pickles_are_the_same_object(term: Term) -> None:
    assert copy.copy(term) is term
    assert copy.deepcopy([term])[0] is term
    assert pickle.loads(pickle.dumps(term)) is term


@pytest.mark.parametrize("term", [Constant("a"), Variable("x"), TERM], ids=str)
def test_terms_cannot_be_changed(term: Term) -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        term.name = "b"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del term._text


@pytest.mark.parametrize("term", [Constant("a"), Variable("x"), TERM], ids=str)
def test_repr_evaluates_to_the_term(term: Term) -> None:
    assert eval(repr(term)) is term


def test_order_is_that_of_the_text() -> None:
    terms = [parse_term(text) for text in ["b", "(f b)", "a", "?x", "(f a)", "10", "9"]]
    assert [str(term) for term in sorted(terms)] == ["(f a)", "(f b)", "10", "9", "?x", "a", "b"]
    with pytest.raises(TypeError):
        _ = terms[0] < "b"


def test_a_compound_needs_arguments() -> None:
    with pytest.raises(ValueError, match="Constant"):
        Compound("f", ())


def test_variables_and_groundness() -> None:
    assert [variable.name for variable in variables_of(TERM)] == ["x", "y", "x"]
    assert not TERM.is_ground
    assert parse_term("(g a)").is_ground


def test_substitution_does_not_look_into_replacements() -> None:
    x, y = Variable("x"), Variable("y")
    assert str(substitute(TERM, {x: parse_term("(h ?y)"), y: Constant("b")})) == "(f (h ?y) (g a b) (h ?y))"
    assert substitute(TERM, {}) is TERM


def test_terms_nobody_holds_are_forgotten() -> None:
    forgotten = weakref.ref(Compound("nobody", (Constant("holds"), Constant("this"))))
    gc.collect()
    assert forgotten() is None


def test_threads_agree_on_the_one_object() -> None:
    def build(_: int) -> list[Term]:
        return [Compound("thread", (Constant(f"c{index}"), Variable(f"v{index}"))) for index in range(300)]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(build, range(8))
    for other in others:
        assert all(left is right for left, right in zip(first, other, strict=True))
