from __future__ import annotations

import copy
import pickle

import pytest

from anygame.language import Atom, Constant, Literal, Rule, Variable, parse_program


def test_variables_come_from_left_to_right_with_repetitions() -> None:
    rule = parse_program(
        "(role a) (<= (p ?x) (q ?y (f ?x)) (not (r ?z)) (or s (t ?y)) (and (u ?w)) (distinct ?z b))"
    ).rules[1]
    assert [[variable.name for variable in formula.variables()] for formula in rule.body] == [
        ["y", "x"], ["z"], ["y"], ["w"], ["z"],
    ]  # fmt: skip
    assert [variable.name for variable in rule.head.variables()] == ["x"]


def test_parts_without_a_source_have_no_place() -> None:
    rule = Rule(Atom("p", (Constant("a"),)), (Literal(Atom("q")),))
    assert (rule.span, rule.head.span, rule.body[0].node) == (None, None, None)  # type: ignore[attr-defined]
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
