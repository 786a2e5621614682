from __future__ import annotations

import copy
import pickle

import pytest

from anygame.language import (
    Atom,
    Constant,
    Literal,
    Rule,
    Variable,
    atoms_in,
    map_atoms,
    map_terms,
    parse_program,
    substitute,
    walk,
)


def test_variables_are_yielded_from_left_to_right_with_repetitions() -> None:
    rule = parse_program(
        "(role a) (<= (p ?x) (q ?y (f ?x)) (not (r ?z)) (or s (t ?y)) (and (u ?w)) (distinct ?z b))"
    ).rules[1]
    assert [[variable.name for variable in formula.variables()] for formula in rule.body] == [
        ["y", "x"], ["z"], ["y"], ["w"], ["z"],
    ]  # fmt: skip
    assert [variable.name for variable in rule.head.variables()] == ["x"]


def test_parts_without_a_source_have_no_place() -> None:
    rule = Rule(Atom("p", (Constant("a"),)), (Literal(Atom("q")),))
    assert (rule.span, rule.head.span, rule.body[0].node) == (None, None, None)
    assert str(rule) == "(<= (p a) q)"


def test_relations_are_known_by_name_and_arity() -> None:
    assert Atom("p", (Variable("x"), Constant("a"))).key == ("p", 2)


def test_rules_cannot_be_changed() -> None:
    program = parse_program("(role a)")
    with pytest.raises(AttributeError):
        program.rules = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        program.rules[0].head.predicate = "r"  # type: ignore[misc]


def test_programs_copy_and_pickle_with_their_places() -> None:
    program = parse_program("(role a)\n(<= p (q) (not (or (r a) s)))", name="sheet")
    for other in (copy.deepcopy(program), pickle.loads(pickle.dumps(program))):
        assert other == program
        (warning,) = other.warnings
        assert [span.place for span in (warning.span, other.rules[1].span) if span] == [
            "sheet:2:7",
            "sheet:2:1",
        ]
        assert str(other) == str(program)


def test_a_walk_meets_all_formulas_with_their_sign() -> None:
    rule = parse_program("(role a) (<= p (q a) (not (or (r a) (not (and s (distinct a b))))))").rules[1]
    assert [(str(formula), positive) for formula, positive in walk(rule.body)] == [
        ("(q a)", True),
        ("(not (or (r a) (not (and s (distinct a b)))))", True),
        ("(or (r a) (not (and s (distinct a b))))", False),
        ("(r a)", False),
        ("(not (and s (distinct a b)))", False),
        ("(and s (distinct a b))", True),
        ("s", True),
        ("(distinct a b)", True),
    ]
    assert [atom.predicate for atom, _ in atoms_in(rule.body)] == ["q", "r", "s"]


def test_maps_change_atoms_or_terms_and_keep_the_rest() -> None:
    rule = parse_program("(role a) (<= p (not (or (r ?x) (and s (distinct ?x b)))))").rules[1]
    (formula,) = rule.body
    changed = map_atoms(formula, lambda atom: Atom(f"{atom.predicate}2", atom.arguments, atom.node))
    assert str(changed) == "(not (or (r2 ?x) (and s2 (distinct ?x b))))"
    bound = map_terms(formula, lambda term: substitute(term, {Variable("x"): Constant("c")}))
    assert str(bound) == "(not (or (r c) (and s (distinct c b))))"
    nodes = [part.node for part, _ in walk([formula])]
    assert [part.node for part, _ in walk([bound])] == nodes
    assert map_terms(formula, lambda term: term) == map_atoms(formula, lambda atom: atom) == formula
