from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from anygame.errors import LimitError, RuleSheetError
from anygame.language import (
    Compound,
    Constant,
    Term,
    Variable,
    parse_program,
    parse_term,
    substitute,
    terms,
    variables_of,
)

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
        term.name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be changed"):
        del term._text


@pytest.mark.parametrize("term", [Constant("a"), Variable("x"), TERM], ids=str)
def test_repr_is_kif(term: Term) -> None:
    assert repr(term) == str(term)
    assert parse_term(repr(term)) is term
    assert repr([term, str(term)]) == f"[{term}, '{term}']"


def test_order_is_that_of_the_text() -> None:
    terms = [parse_term(text) for text in ["b", "(f b)", "a", "?x", "(f a)", "10", "9"]]
    assert [str(term) for term in sorted(terms)] == ["(f a)", "(f b)", "10", "9", "?x", "a", "b"]
    with pytest.raises(TypeError):
        _ = terms[0] < "b"


def test_a_compound_needs_arguments() -> None:
    with pytest.raises(ValueError, match="Constant"):
        Compound("f", ())


def test_terms_know_their_variables_and_groundness() -> None:
    assert [variable.name for variable in variables_of(TERM)] == ["x", "y", "x"]
    assert not TERM.is_ground
    assert parse_term("(g a)").is_ground


def test_substitution_does_not_look_into_replacements() -> None:
    x, y = Variable("x"), Variable("y")
    assert str(substitute(TERM, {x: parse_term("(h ?y)"), y: Constant("b")})) == "(f (h ?y) (g a b) (h ?y))"
    assert substitute(TERM, {}) is TERM


def test_unreferenced_terms_are_freed() -> None:
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


def test_groundness_follows_from_the_parts() -> None:
    term: Term = Constant("a?b")
    for _ in range(20):
        term = Compound("f", (term, term))
    assert term.is_ground
    assert not list(variables_of(term))
    assert substitute(term, {Variable("x"): Constant("b")}) is term
    assert not Compound("f", (term, Variable("x"))).is_ground


class TestLongTerms:
    @pytest.fixture(autouse=True)
    def little_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        gc.collect()
        monkeypatch.setattr(terms, "_LONG_TERMS", terms._LongTerms())
        monkeypatch.setattr(terms, "_MOST_LONG_TEXT", 10_000)

    def test_the_total_length_of_long_terms_is_bounded(self) -> None:
        kept: list[Term] = []
        numbers = map(Constant, map(str, range(100)))
        with pytest.raises(LimitError, match="longer than 250 characters together exceed 10,000") as caught:
            kept.extend(Compound("f", (Constant("a" * 1000), number)) for number in numbers)
        assert (caught.value.limit, caught.value.bound) == ("text", 10_000)
        assert 9 <= len(kept) <= 11
        assert Compound("f", (Constant("short"),))
        assert Compound("f", (Constant("a" * 1000), Constant("0"))) is kept[0]

    def test_one_that_doubles_is_stopped_before_it_is_written(self) -> None:
        kept: list[Term] = [Constant("a")]
        with pytest.raises(LimitError):
            kept.extend(Compound("f", (term, term)) for term in kept)
        assert len(str(kept[-1])) <= 10_000

    def test_unreferenced_terms_do_not_count_towards_the_limit(self) -> None:
        for number in range(100):
            assert Compound("g", (Constant("b" * 1000), Constant(str(number))))

    def test_a_sheet_is_refused_where_they_become_too_much(self) -> None:
        fact = f"(p {'(f ' * 30}{'a ' * 200}{')' * 30})"
        with pytest.raises(RuleSheetError, match=r"large>:2:1: error\[too-large\]: reading stopped here"):
            parse_program(f"(role r)\n{fact}", name="<large>")
