"""Substitution: the variables of a rule replaced by other terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal
from anygame.language.terms import Compound, Variable
from anygame.language.unification import apply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.datalog.relations import Condition
    from anygame.language.terms import Term
    from anygame.network.grounding.rules import GroundRule


class NotAVariableError(ValueError):
    """A condition on a variable has become one on something else."""


def substituted(rule: GroundRule, bindings: Mapping[Variable, Term]) -> GroundRule:
    """Return a rule with variables replaced.

    Raises:
        NotAVariableError: a condition on a variable would become one on something else.
    """
    composed = []
    for item in rule.composed:
        whole = apply(item.whole, bindings)
        if not isinstance(whole, Variable):
            raise NotAVariableError
        parts = tuple([apply(part, bindings) for part in item.parts])
        composed.append(replace(item, whole=whole, parts=parts))
    return replace(
        rule,
        head=substituted_atom(rule.head, bindings),
        positives=tuple([substituted_atom(atom, bindings) for atom in rule.positives]),
        negatives=tuple([substituted_atom(atom, bindings) for atom in rule.negatives]),
        guards=tuple([substituted_atom(atom, bindings) for atom in rule.guards]),
        tests=tuple([substituted_test(test, bindings) for test in rule.tests]),
        composed=tuple(composed),
    )


def substituted_atom(atom: FlatAtom, bindings: Mapping[Variable, Term]) -> FlatAtom:
    """Return an atom with variables replaced; the same one where it has none of them."""
    if bindings.keys().isdisjoint(atom.columns) and not any(isinstance(t, Compound) for t in atom.columns):
        return atom
    return FlatAtom(atom.relation, tuple([apply(term, bindings) for term in atom.columns]))


def substituted_test(test: Condition, bindings: Mapping[Variable, Term]) -> Condition:
    """Return a test with variables replaced.

    Raises:
        NotAVariableError: a condition on a variable would become one on something else.
    """
    if isinstance(test, FlatAtom):
        return substituted_atom(test, bindings)
    if isinstance(test, Negated):
        return Negated(substituted_atom(test.atom, bindings))
    if isinstance(test, Unequal):
        return replace(test, left=apply(test.left, bindings), right=apply(test.right, bindings))
    if isinstance(test, IsConstant):
        term = apply(test.variable, bindings)
        if not isinstance(term, Variable):
            raise NotAVariableError
        return IsConstant(term)
    choices = [tuple([substituted_test(part, bindings) for part in choice]) for choice in test.choices]
    return Alternatives(tuple(choices))
