"""Passes that rely on the law that each role makes exactly one move in a state.

A move that ties literals together is replaced by its projections::

    next(at(u, v, p)) :- does(r, go(x, y, u, v)), true(at(x, y, p))

becomes::

    next(at(u, v, p)) :- from(r, x, y), to(r, u, v), true(at(x, y, p))
    from(r, x, y) :- does(r, go(x, y, u, v))
    to(r, u, v) :- does(r, go(x, y, u, v))

A move holds exactly if all its projections hold, because a role makes exactly one move. Literals that only
the move tied together become independent, so numbers of instances add up instead of multiplying. The law is
part of the game model (Genesereth, Love and Pell 2005, "General game playing: overview of the AAAI
competition").
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, FlatAtom, Negated, Unequal, variables_in
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.rules import (
    GroundRule,
    Item,
    connected,
    is_own,
    items_of,
    sorted_by_name,
    variables_of_atom,
    variables_of_items,
)

if TYPE_CHECKING:
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import Test


_NOTHING: Final[frozenset[Variable]] = frozenset()


def project_moves(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace the only move of a rule by its projections, if the move ties other literals together."""
    moves = [atom for atom in rule.positives if atom.relation.predicate == "does"]
    if rule.composed or len(moves) != 1 or len(rule.positives) + len(rule.negatives) < 2:
        return [rule]
    move = moves[0]
    groups = _groups(rule, move)
    if groups is None:
        return [rule]
    made, projections = [], []
    for group in groups:
        columns = sorted_by_name(group)
        atom = FlatAtom(context.new_relation(len(columns)), columns)
        made.append(GroundRule(atom, positives=(move,)))
        projections.append(atom)
    index = rule.positives.index(move)
    positives = (*rule.positives[:index], *projections, *rule.positives[index + 1 :])
    return [*made, replace(rule, positives=positives)]


def _groups(rule: GroundRule, move: FlatAtom) -> list[frozenset[Variable]] | None:
    head = frozenset(variables_of_atom(rule.head))
    role = frozenset(variables_of(move.columns[0]))
    own = frozenset(variables_of_atom(move))
    items = [item for item in items_of(rule) if item.what is not move]
    wanted = [
        variables_of_items(part) & own
        for part in connected(items, head | role)
        if any(item.is_dynamic for item in part)
    ]
    rest = own & (head | variables_of_items(items))
    rest -= _NOTHING.union(*wanted) - head
    groups = [group | role for group in [*wanted, rest] if group - role]
    # Projections do not help if a part needs all variables of the move.
    if len(groups) < 2 or any(group >= own & (head | role) for group in wanted if rest - role):
        return None
    return groups


#: Maximum number of ways in which the tests of a move can fail. With more ways to fail, most moves fail.
_MOST_FAILURES: Final = 8


def complement_moves(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace conditions on a move by the absence of a move that fails these conditions.

    ::

        kept(a, b) :- does(r, go(x, y)), [cell(a, b)], x != a or y != b

    becomes::

        kept(a, b) :- some(), not failing(a, b), [cell(a, b)]
        some() :- does(r, go(x, y))
        failing(a, b) :- does(r, go(x, y)), [cell(a, b)], x = a, y = b

    A role makes exactly one move. So its move satisfies the conditions exactly if it makes a move ``go``, and
    no move that fails the conditions. Most frame axioms have this form, and few moves fail their conditions.
    """
    if rule.composed or not is_own(rule.head.relation):
        return [rule]
    if [atom.relation.predicate for atom in rule.positives] != ["does"]:
        return [rule]
    role = rule.positives[0].columns[0]
    if not isinstance(role, Variable) or role in rule.head.columns:
        return _complement(rule, context) or [rule]
    # Derive one complement per role: the rule holds if the complement of any role holds.
    columns = (role, *rule.head.columns)
    per_role = FlatAtom(context.new_relation(len(columns)), columns)
    complement = _complement(replace(rule, head=per_role), context)
    return [rule] if complement is None else [*complement, GroundRule(rule.head, positives=(per_role,))]


def _complement(rule: GroundRule, context: Context) -> list[GroundRule] | None:
    """Return the rules of the complement; None if there is none, or if too many moves fail."""
    head = frozenset(variables_of_atom(rule.head))
    failures = _failures(rule, head, context)
    if failures is None:
        return None
    move = rule.positives[0]
    own = frozenset(variables_of_atom(move))
    binding = tuple(guard for guard in rule.guards if not set(variables_of_atom(guard)) & (own - head))
    columns = sorted_by_name(own & head)
    some = FlatAtom(context.new_relation(len(columns)), columns)
    failing = FlatAtom(context.new_relation(rule.head.relation.width), rule.head.columns)
    made = [GroundRule(some, positives=(move,))]
    for failure in failures:
        atoms = tuple(part for part in failure if isinstance(part, FlatAtom))
        tests = tuple(part for part in failure if not isinstance(part, FlatAtom))
        changing = tuple(atom for atom in atoms if not context.static.is_static(atom.relation))
        guards = (*binding, *(atom for atom in atoms if context.static.is_static(atom.relation)))
        made.append(GroundRule(failing, (move, *changing), guards=guards, tests=tests))
    of_head = tuple(atom for atom in rule.negatives if head.issuperset(variables_of_atom(atom)))
    complement = GroundRule(
        rule.head,
        positives=(some,),
        negatives=(failing, *of_head),
        guards=binding,
        tests=tuple(test for test in rule.tests if variables_in((test,)) <= head),
    )
    return [*made, complement]


def _failures(rule: GroundRule, head: frozenset[Variable], context: Context) -> list[tuple[Test, ...]] | None:
    """Return the conjunctions that make the conditions on a move fail; None for unsuitable conditions."""
    move = rule.positives[0]
    own = frozenset(variables_of_atom(move)) - head
    if not own:
        return None
    failures: list[tuple[Test, ...]] = []
    for item in items_of(rule):
        if item.what is move or not item.variables & own:
            continue
        # An item with further variables can fail for one value of these variables, and hold for another.
        failing = _failing(item, context) if item.variables <= own | head else None
        if failing is None:
            return None
        failures += failing
    bound = {v for g in rule.guards for v in variables_of_atom(g) if not own & set(variables_of_atom(g))}
    if not head - frozenset(variables_of_atom(move)) <= bound:
        return None
    return failures if failures and len(failures) <= _MOST_FAILURES else None


def _failing(item: Item, context: Context) -> list[tuple[Test, ...]] | None:
    if item.kind == "negatives":
        assert isinstance(item.what, FlatAtom)
        return [(item.what,)]
    if isinstance(item.what, Negated):
        # If the relation is dense, the item fails for most values.
        atom = item.what.atom
        return None if context.static.is_dense(atom.relation) else [(atom,)]
    if item.kind == "tests":
        return _failing_test(item.what)
    guard = item.what
    assert isinstance(guard, FlatAtom)
    # A guard that is not dense fails for most values.
    worth_it = context.static.is_static(guard.relation) and context.static.is_dense(guard.relation)
    return [(Negated(guard),)] if worth_it else None


def _failing_test(test: Test) -> list[tuple[Test, ...]] | None:
    if isinstance(test, Unequal):
        return None if test.negated else [(Unequal(test.left, test.right, negated=True),)]
    if not isinstance(test, Alternatives):
        return None
    conjunctions: list[tuple[Test, ...]] = []
    for picked in product(*test.choices):
        equations: list[Test] = []
        for part in picked:
            failing = _failing_test(part)
            if failing is None or len(failing) != 1:
                return None
            equations += failing[0]
        conjunctions.append(tuple(equations))
        if len(conjunctions) > _MOST_FAILURES:
            return None
    return conjunctions
