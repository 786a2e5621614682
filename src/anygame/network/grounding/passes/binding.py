"""Binding: which variables of a rule have few values once some others are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.datalog.relations import FlatAtom, Unequal
from anygame.datalog.termination import known_columns
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.rules import variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule


def bound_by(rule: GroundRule, known: Iterable[Variable]) -> set[Variable]:
    """Return the variables that equations and nested terms of a rule give a value, with those known."""
    found = set(known)
    changed = True
    while changed:
        before = len(found)
        for item in rule.composed:
            parts = {v for part in item.parts for v in variables_of(part)}
            if item.whole in found or parts <= found:
                found |= {item.whole, *parts}
        for test in rule.tests:
            if isinstance(test, Unequal) and test.negated:
                for one, other in ((test.left, test.right), (test.right, test.left)):
                    if isinstance(one, Variable) and found.issuperset(variables_of(other)):
                        found.add(one)
        changed = len(found) > before
    return found


def can_be_joined(
    rule: GroundRule, literals: Iterable[FlatAtom], context: Context, known: Iterable[Variable] = ()
) -> bool:
    """Return whether some literals of a rule can be joined in an order in which each question ends.

    Args:
        rule: the rule.
        literals: some of its literals.
        context: what is known of relations.
        known: variables that are bound before.
    """
    known = set(known)
    waiting = list(literals)
    while waiting:
        known = bound_by(rule, known)
        ready = [atom for atom in waiting if context.ends(atom.relation, known_columns(atom, known))]
        if not ready:
            return False
        known.update(variable for atom in ready for variable in variables_of_atom(atom))
        waiting = [atom for atom in waiting if atom not in ready]
    return True


def determined(rule: GroundRule, known: Iterable[Variable], context: Context, most: float) -> set[Variable]:
    """Return the variables that have few values where some are known, with those known.

    Args:
        rule: the rule.
        known: variables.
        context: what is known of relations.
        most: a static guard is followed if it gives at most so many values on average.
    """
    found = bound_by(rule, known)
    _follow(rule, found, context, most, lambda _: None)
    return found


def narrow_guards(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> list[FlatAtom]:
    """Return the guards that ``determined`` follows, and those that say more of what it found."""
    found = bound_by(rule, known)
    followed: list[FlatAtom] = []
    _follow(rule, found, context, most, followed.append)
    rest = [
        guard
        for guard in rule.guards
        if guard not in followed
        and context.is_static(guard.relation)
        and found.issuperset(variables_of_atom(guard))
    ]
    return followed + rest


def _follow(
    rule: GroundRule,
    found: set[Variable],
    context: Context,
    most: float,
    note: Callable[[FlatAtom], None],
) -> None:
    waiting = [guard for guard in rule.guards if context.is_static(guard.relation)]
    changed = True
    while changed:
        changed = False
        for guard in list(waiting):
            if found.issuperset(variables_of_atom(guard)):
                waiting.remove(guard)
                continue
            if context.fan_out(guard.relation, tuple(known_columns(guard, found))) <= most:
                waiting.remove(guard)
                note(guard)
                found |= bound_by(rule, {*found, *variables_of_atom(guard)})
                changed = True
