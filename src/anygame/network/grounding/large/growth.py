"""Bounding growth: restrict rules that build larger terms to states in which their move is legal.

::

    next(stack(c, list(r, l))) :- does(r, drop(c)), true(stack(c, l))
    legal(r, drop(c)) :- true(control(r)), true(stack(c, l)), not full(c)
    full(c) :- true(stack(c, l)), [length(l, 6)]

A column has only one stack, and roles make only legal moves, so these rules become::

    next(stack(c, list(r, l))) :- does(r, drop(c)), true(stack(c, l)), [room(c, l, r)]
    room(c, l, r) :- [true(control(r))], [true(stack(c, l))], not length(l, 6)

Without this pass, every stack is combined with every legal move, and lists grow without end. The pass
replaces the move of the rule by all conditions that make it legal (unfolding: Tamaki and Sato 1984,
"Unfold/fold transformation of logic programs"). Then it unifies rows with the same key.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.datalog.relations import (
    Alternatives,
    FlatAtom,
    IsConstant,
    Negated,
    Relation,
    Unequal,
    variables_in,
)
from anygame.language.terms import Compound, Constant, Variable, variables_of
from anygame.language.unification import unify_all
from anygame.network.grounding.passes.context import can_be_joined
from anygame.network.grounding.passes.folding import unfolded
from anygame.network.grounding.rules import (
    MOST_COPIES,
    GroundRule,
    NotAVariableError,
    sorted_by_name,
    substituted,
    variables_of_atom,
    variables_of_rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anygame.language.terms import Term
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import Test

    Rules = Mapping[Relation, Sequence[GroundRule]]

#: Maximum number of literals that one unfolding replaces by rule bodies.
_MOST_STEPS: Final = 200


def bound_growth(rules: Sequence[GroundRule], context: Context) -> list[GroundRule]:
    """Restrict each rule that may build larger terms to states in which its move is legal."""
    by_head = grouped((rule.head.relation, rule) for rule in rules)
    bounded: list[GroundRule] = []
    for rule in rules:
        bounded += _bounded(rule, by_head, context) if _may_grow(rule, context) else [rule]
    return bounded


def _may_grow(rule: GroundRule, context: Context) -> bool:
    return rule.head.relation.predicate == "next" and (
        any(isinstance(term, Compound) and not term.is_ground for term in rule.head.columns)
        or not all(context.static.ends(guard.relation, ()) for guard in rule.guards)
    )


def _bounded(rule: GroundRule, by_head: Rules, context: Context) -> list[GroundRule]:
    columns = sorted_by_name(
        v for atom in (rule.head, *rule.positives, *rule.guards) for v in variables_of_atom(atom)
    )
    guard = FlatAtom(context.new_relation(len(columns)), columns)
    whole = replace(rule, head=guard)
    try:
        moves = _unfolded(whole, by_head, context, _is_move)
        bodies = [way for move in moves for way in _unfolded(move, by_head, context, _is_view) or [move]]
        keyed = [_with_keys(way, context) for way in bodies]
        ways = [room for way in keyed if way is not None for room in _with_negations(way, by_head, context)]
    except NotAVariableError:
        return [rule]
    rooms = [
        GroundRule(way.head, (), (), (*way.positives, *way.guards), way.tests, way.composed) for way in ways
    ]
    if moves in ([], [whole]) or not all(can_be_joined(room, room.guards, context) for room in rooms):
        return [rule]
    return [replace(rule, guards=(*rule.guards, guard)), *rooms]


def _unfolded(
    rule: GroundRule, by_head: Rules, context: Context, is_wanted: Callable[[FlatAtom, Rules, Context], bool]
) -> list[GroundRule]:
    """Replace the wanted literals of a rule by rule bodies; return all resulting rules, or [] if too many."""
    waiting, done = [rule], list[GroundRule]()
    for _ in range(_MOST_STEPS):
        if not waiting:
            return done
        one = waiting.pop()
        replaced = next((atom for atom in one.positives if is_wanted(atom, by_head, context)), None)
        if replaced is None:
            done.append(one)
            continue
        source = FlatAtom(_source(replaced.relation), replaced.columns)
        positives = tuple([source if atom is replaced else atom for atom in one.positives])
        unfoldings = [
            unfolded(replace(one, positives=positives), source, body) for body in by_head[source.relation]
        ]
        waiting += [copy[0] for copy in unfoldings if copy is not None]
        if len(waiting) + len(done) > MOST_COPIES:
            break
    return []


def _source(relation: Relation) -> Relation:
    return Relation("legal", relation.shapes) if relation.predicate == "does" else relation


def _is_view(atom: FlatAtom, by_head: Rules, context: Context) -> bool:
    relation = atom.relation
    return context.static.is_view(relation) and relation in by_head and not context.static.has_facts(relation)


def _is_move(atom: FlatAtom, by_head: Rules, context: Context) -> bool:
    """Return whether a literal is a move, or a view that has a move in each of its rules."""
    if atom.relation.predicate == "does":
        return not context.static.has_facts(_source(atom.relation))
    return _is_view(atom, by_head, context) and all(
        any(_is_move(inner, {}, context) for inner in rule.positives) for rule in by_head[atom.relation]
    )


def _with_keys(rule: GroundRule, context: Context) -> GroundRule | None:
    """Unify the literals of a rule that must match the same row of the state; None if that is impossible."""
    rule = replace(rule, positives=tuple(dict.fromkeys(rule.positives)))
    for one, other in combinations(rule.positives, 2):
        if one.relation == other.relation and one.relation.predicate == "true":
            pairs = list(zip(one.columns, other.columns, strict=True))
            if context.is_row(one, {number for number, (left, right) in enumerate(pairs) if left == right}):
                bindings = unify_all(pairs, {})
                return None if bindings is None else _with_keys(substituted(rule, bindings), context)
    return rule


def _with_negations(rule: GroundRule, by_head: Rules, context: Context) -> list[GroundRule]:
    """Add tests that exclude rows with which a body of one of the rule's negated views would hold."""
    own = sorted_by_name(variables_of_rule(rule))
    bound = {v for atom in (*rule.positives, *rule.guards) for v in variables_of_atom(atom)}
    bodies = [(atom, body) for atom in rule.negatives for body in by_head.get(atom.relation, ())]
    for held in (held for negative, body in bodies for held in _held(rule, own, negative, body)):
        equal = [pair for pair in zip(own, held.head.columns, strict=True) if pair[0] != pair[1]]
        nested = [(v, term) for v, term in equal if not set(own).issuperset(variables_of(term))]
        if nested and _is_constant_or(*nested[0], rule, context):
            variable, term = nested[0]
            constant = replace(rule, tests=(*rule.tests, IsConstant(variable)))
            copies = [substituted(rule, {variable: term}), constant]
            return [restricted for copy in copies for restricted in _with_negations(copy, by_head, context)]
        failing = [
            *(Unequal(*pair) for pair in equal),
            *(_opposite(item) for item in (*held.guards, *held.tests)),
        ]
        tests = [test for test in failing if test is not None]
        if tests and len(tests) == len(failing) and variables_in(tests) <= bound:
            rule = replace(rule, tests=(*rule.tests, Alternatives(tuple([(test,) for test in tests]))))
    return [rule]


def _held(
    rule: GroundRule, own: Sequence[Variable], negative: FlatAtom, body: GroundRule
) -> Iterator[GroundRule]:
    """Match a body of a negated view with rows that a rule reads; yield an instance for each match."""
    head = FlatAtom(Relation("", (None,) * len(own)), tuple(own))
    count = len(rule.positives)
    opened = unfolded(GroundRule(head, (*rule.positives, negative)), negative, body)
    if opened is None or body.composed:
        return
    rows, needed = opened[0].positives[:count], opened[0].positives[count:]
    choices = product(*([row for row in rows if row.relation == one.relation] for one in needed))
    for choice in islice(choices, MOST_COPIES):
        pairs = [zip(one.columns, row.columns, strict=True) for one, row in zip(needed, choice, strict=True)]
        bindings = unify_all(chain.from_iterable(pairs), {})
        if bindings is None:
            continue
        held = substituted(opened[0], bindings)
        back: dict[Variable, Term] = {}
        for name, term in zip(own, held.head.columns, strict=True):
            if isinstance(term, Variable) and term not in own:
                back.setdefault(term, name)
        held = substituted(held, back)
        if set(held.negatives) <= set(rule.negatives):
            yield held


def _is_constant_or(variable: Variable, term: Term, rule: GroundRule, context: Context) -> bool:
    tops = [
        context.premises.tops(atom.relation, column)
        for atom in rule.positives
        for column, one in enumerate(atom.columns)
        if one == variable
    ]
    return (
        isinstance(term, Compound)
        and bool(tops)
        and IsConstant(variable) not in rule.tests
        and {top for top in tops[0] if not isinstance(top, Constant)} == {(term.functor, len(term.arguments))}
    )


def _opposite(test: Test) -> Test | None:
    if isinstance(test, Unequal):
        return replace(test, negated=not test.negated)
    if isinstance(test, FlatAtom):
        return Negated(test)
    return test.atom if isinstance(test, Negated) else None
