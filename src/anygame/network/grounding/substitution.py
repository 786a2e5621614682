"""Substitution: the variables of a rule replaced by other terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal
from anygame.language.terms import Compound, Variable
from anygame.language.unification import apply
from anygame.network.grounding.rules import variables_of_atom, variables_of_rule

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from anygame.datalog.relations import Condition
    from anygame.language.terms import Term
    from anygame.network.grounding.rules import GroundRule


def named_by_place(
    atoms: Iterable[FlatAtom], name: str, but: Container[Variable] = ()
) -> dict[Variable, Term]:
    """Return names for the variables of some atoms: alike where these differ in names alone.

    Args:
        atoms: the atoms.
        name: with ``{}`` for the number of a variable, in the order in which they occur.
        but: variables that keep their names.
    """
    found: dict[Variable, Term] = {}
    for atom in atoms:
        for variable in variables_of_atom(atom):
            if variable not in but:
                found.setdefault(variable, Variable(name.format(len(found))))
    return found


def renamed_apart(rule: GroundRule, number: int) -> GroundRule:
    """Return a rule with variables of its own, given a number that no other has."""
    return substituted(rule, {v: Variable(f"{v.name} {number}") for v in variables_of_rule(rule)})


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
    tests = tuple([substituted_test(test, bindings) for test in rule.tests])
    changed = rule.with_atoms(lambda atom: substituted_atom(atom, bindings))
    return replace(changed, tests=tests, composed=tuple(composed))


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
