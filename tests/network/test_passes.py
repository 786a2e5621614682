"""Passes over rules: one rule before and after each, and games that stay the same without any of them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.examples import examples
from tests.network.agreement import assert_agreement, compiled
from tests.network.test_compiled_sheets import SHEETS

from anygame.datalog.relations import Alternatives, FlatAtom, Negated, Relation, Unequal
from anygame.language.parser import parse_term
from anygame.language.terms import Variable
from anygame.network.grounding.large.cases import Premises
from anygame.network.grounding.large.negation import join_negations
from anygame.network.grounding.large.parting import part_views
from anygame.network.grounding.passes.context import Context
from anygame.network.grounding.passes.decomposition import decompose_bodies, split_at_keys, split_within
from anygame.network.grounding.passes.folding import inline_static_relations
from anygame.network.grounding.passes.linearising import linearise
from anygame.network.grounding.passes.moves import complement_moves, project_moves
from anygame.network.grounding.passes.normal_form import (
    expand_disjunctions,
    name_disjunctions,
    name_nested_terms,
    project_guards,
)
from anygame.network.grounding.pipeline import OPTIONAL
from anygame.network.grounding.rules import GroundRule, variables_of_rule
from anygame.network.logic.rewrites import REWRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.analysis.domains import Top
    from anygame.language.terms import Term
    from anygame.network.grounding.large.cases import Key
    from anygame.network.grounding.large.keys import InvariantProver
    from anygame.network.grounding.rules import Test
    from anygame.network.grounding.static import StaticRelations


class _Premises(Premises):
    def __init__(self, **values: frozenset[Term]) -> None:
        self._values = values or {"o": frozenset({parse_term("one")})}

    def keys(self, relation: Relation) -> Sequence[Key]:
        return {"true": [(0,)], "e": [(0,), (1,)]}.get(relation.predicate, [])

    def values(self, atom: FlatAtom, column: int) -> frozenset[Term] | None:
        return self._values.get(atom.relation.predicate)

    def tops(self, relation: Relation, column: int) -> frozenset[Top]:
        return frozenset()


def _context(**definitions: str) -> Context:
    """Return a context in which relations with small names of one letter are static."""
    numbers = count(1)
    static = SimpleNamespace(
        is_static=lambda relation: len(relation.predicate) == 1,
        is_dense=lambda relation: relation.predicate == "d",
        is_view=lambda relation: relation.predicate.startswith("view"),
        has_facts=lambda relation: relation.predicate == "viewed",
        fan_out=lambda relation, known: 100.0 if relation.predicate == "d" or not known else 1.0,
        ends=lambda relation, known: relation.predicate != "n" or 0 in known,
        definition=lambda relation, dense: (
            [_rule(definitions[relation.predicate])]
            if relation.predicate in definitions and (dense or relation.predicate != "d")
            else None
        ),
    )
    prover = SimpleNamespace(holds=lambda invariant: invariant.value is None or str(invariant.value) == "one")
    return Context(
        cast("StaticRelations", static),
        _Premises(),
        cast("InvariantProver", prover),
        lambda width: Relation(f" {next(numbers)}", (None,) * width),
    )


def _term(text: str) -> Term:
    return Variable(text) if text in tuple("xyzuvwbr") else parse_term(text)


def _atom(text: str) -> FlatAtom:
    """Read ``name x y``: a relation over constants and the variables x, y, z, u, v, w, b and r."""
    name, *terms = re.findall(r"\(.*?\)|[^\s()]+", text)
    name = f" {name}" if text.startswith(" ") else name
    return FlatAtom(Relation(name, (None,) * len(terms)), tuple(map(_term, terms)))


def _test(text: str) -> Test:
    if " | " in text:
        return Alternatives(tuple((_test(part),) for part in text.split(" | ")))
    if text.startswith("not "):
        return Negated(_atom(text.removeprefix("not ")))
    if "=" in text:
        left, sign, right = re.split(r" (!=|==) ", text)
        return Unequal(_term(left), _term(right), negated=sign == "==")
    return _atom(text)


def _rule(text: str) -> GroundRule:
    """Read ``head :- a x, not b y, [c z], x != y``; the guards are in brackets."""
    head, _, body = text.partition(" :- ")
    parts = [part for part in body.split(", ") if part]
    tests = [part for part in parts if "=" in part or "|" in part]
    atoms = [part for part in parts if part not in tests]
    return GroundRule(
        _atom(head),
        tuple(_atom(part) for part in atoms if not part.startswith(("[", "not "))),
        tuple(_atom(part.removeprefix("not ")) for part in atoms if part.startswith("not ")),
        tuple(_atom(part.strip("[]")) for part in atoms if part.startswith("[")),
        tuple(map(_test, tests)),
    )


def _told(rules: list[GroundRule]) -> list[str]:
    """Return rules in the form in which they are read."""

    def atom(found: FlatAtom) -> str:
        return " ".join([found.relation.predicate, *(str(term).lstrip("?") for term in found.columns)])

    def told(rule: GroundRule) -> str:
        body = [*map(atom, rule.positives), *(f"not {atom(one)}" for one in rule.negatives)]
        body += [*(f"[{atom(one)}]" for one in rule.guards), *map(str, rule.composed), *map(str, rule.tests)]
        return f"{atom(rule.head)} :- {', '.join(body)}".replace("?", "")

    return [told(rule) for rule in rules]


CASES: dict[str, tuple[Callable[[GroundRule, Context], list[GroundRule]], str, list[str]]] = {
    "a disjunction is multiplied out": (
        expand_disjunctions,
        "legal r x :- [c x], true x | not true y",
        ["legal r x :- true x, [c x]", "legal r x :- not true y, [c x]"],
    ),
    "a disjunction gets a relation": (
        name_disjunctions,
        "legal r x :- [c x], true x | key x",
        [" 1 x :- true x, [c x]", " 1 x :- key x, [c x]", "legal r x :-  1 x, [c x]"],
    ),
    "a test of static relations is left alone": (
        expand_disjunctions,
        "legal r x :- [c x], c x | x != y",
        ["legal r x :- [c x], (c.1(x) or x != y)"],
    ),
    "a nested term is named": (
        name_nested_terms,
        "next (s ?n) :- does r up, true (s ?n)",
        ["next  0 :- does r up, true  0,  0 = (s n)"],
    ),
    "a guard is projected": (
        project_guards,
        "far x :- true x, [part x y]",
        [" 1 x :- [part x y]", "far x :- true x, [ 1 x]"],
    ),
    "a static guard is not projected": (
        project_guards,
        "far x :- true x, [c x y]",
        ["far x :- true x, [c x y]"],
    ),
    "conditions are split at keys": (
        split_at_keys,
        "view x :- true 1 u, true 2 v, true 3 w, true 4 z, not t u v w z, u != v, [c z], d x v w z | u != z",
        [
            " 1 :- true 1 u, true 2 v, true 3 w, true 4 z, not t u v w z",
            " 2 :- true 1 u, true 2 v, u != v",
            " 3 x :- true 1 u, true 2 v, true 3 w, true 4 z, (d.4(x, v, w, z) or u != z)",
            "view x :- true 1 u, true 2 v, true 3 w, true 4 z,  1,  2,  3 x, [c z]",
        ],
    ),
    "conditions on few of the variables are said once": (
        split_within,
        "legal x y :- true x u, view u, not key x u, not barred x y u, [c y]",
        [" 1 u x :- true x u, view u, not key x u", "legal x y :-  1 u x, not barred x y u, [c y]"],
    ),
    "conditions on all variables, or what they determine, stay together": (
        split_within,
        "legal x y :- true x u, view u, not barred x y u, [c x y]",
        ["legal x y :- true x u, view u, not barred x y u, [c x y]"],
    ),
    "conditions on many variables that only the body has stay together": (
        split_within,
        "legal y :- true x u v, view u, not barred x y u v, [c y]",
        ["legal y :- true x u v, view u, not barred x y u v, [c y]"],
    ),
    "what a static key determines is determined": (
        split_at_keys,
        "view x :- [e x y], true y u, true 2 v, true 3 w, true 4 z, [t u v w z], [t v u w z]",
        [
            " 1 x :- true y u, true 2 v, true 3 w, true 4 z, [e x y], [t u v w z]",
            " 2 x :- true y u, true 2 v, true 3 w, true 4 z, [e x y], [t v u w z]",
            "view x :- true y u, true 2 v, true 3 w, true 4 z,  1 x,  2 x, [e x y]",
        ],
    ),
    "conditions on few variables stay together": (
        split_at_keys,
        "view x :- true 1 u, true 2 v, true 3 w, true 4 z, u != v, v != w, w != z",
        ["view x :- true 1 u, true 2 v, true 3 w, true 4 z, u != v, v != w, w != z"],
    ),
    "conditions on what no key determines stay together": (
        split_at_keys,
        "view x :- view 1 u, view 2 v, view 3 w, view 4 z, [t u v w z], [t v u w z]",
        ["view x :- view 1 u, view 2 v, view 3 w, view 4 z, [t u v w z], [t v u w z]"],
    ),
    "a move is projected": (
        project_moves,
        "next u v b :- does a x y u v, true x y b",
        [
            " 1 x y :- does a x y u v",
            " 2 u v :- does a x y u v",
            "next u v b :-  1 x y,  2 u v, true x y b",
        ],
    ),
    "a move that one part needs whole is not projected": (
        project_moves,
        "next x y :- does a x y, true x y",
        ["next x y :- does a x y, true x y"],
    ),
    "a body falls apart": (
        decompose_bodies,
        "cross :- true x y, true u v, not true z z, [c z]",
        [
            " 1 :- true x y",
            " 2 :- true u v",
            " 3 :- not true z z, [c z]",
            "cross :-  1,  2,  3",
        ],
    ),
    "a loose end is split off": (
        decompose_bodies,
        "line :- true x y, true y z, true z u",
        [" 1 z :- true z u", "line :- true x y, true y z,  1 z"],
    ),
    "a triangle stays whole": (
        decompose_bodies,
        "line :- true x y, true y z, true z x",
        ["line :- true x y, true y z, true z x"],
    ),
    "a move is complemented": (
        complement_moves,
        " part x y :- does a u v, [true x y], x != u | y != v",
        [
            " 1 :- does a u v",
            " 2 x y :- does a u v, [true x y], x == u, y == v",
            " part x y :-  1, not  2 x y, [true x y]",
        ],
    ),
    "a dense relation fails where it does not hold": (
        complement_moves,
        " part x :- does a u, [true x], [d x u]",
        [" 1 :- does a u", " 2 x :- does a u, [true x], not d.2(x, u)", " part x :-  1, not  2 x, [true x]"],
    ),
    "a sparse relation is matched": (
        complement_moves,
        " part x :- does a u, [true x], [c x u]",
        [" part x :- does a u, [true x], [c x u]"],
    ),
    "moves of any role are told apart": (
        complement_moves,
        " part x :- does r u, [true x], x != u",
        [
            " 2 r :- does r u",
            " 3 r x :- does r u, [true x], x == u",
            " 1 r x :-  2 r, not  3 r x, [true x]",
            " part x :-  1 r x",
        ],
    ),
    "a rule of the sheet keeps its move": (
        complement_moves,
        "next x :- does a u, [true x], x != u",
        ["next x :- does a u, [true x], x != u"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_before_and_after(name: str) -> None:
    rewrite, before, after = CASES[name]
    rule = _rule(before)
    found = rewrite(rule, _context())
    assert _told(found) == after
    assert len(after) > 1 or found[0] is rule or found[0] != rule


def test_a_static_relation_is_inlined() -> None:
    context = _context(s="s x y :- [k x z], [k y z]")
    found = inline_static_relations(_rule("row u v :- true u v, [s u v]"), context)
    assert _told(found) == ["row x 1 y 1 :- true x 1 y 1, [k x 1 z 1], [k y 1 z 1]"]


def test_a_definition_that_does_not_fit_leaves_no_rule() -> None:
    context = _context(s="s 1 y :- [k y y]")
    assert inline_static_relations(_rule("row u :- true u, [s 2 u]"), context) == []


def test_names_of_definitions_are_fresh() -> None:
    context = _context(s="s x y :- [k x z], [k z y]")
    once = inline_static_relations(_rule("row u v :- true u v, [s u w], [s w v]"), context)
    assert _told(once) == ["row x 1 y 2 :- true x 1 y 2, [k x 1 z 1], [k z 1 x 2], [k x 2 z 2], [k z 2 y 2]"]
    more = replace(once[0], guards=(*once[0].guards, _atom("s x y")))
    (again,) = inline_static_relations(more, context)
    assert len(variables_of_rule(again)) == 8


JOININGS: dict[str, tuple[list[str], list[str]]] = {
    "a negated view reads the only row": (
        ["legal r x :- true r u, not view r x u, [c x]", "view r x y :- key v, line v y, [a x v]"],
        [
            " 2 r 1 v 1 :- true r 1 y 1, line v 1 y 1",
            " 1 r 1 x 1 :-  2 r 1 v 1, key v 1, [a x 1 v 1]",
            " 3 r :- true r u",
            "legal r x :-  3 r, not  1 r x, [c x]",
            "view r x y :- key v, line v y, [a x v]",
        ],
    ),
    "what guards alone tell apart is split off": (
        ["legal r x :- true r u, not view r x u, [c x]", "view r x y :- line v y, [a x v]"],
        [
            " 2 r 1 v 1 :- true r 1 y 1, line v 1 y 1",
            " 1 r 1 x 1 :-  2 r 1 v 1, [a x 1 v 1]",
            " 3 r :- true r u",
            "legal r x :-  3 r, not  1 r x, [c x]",
            "view r x y :- line v y, [a x v]",
        ],
    ),
    "rows by single values": (
        ["legal r x :- true u w, not view r u, [o r w]", "view r x :- line r x", "view r x :- viewy r x"],
        [
            " 2 r 1 :- true x 1 w, line r 1 x 1, [o r 1 w]",
            " 3 r 1 :- true x 1 w, viewy r 1 x 1, [o r 1 w]",
            " 1 r 1 :-  2 r 1",
            " 1 r 1 :-  3 r 1",
            " 4 r :- true u w, [o r w]",
            "legal r x :-  4 r, not  1 r",
            "view r x :- line r x",
            "view r x :- viewy r x",
        ],
    ),
    "a view that is read": (
        ["next r x :- true r y, view r x y, does r z", "view r x y :- line r y, key x"],
        [
            " 2 r 1 :- true r 1 y 1, line r 1 y 1",
            " 1 r 1 x 1 :-  2 r 1, key x 1",
            "next r x :-  1 r x, does r z",
            "view r x y :- line r y, key x",
        ],
    ),
    "rows that the head needs": (["legal r u :- true r u, not view r u", "view r x :- line r x"], []),
    "rows of which there may be more": (
        ["legal r x :- true w u, not view x u, [c x], [c w]", "view x y :- line x y"],
        [],
    ),
    "values that may be in several rows": (
        ["legal r x :- true u w, not view x u, [c w]", "view x y :- line x y"],
        [],
    ),
    "views that read themselves": (
        ["legal r x :- true r u, not view r x u", "view r x y :- line r x y", "view r x y :- view r y x"],
        [],
    ),
}


PARTINGS: dict[str, tuple[list[str], list[str]]] = {
    "a view that hands a column on": (
        [
            "view x z u :- [s x z], [c u]",
            "view x z u :- [s x y], true y b, view y z u",
            "view x z u :- [s x u], view u z u",
            "viewy z u :- true x r, view x z u",
            "viewy z u :- key z u",
            "legal r x :- true r u, not viewy x one, [c x]",
            "legal r x :- true r u, not viewy x u, [c x]",
            "next r x :- view r x w, true w b",
            "next r x :- view r x x, viewy r x",
        ],
        [
            " 1 x z :- [s x z]",
            " 1 x z :- true y b,  1 y z, [s x y]",
            " 2 x z u :- true y b,  2 y z u, [s x y]",
            " 2 x z u :-  1 u z, [s x u], [c u]",
            " 2 x z u :-  2 u z u, [s x u]",
            " 3 z :- true x r,  1 x z",
            " 4 z u :- true x r,  2 x z u",
            " 4 z u :- key z u",
            "legal r x :- true r u, not  3 x, not  4 x one, [c x]",
            "legal r x :- true r u, not viewy x u, [c x]",
            "next r x :-  1 r x, true w b, [c w]",
            "next r x :-  2 r x w, true w b",
            "next r x :- view r x x, viewy r x",
            "view 0 1 2 :-  1 0 1, [c 2]",
            "view 0 1 2 :-  2 0 1 2",
            "viewy 0 1 :-  3 0, [c 1]",
            "viewy 0 1 :-  4 0 1",
        ],
    ),
    "of several kinds": (
        ["view x u :- true x b, [c u]", "view x u :- true y b, view y u, [k u]", "view x u :- key x u"],
        [],
    ),
    "handed on twice": (
        ["view x u :- true x b, [c u]", "view x u :- view x u, view y u", "view x u :- key x u"],
        [],
    ),
    "not handed on": (["view x u :- true x b, [c u]", "view x u :- key x u"], []),
    "of no known kind": (["view x u :- true x b, view x u", "view x u :- key x u"], []),
    "facts": (["viewed x u :- true x b, [c u]", "viewed x u :- true y b, viewed y u"], []),
}


@pytest.mark.parametrize("name", PARTINGS)
def test_views_are_split_into_two_parts(name: str) -> None:
    before, after = PARTINGS[name]
    rules = list(map(_rule, before))
    context = replace(_context(), premises=_Premises(c=frozenset({parse_term("one"), parse_term("two")})))
    assert _told(part_views(rules, context)) == (after or _told(rules))


def test_disjunctions_in_views_are_multiplied_out_before_they_are_parted() -> None:
    rules = [_rule("view x u :- [c u], true x | key x u"), _rule("view x u :- line x y, view y u")]
    told = _told(part_views(rules, _context()))
    both = [" 1 x :- line x y,  1 y", " 2 x u :- line x y,  2 y u"]
    assert told == [" 1 x :- true x", " 2 x u :- key x u, [c u]", *both]


@pytest.mark.parametrize("name", JOININGS)
def test_views_read_the_only_row(name: str) -> None:
    before, after = JOININGS[name]
    rules = list(map(_rule, before))
    assert _told(join_negations(rules, _context())) == (after or _told(rules))


#: Rules of a view, and what is made of them: nothing where they are not a transitive closure.
CLOSURES: dict[str, tuple[list[str], list[str]]] = {
    "chains of chains": (
        ["view r x y :- true r x y", "view r x z :- view r x y, view r y z"],
        [" 1 r x y :- true r x y", "view r x z :-  1 r x z", "view r x z :- view r x y,  1 r y z"],
    ),
    "chains of chains, the last first": (
        ["view x z :- view y z, view x y", "view x y :- true x y"],
        [" 1 x y :- true x y", "view x z :-  1 x z", "view x z :- view y z,  1 x y"],
    ),
    "chains of places of two columns": (
        ["view x y u v :- true x y u v", "view x y u v :- view x y w z, view w z u v"],
        [
            " 1 x y u v :- true x y u v",
            "view x y u v :-  1 x y u v",
            "view x y u v :- view x y w z,  1 w z u v",
        ],
    ),
    "chains that can be turned round, and end elsewhere": (
        ["view x y :- true x y", "view x y :- view y x", "view x z :- view x y, view y z, x != z"],
        [
            " 1 x y :- true x y",
            " 2 x z :-  1 x z",
            " 2 x z :-  1 z x",
            "view x z :-  2 x z",
            "view x z :- view x y,  2 y z, x != z",
        ],
    ),
    "chains whose ends differ in one column or another": (
        ["view x y u v :- true x y u v", "view x y u v :- view x y w z, view w z u v, x != u | v != y"],
        [
            " 1 x y u v :- true x y u v",
            "view x y u v :-  1 x y u v",
            "view x y u v :- view x y w z,  1 w z u v, (x != u or v != y)",
        ],
    ),
    "ends that differ in one column of two": (
        ["view x y u v :- true x y u v", "view x y u v :- view x y w z, view w z u v, x != u"],
        [],
    ),
    "chains that meet where something holds": (
        [
            "view r x y :- true r x y",
            "view r x z :- view r x y, key r y, view r y z, [k r], not bad y, r != y",
        ],
        [
            " 1 r x y :- true r x y",
            "view r x z :-  1 r x z",
            "view r x z :- view r x y,  1 r y z, key r y, not bad y, [k r], r != y",
        ],
    ),
    "chains that begin where something holds": (
        ["view x y :- true x y", "view x z :- view x y, view y z, key x"],
        [],
    ),
    "chains that meet where there is one": (
        ["view x y :- true x y", "view x z :- view x y, view y z, viewk y", "viewk x :- view x x"],
        [],
    ),
    "linear already": (["view x y :- true x y", "view x z :- view x y, true y z"], []),
    "two ways to go on": (
        ["view x y :- true x y", "view x z :- view x y, view y z", "view x z :- view z y, view y x"],
        [],
    ),
    "facts": (["viewed x y :- true x y", "viewed x z :- viewed x y, viewed y z"], []),
    "not in the middle": (["view x y :- true x y", "view x z :- view x y, view z y"], []),
    "a middle that is not where it began": (
        ["view x y :- true x y", "view x z :- view x y, view y z, x != y"],
        [],
    ),
    "something else besides": (
        ["view x y :- true x y", "view x z :- view x y, view y z, true x z"],
        [],
    ),
    "turned round in another column": (
        ["view r x y :- true r x y", "view r x y :- view x r y", "view r x z :- view r x y, view r y z"],
        [],
    ),
    "a base that recurs by another way": (
        [
            "view x y :- viewy x y",
            "viewy x y :- view x y, true x y",
            "viewy x y :- true x y",
            "view x z :- view x y, view y z",
        ],
        [],
    ),
    "no view": (["next x y :- true x y", "next x z :- next x y, next y z"], []),
}


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_before_and_after(name: str) -> None:
    before, after = CLOSURES[name]
    rules = list(map(_rule, before))
    assert _told(linearise(rules, _context())) == (after or _told(rules))


def test_disjunctions_in_disjunctions_are_named_one_by_one() -> None:
    inner = Alternatives(((_test("true x"),), (_test("key x"),)))
    rule = GroundRule(_atom("legal r x"), guards=(_atom("c x"),), tests=(Alternatives(((inner,),) * 40),))
    found = name_disjunctions(rule, _context())
    assert len(found) == 41
    assert _told(name_disjunctions(found[0], _context()))[-1] == " 1 x :-  1 x, [c x]"


_SOME = [
    "frame axioms over a static relation",
    "a piece that a move carries",
    "moves at once, negated",
    "whole fluents and moves as variables",
    "terms that nest and are counted",
    "many alternatives over a term that is put together",
    "few alternatives",
    "a chain of literals",
    "a large static relation that is loosely tied",
    "views that are read with constants alone",
    "another value that does where one fails",
    "chains that are put together",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OPTIONAL, *(name for name, _ in REWRITES)])
def test_any_pass_can_be_left_out(name: str) -> None:
    for sheet in _SOME:
        assert_agreement(SHEETS[sheet], playouts=3, without=[name])


def test_every_pass_has_something_to_do_somewhere() -> None:
    idle = set(OPTIONAL)
    for sheet in SHEETS.values():
        idle -= {name for name, figures in compiled(sheet).passes if figures["rewrote"]}
    assert not idle


def test_all_passes_can_be_left_out_together() -> None:
    for sheet in _SOME[:4]:
        game = assert_agreement(SHEETS[sheet], playouts=3, without=OPTIONAL)
        assert {name for name, _ in game.passes} == {"naming disjunctions", "naming nested terms"}


@pytest.mark.parametrize("name", ["naming nested terms", "no such pass"])
def test_passes_that_cannot_be_left_out(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is not an optional pass; expected one of linearising"):
        compiled(SHEETS["a chain of literals"], without=[name])


@pytest.mark.parametrize("seed", range(examples(3)))
def test_chains_of_any_kind_are_the_same_by_rules_and_network(seed: int) -> None:
    random = Random(seed)
    first, second, meets, ends, turn = (random.random() < 0.5 for _ in range(5))
    places = "(n 1) (n 2) (n 3) (n 4)"
    body = ["(chain ?k ?x ?y)", "(chain ?k ?y ?z)"]
    body += ["(distinct ?x ?z)"] * ends + random.sample(["(not (true (on ?y)))", "(n ?y)"], 1) * meets
    random.shuffle(body)
    rules = f"""
        (role r) {places} (kind a) (kind b) (init (on 2))
        (<= (legal r (tie ?k ?x ?y)) (kind ?k) (n ?x) (n ?y) (not (true (tied ?k ?x ?y))))
        (<= (next (tied ?k ?x ?y)) (true (tied ?k ?x ?y)))
        (<= (next (tied ?k ?x ?y)) (does r (tie ?k ?x ?y)))
        (<= (next (on ?x)) (chain a ?x ?x))
        (<= (next (on ?y)) (chain b 1 ?y) (not (chain a ?y 3)))
        (<= (chain ?k ?x ?y) (true (tied ?k ?x ?y)) {"(distinct ?x ?y)" if first else ""})
        {"(<= (chain ?k ?x ?y) (true (tied ?k ?y ?x)) (true (on ?x)))" if second else ""}
        {"(<= (chain ?k ?x ?y) (chain ?k ?y ?x))" if turn else ""}
        (<= (chain ?k ?x ?z) {" ".join(body)})
        (<= terminal (chain a 1 4) (chain b 4 1))
        (<= (goal r 100) (chain b 2 3))
        (<= (goal r 0) (not (chain b 2 3)))
    """
    game = assert_agreement(rules, playouts=3)
    assert dict(game.passes)["linearising recursion"]["rewrote"]
