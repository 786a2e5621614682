"""What must not matter to the answers: order, names, repetition, the questions asked before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.datalog.programs import ROLES, Case, asking, atoms_in, cases, rows
from tests.examples import examples

import anygame
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or, Program, Rule
from anygame.language.terms import Variable, substitute

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from anygame.language.rules import Formula
    from anygame.language.terms import Term

law = settings(
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def answers(case: Case) -> list[dict[tuple[str, int], set[tuple[str, ...]]]]:
    """Return every relation of a case in both of its states."""
    try:
        game = case.game()
        return [rows(game.state(facts), case) for facts in case.states]
    except anygame.LimitError:
        assume(False)
        raise


def renamed_atom(atom: Atom, names: Mapping[Variable, Term]) -> Atom:
    return Atom(atom.predicate, tuple(substitute(term, names) for term in atom.arguments))


def renamed(formula: Formula, names: Mapping[Variable, Term]) -> Formula:
    if isinstance(formula, Literal):
        return Literal(renamed_atom(formula.atom, names))
    if isinstance(formula, Not):
        return Not(renamed(formula.formula, names))
    if isinstance(formula, Distinct):
        return Distinct(substitute(formula.left, names), substitute(formula.right, names))
    assert isinstance(formula, (And, Or))
    return type(formula)(tuple(renamed(part, names) for part in formula.formulas))


def shuffled(formula: Formula, order: random.Random) -> Formula:
    if isinstance(formula, Not):
        return Not(shuffled(formula.formula, order))
    if isinstance(formula, (And, Or)):
        parts = [shuffled(part, order) for part in formula.formulas]
        return type(formula)(tuple(order.sample(parts, len(parts))))
    return formula


@law
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(case: Case, order: random.Random) -> None:
    roles, rest = case.program.rules[: len(ROLES)], case.program.rules[len(ROLES) :]
    other = replace(case, program=Program((*roles, *order.sample(rest, len(rest)))))
    assert answers(case) == answers(other)


@law
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_literals_does_not_matter(case: Case, order: random.Random) -> None:
    rules = []
    for rule in case.program.rules:
        body = [shuffled(formula, order) for formula in rule.body]
        rules.append(Rule(rule.head, tuple(order.sample(body, len(body)))))
    assert answers(case) == answers(replace(case, program=Program(tuple(rules))))


@law
@given(cases(), st.permutations(["z", "x", "1", "f", "x.0", "nested1", "y"]))
def test_the_names_of_variables_do_not_matter(case: Case, names: list[str]) -> None:
    rules = []
    for rule in case.program.rules:
        atoms = [rule.head, *(atom for formula in rule.body for atom in atoms_in(formula))]
        variables = dict.fromkeys(variable for atom in atoms for variable in atom.variables())
        new = {old: Variable(name) for old, name in zip(variables, names, strict=False)}
        rules.append(Rule(renamed_atom(rule.head, new), tuple(renamed(part, new) for part in rule.body)))
    assert answers(case) == answers(replace(case, program=Program(tuple(rules))))


@law
@given(cases())
def test_saying_a_rule_twice_changes_nothing(case: Case) -> None:
    twice = Program((*case.program.rules, *case.program.rules[len(ROLES) :]))
    assert answers(case) == answers(replace(case, program=twice))


@law
@given(cases().map(asking))
def test_answers_do_not_depend_on_earlier_questions(case: Case) -> None:
    expected = answers(case)
    game = case.game()
    for facts, found in zip(case.states, expected, strict=True):
        state = game.state(facts)
        after = state.next(case.moves)
        assert {(str(fact),) for fact in after.facts} == found.get(("next", 1), set())
        assert rows(after, case) == rows(game.state(after.facts), case)
        assert rows(state, case) == found
    for facts, found in zip(case.states, expected, strict=True):
        assert rows(game.state(facts), case) == found
