"""Normal forms: what they mean, and how far they may grow."""

from __future__ import annotations

import pytest

from anygame.analysis.normal import (
    MOST_OF_A_RULE,
    Allowance,
    TermsTooLarge,
    TooManyAlternatives,
    normalise,
)
from anygame.analysis.safety import normal_rules
from anygame.errors import RuleSheetError
from anygame.language import Rule, parse_program


def rule(text: str) -> Rule:
    return parse_program(f"(role r) {text}").rules[1]


def row(levels: int) -> str:
    """Return equations that double a term with each level."""
    return "".join(f" (not (distinct ?n{n + 1} (f ?n{n} ?n{n})))" for n in range(levels))


def choices(count: int) -> str:
    return "".join(f" (or (q ?x{number}) (r ?x{number}))" for number in range(count))


def normal(text: str) -> list[str]:
    return [str(part) for part in normalise(rule(text))]


def test_equations_are_solved_together() -> None:
    assert normal("(<= (p ?x ?y) (q ?x ?z) (not (distinct ?y (f ?z))) (not (distinct ?z a)))") == [
        "(<= (p ?x (f a)) (q ?x a))"
    ]


def test_equations_that_cannot_hold_leave_no_rule() -> None:
    assert normal("(<= (p ?x) (q ?x) (not (distinct ?x a)) (not (distinct ?x b)))") == []
    assert normal("(<= (p ?x) (q ?x) (not (distinct ?x (f ?y))) (not (distinct ?y (f ?x))))") == []


def test_equations_reach_into_tests_and_alternatives() -> None:
    text = "(<= (p ?x) (q ?x ?y) (or (not (distinct ?y a)) (r ?y)) (distinct ?x ?y) (not (s ?y)))"
    assert normal(text) == [
        "(<= (p ?x) (q ?x ?y) (or (not (distinct ?y a)) (r ?y)) (distinct ?x ?y) (not (s ?y)))"
    ]
    text = "(<= (p ?x) (q ?x) (or (and (not (distinct ?y a)) (t ?y)) (r ?y)) (distinct ?x ?y) (not (s ?y)))"
    assert normal(text) == [
        "(<= (p ?x) (q ?x) (t a) (distinct ?x a) (not (s a)))",
        "(<= (p ?x) (q ?x) (r ?y) (distinct ?x ?y) (not (s ?y)))",
    ]


def test_a_few_doublings_are_written_out() -> None:
    (part,) = normalise(rule(f"(<= (p ?n3) (q ?n0){row(3)})"))
    assert str(part.head) == "(p (f (f (f ?n0 ?n0) (f ?n0 ?n0)) (f (f ?n0 ?n0) (f ?n0 ?n0))))"


@pytest.mark.parametrize("levels", [20, 140, 3000])
def test_a_row_of_doublings_is_refused(levels: int) -> None:
    with pytest.raises(TermsTooLarge):
        normalise(rule(f"(<= (p ?n{levels}) (q ?n0){row(levels)})"))


def test_unused_exponential_equations_are_harmless() -> None:
    assert normal(f"(<= (p ?n1) (q ?n0){row(3000)})") == ["(<= (p (f ?n0 ?n0)) (q ?n0))"]


def test_terms_that_nest_too_deep_are_refused() -> None:
    chain = "".join(f" (not (distinct ?n{n + 1} (s ?n{n})))" for n in range(201))
    assert len(normalise(rule(f"(<= (p ?n200) (q ?n0){chain})"))) == 1
    with pytest.raises(TermsTooLarge):
        normalise(rule(f"(<= (p ?n201) (q ?n0){chain})"))


def test_growth_by_equations_is_counted_over_all_alternatives_and_rules() -> None:
    allowance = Allowance()
    normalise(rule(f"(<= (p ?n10) (q ?n0){row(10)})"), allowance)
    alone = Allowance().characters - allowance.characters
    assert alone > 2**10
    text = f"(<= (p ?n10 ?x0 ?x1) (q ?n0){row(10)}{choices(2)})"
    normalise(rule(text), allowance)
    assert Allowance().characters - allowance.characters == 5 * alone
    normalise(rule("(<= (p ?x) (q ?x))"), allowance)
    assert Allowance().characters - allowance.characters == 5 * alone


def test_a_sheet_of_rows_is_refused_at_the_rule_that_is_too_much() -> None:
    rules = "\n".join(f"(<= (p{number} ?n12) (q ?n0){row(12)})" for number in range(100))
    with pytest.raises(RuleSheetError) as caught:
        normal_rules(parse_program(f"(role r)\n{rules}"))
    (diagnostic,) = caught.value.diagnostics
    assert (
        "[terms-too-large]: the equations (not (distinct ...)) of this rule and the rules before it"
        in str(caught.value)
    )
    assert diagnostic.span is not None  # type: ignore[attr-defined]
    line = int(str(caught.value).split(":")[1])
    assert 2 < line < 101


def test_alternatives_are_counted_rule_by_rule_and_in_all() -> None:
    allowance = Allowance()
    parts = normalise(rule(f"(<= (p) {choices(12)})"), allowance)
    assert len(parts) == MOST_OF_A_RULE
    assert Allowance().rules - allowance.rules == MOST_OF_A_RULE - 1
    with pytest.raises(TooManyAlternatives):
        normalise(rule(f"(<= (p) {choices(13)})"))
    with pytest.raises(TooManyAlternatives):
        normalise(rule(f"(<= (p) {choices(3)})"), Allowance(rules=6))
    assert len(normalise(rule(f"(<= (p) {choices(3)})"), Allowance(rules=7))) == 8


def test_a_sheet_of_alternatives_is_refused_at_the_rule_that_is_too_much() -> None:
    rules = "\n".join(f"(<= (p{number}){choices(12)})" for number in range(10))
    with pytest.raises(RuleSheetError) as caught:
        normal_rules(parse_program(f"(role r)\n{rules}"))
    assert len(caught.value.diagnostics) == 1
    message = ":6:1: error[too-many-alternatives]: the disjunctions of this rule and the rules before it"
    assert f"{message} expand to more than 20,000 rules" in str(caught.value)


def test_one_rule_that_is_too_much_does_not_hide_the_next() -> None:
    text = f"(role r)\n(<= (p) {choices(13)})\n(<= (s ?n3000) (q ?n0){row(3000)})\n(<= (t ?y) (q ?x))"
    with pytest.raises(RuleSheetError) as caught:
        normal_rules(parse_program(text))
    codes = [diagnostic.code for diagnostic in caught.value.diagnostics]  # type: ignore[attr-defined]
    assert codes[:2] == ["too-many-alternatives", "terms-too-large"]
