"""Inlining static relations: a large relation that ties its variables together gives way to its definition.

::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [alike(a, b, c)]
    where alike(x, y, z) :- kind(x, k), kind(y, k), kind(z, k), and alike has a million rows

becomes::

    row(a, b, c) :- true(at(1, a)), true(at(2, b)), true(at(3, c)), [kind(a, k)], [kind(b, k)], [kind(c, k)]

whose variables are tied through ``k`` alone, so that the body can be decomposed. This is the *unfolding* of
logic programs (Tamaki and Sato 1984, "Unfold/fold transformation of logic programs").
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import Alternatives, FlatAtom, IsConstant, Negated, Unequal
from anygame.language.terms import Compound, Variable
from anygame.language.unification import apply, unify
from anygame.network.grounding.rules import GroundRule, variables_of_atom, variables_of_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anygame.datalog.relations import Condition
    from anygame.language.terms import Term
    from anygame.network.grounding.passes.context import Context

__all__ = ["inline_static_relations"]

#: A rule that would become more rules than this stays as it is: each is joined anew in every round.
_MOST_COPIES: Final = 24
#: Definitions in definitions are inlined this deep. Sheets build geometry (row, square, line) in about three
#: steps; without a bound copies double with each.
_DEEPEST: Final = 4


def inline_static_relations(rule: GroundRule, context: Context) -> list[GroundRule]:
    """Replace guards by the bodies of the rules that define them."""
    numbers = count(1)

    def copies(rule: GroundRule, depth: int) -> list[GroundRule]:
        for index, guard in enumerate(rule.guards if depth else ()):
            bodies = context.definition(guard.relation)
            if bodies is None:
                continue
            try:
                found = [copy for body in bodies for copy in _inlined(rule, index, body, next(numbers))]
            except _CannotSay:
                continue
            return [copy for one in found for copy in copies(one, depth - 1)]
        return [rule]

    found = copies(rule, _DEEPEST)
    return found if len(found) <= _MOST_COPIES else [rule]


class _CannotSay(Exception):  # noqa: N818  (a signal inside this module)
    """A condition on a variable has become one on something else."""


def _inlined(rule: GroundRule, index: int, body: GroundRule, number: int) -> Iterator[GroundRule]:
    """Yield the rule with one guard replaced by a body, nothing where they do not fit."""
    fresh: dict[Variable, Term] = {v: Variable(f"{v.name} {number}") for v in _variables_of_rule(body)}
    head = Compound(" ", tuple([apply(term, fresh) for term in body.head.columns]))
    bindings = unify(Compound(" ", rule.guards[index].columns), head, {})
    if bindings is None:
        return
    guards = (
        *rule.guards[:index],
        *(_atom(guard, fresh) for guard in body.guards),
        *rule.guards[index + 1 :],
    )
    tests = (*rule.tests, *(_test(test, fresh) for test in body.tests))
    yield GroundRule(
        _atom(rule.head, bindings),
        tuple([_atom(atom, bindings) for atom in rule.positives]),
        tuple([_atom(atom, bindings) for atom in rule.negatives]),
        tuple([_atom(atom, bindings) for atom in guards]),
        tuple([_test(test, bindings) for test in tests]),
    )


def _atom(atom: FlatAtom, bindings: Mapping[Variable, Term]) -> FlatAtom:
    return FlatAtom(atom.relation, tuple([apply(term, bindings) for term in atom.columns]))


def _test(test: Condition, bindings: Mapping[Variable, Term]) -> Condition:
    if isinstance(test, FlatAtom):
        return _atom(test, bindings)
    if isinstance(test, Negated):
        return Negated(_atom(test.atom, bindings))
    if isinstance(test, Unequal):
        return replace(test, left=apply(test.left, bindings), right=apply(test.right, bindings))
    if isinstance(test, IsConstant):
        term = apply(test.variable, bindings)
        if not isinstance(term, Variable):
            raise _CannotSay
        return IsConstant(term)
    return Alternatives(tuple(tuple(_test(part, bindings) for part in choice) for choice in test.choices))


def _variables_of_rule(rule: GroundRule) -> set[Variable]:
    found = {v for atom in (rule.head, *rule.atoms) for v in variables_of_atom(atom)}
    return found.union(*map(variables_of_test, rule.tests))
