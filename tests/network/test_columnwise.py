"""Static relations that are too large for the reasoner: computed by columns, or left on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.network.agreement import assert_agreement_of

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.datalog.relations import Relation
from anygame.datalog.strategy import Strategy
from anygame.language.parser import parse_program
from anygame.network.budget import Budget
from anygame.network.compiled import compile_game
from anygame.network.grounding import static as static_relations
from anygame.network.grounding.static import StaticRelations
from anygame.network.grounding.tables import Tables

if TYPE_CHECKING:
    import pytest

_NUMBERS = 60
_SUMS = f"""
    (role r) {" ".join(f"(after {n} {n + 1})" for n in range(_NUMBERS))}
    (number 0) (<= (number ?n) (after ?m ?n))
    (<= (sum ?x 0 ?x) (number ?x))
    (<= (sum ?x ?y ?z) (after ?a ?y) (sum ?x ?a ?b) (after ?b ?z))
    (<= (apart ?x ?y ?z) (sum ?x ?z ?y) (distinct ?z 0))
    (<= (apart ?y ?x ?z) (apart ?x ?y ?z))
    (<= (unequal ?x ?y) (number ?x) (number ?y) (not (sum ?x 0 ?y)))
    (<= (deep ?x (s ?y)) (number ?x) (deep ?x ?y)) (deep 0 z) (deep 1 z)
    (init (at 3)) (init (count 0)) (step 1) (step 2)
    (<= (legal r (add ?n)) (step ?n) (true (at ?x)) (sum ?x ?n ?y))
    (<= (next (at ?z)) (does r (add ?n)) (true (at ?x)) (sum ?x ?n ?z))
    (<= (next (count ?n)) (true (count ?m)) (after ?m ?n))
    (<= (next (gap ?d)) (true (at ?x)) (true (count ?y)) (apart ?x ?y ?d))
    (<= (next (both ?x ?y)) (true (at ?x)) (true (count ?y)) (unequal ?x ?y))
    (<= terminal (true (count 12)))
    (<= (goal r ?d) (true (gap ?d)))
"""
#: A reasoner that tries no relation for long.
_HASTY = Strategy(
    suspicious=(1.0, 1e3, 1e3), trial_rows=(100, 1500, 1500), trial_iterations=(100, 15_000, 15_000)
)


def _static() -> tuple[Reasoner, StaticRelations, Tables]:
    reasoner = Reasoner(parse_program(_SUMS), strategy=_HASTY)
    tables = Tables(reasoner.terms, 10_000_000, Budget(100_000_000))
    return reasoner, StaticRelations(reasoner, tables), tables


def _rows(name: str, width: int) -> set[tuple[str, ...]] | None:
    """Return the rows of a relation; None where it stays on demand."""
    reasoner, static, tables = _static()
    relation = Relation(name, (None,) * width)
    static.fill(relation)
    if static.is_on_demand(relation):
        return None
    terms = reasoner.terms.terms
    return {tuple(str(terms[value]) for value in row) for row in tables.table(relation).rows().tolist()}


def _on_demand_for_the_reasoner(name: str, width: int) -> bool:
    return _static()[0].engine.static_rows(Relation(name, (None,) * width)) is None


def test_a_recursive_relation_is_computed_by_columns() -> None:
    assert _on_demand_for_the_reasoner("sum", 3)
    numbers = range(_NUMBERS + 1)
    expected = {(str(x), str(y), str(x + y)) for x in numbers for y in numbers if x + y <= _NUMBERS}
    assert _rows("sum", 3) == expected
    both = {(x, z, y) for x, y, z in expected if y != "0"}
    assert _rows("apart", 3) == both | {(z, x, y) for x, z, y in both}


def test_relations_with_negations_are_computed() -> None:
    numbers = range(_NUMBERS + 1)
    assert _rows("unequal", 2) == {(str(x), str(y)) for x in numbers for y in numbers if x != y}


def test_too_many_rows_stay_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_relations, "_MOST_ROWS", 500)
    assert _rows("sum", 3) is None
    assert _rows("apart", 3) is None


def test_terms_that_are_put_together_are_left_to_the_reasoner() -> None:
    reasoner = _static()[0]
    rules = [rule for rule in reasoner.flat_rules if rule.head.relation.predicate == "deep" and rule.literals]
    assert rules
    assert not static_relations.is_computable(rules, {rule.head.relation for rule in rules})
    sums = [rule for rule in reasoner.flat_rules if rule.head.relation.predicate == "sum" and rule.literals]
    assert static_relations.is_computable(sums, {rule.head.relation for rule in sums})


def test_the_game_is_the_same() -> None:
    text = "\n".join(line for line in _SUMS.splitlines() if "deep" not in line)
    compiled = compile_game(Reasoner(parse_program(text), strategy=_HASTY))
    assert_agreement_of(anygame.loads(text), compiled, playouts=6)
