"""Laws that hold for every text and every program."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from anygame.errors import AnygameError, RuleSheetError, TermSyntaxError
from anygame.language import (
    KEYWORDS,
    And,
    Atom,
    Compound,
    Constant,
    Distinct,
    Literal,
    Not,
    Or,
    Program,
    ReadingLimits,
    Rule,
    Source,
    Variable,
    fold,
    format_program,
    format_rule,
    parse_atom,
    parse_nodes,
    parse_program,
    parse_term,
)
from anygame.language.text import check_text, intact_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language import Formula, Node, Term

RESERVED = {*KEYWORDS, "not", "or", "and", "distinct", "<="}
law = settings(max_examples=examples(30))

characters = st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="();?")
names = st.one_of(
    st.sampled_from(["a", "B", "c1", "01", "1", "-1", "+", ">", "x+y", "a.b", "noop", "cell", "Cell"]),
    st.text(characters, min_size=1, max_size=6),
).filter(lambda name: name.lower() not in RESERVED)
constants = names.map(Constant) | st.sampled_from(sorted(RESERVED - {"<="})).map(Constant)
variables = st.one_of(names, st.sampled_from(["x", "y", "?z", "goal"])).map(Variable)


def compounds(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    arguments = st.lists(terms, min_size=1, max_size=3).map(tuple)
    return st.builds(Compound, names | st.just("goal"), arguments)


ground: st.SearchStrategy[Term] = st.recursive(constants, compounds, max_leaves=6)
terms: st.SearchStrategy[Term] = st.recursive(constants | variables, compounds, max_leaves=6)


def atoms(terms: st.SearchStrategy[Term], keywords: list[str]) -> st.SearchStrategy[Atom]:
    # (< (goal a)) is told as a rule begun with the wrong arrow, and left out.
    words = {"if", "rule", "implies"}
    unlike_arrows = names.filter(lambda name: name.lower() not in words and name.strip("<=>-:"))
    own = st.builds(Atom, unlike_arrows, st.lists(terms, max_size=3).map(tuple))
    fixed = st.sampled_from(keywords).flatmap(
        lambda name: st.builds(Atom, st.just(name), st.tuples(*[terms] * KEYWORDS[name]))
    )
    return own | fixed


def formulas(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(inner, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(Or, several) | st.builds(And, several)


stated = sorted(set(KEYWORDS) - {"true", "does"})
bodies: st.SearchStrategy[Formula] = st.recursive(
    st.builds(Literal, atoms(terms, sorted(KEYWORDS))) | st.builds(Distinct, terms, terms),
    formulas,
    max_leaves=4,
)
facts = st.builds(Rule, atoms(ground, stated))
rules = st.builds(Rule, atoms(terms, stated), st.lists(bodies, min_size=1, max_size=3).map(tuple))
programs = st.lists(facts | rules, max_size=6).map(
    lambda rules: Program((Rule(Atom("role", (Constant("white"),))), *rules))
)

pieces = st.sampled_from(
    [
        "(", ")", "(", ")", "(<=", "<=", "?x", "?", "a", "(role", "(role a)", "not", "or", "and", "distinct",
        "(true", "(does", "init", "(base", "terminal", "(p", "goal", "\n(", ";", "\n", "\r", "\t", " ", " ",
        "\0", "\ud800", "\u00a0",
    ]
)  # fmt: skip
broken = st.lists(pieces, max_size=40).map("".join)


@pytest.mark.slow
@law
@given(programs)
def test_printing_and_parsing_are_inverse(program: Program) -> None:
    assert parse_program(format_program(program)) == program
    assert parse_program(str(program)) == program


@law
@given(programs)
def test_layout_is_a_fixed_point(program: Program) -> None:
    printed = format_program(program)
    assert format_program(parse_program(printed)) == printed


@law
@given(programs)
def test_case_insensitive_reading_folds_to_lower_case(program: Program) -> None:
    folded = parse_program(format_program(program), case_sensitive=False)
    assert folded == parse_program(format_program(folded))
    assert folded == parse_program(format_program(folded), case_sensitive=False)


@law
@given(terms)
def test_terms_print_and_parse(term: Term) -> None:
    assert parse_term(str(term)) is term
    assert parse_term(f" {term} ; c") is term
    assert pickle.loads(pickle.dumps(term)) is term


@law
@given(atoms(terms, sorted(KEYWORDS)))
def test_sentences_print_and_parse(atom: Atom) -> None:
    assert parse_atom(str(atom)) == atom


def check_term(node: Node, term: Term) -> None:
    assert parse_term(node.span.text) is term
    if isinstance(term, Compound):
        for index, argument in enumerate(term.arguments):
            check_term(node.argument(index), argument)


def check_formula(formula: Formula) -> None:
    if isinstance(formula, Literal):
        check_atom(formula.atom)
    elif isinstance(formula, Not):
        check_formula(formula.formula)
    elif isinstance(formula, (And, Or)):
        for part in formula.formulas:
            check_formula(part)
    elif isinstance(formula, Distinct):
        assert formula.node is not None
        check_term(formula.node.argument(0), formula.left)
        check_term(formula.node.argument(1), formula.right)


def check_atom(atom: Atom) -> None:
    assert atom.node is not None
    assert parse_atom(atom.node.span.text) == atom
    for index, argument in enumerate(atom.arguments):
        check_term(atom.node.argument(index), argument)


@pytest.mark.slow
@law
@given(programs)
def test_every_place_holds_the_text_of_its_part(program: Program) -> None:
    source = parse_program(format_program(program))
    for rule in source.rules:
        assert rule.span is not None
        assert rule.span.text == format_rule(rule)
        check_atom(rule.head)
        for formula in rule.body:
            check_formula(formula)


@law
@given(st.text() | broken)
@example("(<= (not")
@example("(" * 300)
@example("?")
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for case_sensitive in (True, False):
        refusal = refused(lambda: parse_program(text, case_sensitive=case_sensitive))  # noqa: B023
        if refusal is None:
            program = parse_program(text, case_sensitive=case_sensitive)
            assert parse_program(str(program), case_sensitive=case_sensitive) == program
        else:
            assert isinstance(refusal, RuleSheetError)
            assert refusal.diagnostics
            assert "error[" in str(refusal)
    for parse in (parse_term, parse_atom):
        refusal = refused(lambda: parse(text))  # noqa: B023
        if refusal is not None:
            assert isinstance(refusal, TermSyntaxError)
            assert refusal.text == text
            assert 0 <= refusal.position <= len(text)


def refused(read: Callable[[], object]) -> AnygameError | None:
    """Return the error that a text is refused with, if it is; anything else that is raised is a failure."""
    try:
        read()
    except AnygameError as error:
        return error
    return None


@pytest.mark.slow
@law
@given(programs, st.data())
def test_a_damaged_sheet_is_read_or_refused_in_words(program: Program, data: st.DataObject) -> None:
    text = format_program(program)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 3)))
        text = text[:start] + data.draw(pieces | st.just("")) + text[end:]
    refusal = refused(lambda: parse_program(text, limits=ReadingLimits(problems=5, depth=20)))
    assert refusal is None or str(refusal)


@law
@given(broken)
def test_the_intact_part_is_balanced_and_in_its_place(text: str) -> None:
    source = Source("s", text)
    kept = intact_part(source, check_text(source, ReadingLimits()))
    assert all(left in (right, " ") for left, right in zip(kept, text, strict=False))
    assert len(kept) <= len(text)
    parse_nodes(kept)


@law
@given(st.text())
def test_folding_twice_is_folding_once(name: str) -> None:
    for case_sensitive in (True, False):
        assert fold(fold(name, case_sensitive), case_sensitive) == fold(name, case_sensitive)
