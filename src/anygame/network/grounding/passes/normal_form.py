"""Passes that make rules ready for joins: without dynamic disjunctions, nested terms or unused columns.

Disjunctions that depend on state or moves are expanded::

    legal(r, go(x)) :- [cell(x)], (true(open(x)) or true(key(x)))

becomes::

    legal(r, go(x)) :- true(open(x)), [cell(x)]
    legal(r, go(x)) :- true(key(x)), [cell(x)]

If expansion makes too many copies of a rule, a disjunction becomes a new relation instead::

    legal(r, go(x)) :- either(x), [cell(x)]
    either(x) :- true(open(x)), [cell(x)]
    either(x) :- true(key(x)), [cell(x)]

Both are transformations of Lloyd and Topor (1984, "Making Prolog more expressive").
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from anygame.datalog.relations import Alternatives, FlatAtom, reads_of, variables_in
from anygame.language.terms import Compound, Term, Variable
from anygame.network.grounding.passes.context import can_be_joined
from anygame.network.grounding.rules import (
    MOST_COPIES,
    Composed,
    GroundRule,
    binding_literals,
    sorted_by_name,
    variables_of_atom,
    variables_of_rule,
    with_conditions,
)

if TYPE_CHECKING:
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import Test


def expand_disjunctions(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Make a copy of the rule for each combination of alternatives, unless there are too many."""
    disjunctions = [test for test in rule.tests if not _is_plain(test, context)]
    if not disjunctions or prod(_copies(test, context) for test in disjunctions) > MOST_COPIES:
        return [rule]
    choices = [_choices(test, context) for test in disjunctions]
    plain = replace(rule, tests=tuple(test for test in rule.tests if _is_plain(test, context)))
    return [
        with_conditions(plain, [part for choice in picked for part in choice], context.static.is_static)
        for picked in product(*choices)
    ]


def name_disjunctions(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace each disjunction by a new relation; inner disjunctions become tests of the relation's rules."""
    made: list[GroundRule] = []
    named: list[FlatAtom] = []
    for test in rule.tests:
        if _is_plain(test, context):
            continue
        variables = sorted_by_name(variables_in((test,)))
        atom = FlatAtom(context.new_relation(len(variables)), variables)
        named.append(atom)
        literals = (*rule.positives, *rule.guards)
        guards = tuple(binding_literals(literals, variables))
        if not can_be_joined(rule, guards, context):
            guards = literals
        for choice in test.choices if isinstance(test, Alternatives) else ((test,),):
            one = with_conditions(GroundRule(atom), choice, context.static.is_static)
            made.append(replace(one, guards=(*one.guards, *guards)))
    if not named:
        return [rule]
    tests = tuple(test for test in rule.tests if _is_plain(test, context))
    return [*made, replace(rule, positives=(*rule.positives, *named), tests=tests)]


def _is_plain(test: Test, context: Context) -> bool:
    return all(context.static.is_static(read.relation) for read in reads_of((test,)))


def _copies(test: Test, context: Context) -> int:
    if not isinstance(test, Alternatives) or _is_plain(test, context):
        return 1
    return sum(prod(_copies(part, context) for part in choice) for choice in test.choices)


def _choices(test: Test, context: Context) -> list[tuple[Test, ...]]:
    if not isinstance(test, Alternatives) or _is_plain(test, context):
        return [(test,)]
    return [
        tuple(part for parts in picked for part in parts)
        for choice in test.choices
        for picked in product(*(_choices(part, context) for part in choice))
    ]


def name_nested_terms(rule: GroundRule, _: Context) -> list[GroundRule]:
    """Replace nested terms by variables.

    ::

        next(count(s(n))) :- does(r, up), true(count(n))

    becomes::

        next(count(w)) :- does(r, up), true(count(n)), w = s(n)

    So columns of tables hold single numbers (flattening: Rouveirol 1994, "Flattening and saturation").
    """
    nested = [
        term for atom in (rule.head, *rule.atoms) for term in atom.columns if isinstance(term, Compound)
    ]
    if all(term.is_ground for term in nested):
        return [rule]
    composed = list(rule.composed)

    def named(atom: FlatAtom) -> FlatAtom:
        return FlatAtom(atom.relation, tuple([_name(term, composed) for term in atom.columns]))

    flat = rule.with_atoms(named)
    return [replace(flat, composed=tuple(composed))]


def _name(term: Term, composed: list[Composed]) -> Term:
    if not isinstance(term, Compound) or term.is_ground:
        return term
    parts = tuple([_name(part, composed) for part in term.arguments])
    functor = (term.functor, len(parts))
    for named in composed:
        if named.functor == functor and named.parts == parts:
            return named.whole
    whole = Variable(f" {len(composed)}")
    composed.append(Composed(whole, functor, parts))
    return whole


def project_guards(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Project the guards of a rule to the variables that the rest of the rule uses.

    ::

        far(x) :- true(at(x)), [part(x, y)]

    becomes::

        far(x) :- true(at(x)), [some(x)]
        some(x) :- [part(x, y)]

    In the old rule, each value of ``y`` makes an instance. The projection is pushed below the join (Ullman
    1988, "Principles of database and knowledge-base systems"). Static guards stay: they have few rows.
    """
    if len(rule.atoms) < 2:  # the rule is a projection already
        return [rule]
    projections: list[GroundRule] = []
    guards = list(rule.guards)
    for number, guard in enumerate(guards):
        variables = set(variables_of_atom(guard))
        if context.static.is_static(guard.relation):
            continue
        other_guards = (*guards[:number], *guards[number + 1 :])
        used = variables & variables_of_rule(replace(rule, guards=other_guards))
        if len(used) < len(variables):
            columns = sorted_by_name(used)
            guards[number] = FlatAtom(context.new_relation(len(columns)), columns)
            projections.append(GroundRule(guards[number], guards=(guard,)))
    return [*projections, replace(rule, guards=tuple(guards))] if projections else [rule]
