"""Rules narrowed before they are grounded: large static relations unfolded, views cut to what is asked.

A large static relation ties all its variables together; its definition often ties them loosely, which
splitting can use. A view that is only ever read with constants in some columns is needed for these alone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from anygame.datalog.relations import (
    Alternatives,
    FlatAtom,
    FlatRule,
    IsConstant,
    Negated,
    Relation,
    Unequal,
)
from anygame.language.terms import Compound, Constant, Variable
from anygame.language.unification import apply, unify
from anygame.network.grounding.parts import variables_of_atom, variables_of_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from anygame.datalog.relations import Condition
    from anygame.language.terms import Term

__all__ = ["narrow", "unfold"]

_MOST_COPIES: Final = 24
_DEEPEST: Final = 4


def unfold(
    rules: Iterable[FlatRule],
    definition: Callable[[Relation], Sequence[FlatRule] | None],
) -> list[FlatRule]:
    """Replace literals by the bodies of the rules that define them.

    Args:
        rules: the rules to be grounded.
        definition: the rules of a relation that is to be unfolded; None for others.
    """
    numbers = count(1)

    def copies(rule: FlatRule, depth: int) -> list[FlatRule]:
        for place, literal in enumerate(rule.literals):
            bodies = definition(literal.relation) if depth else None
            if bodies is None:
                continue
            found = [_unfolded(rule, place, body, next(numbers)) for body in bodies]
            usable = [one for one in found if one is not None]
            if len(usable) == len(found):
                return [copy for one in usable if one for copy in copies(one[0], depth - 1)]
        return [rule]

    result: list[FlatRule] = []
    for rule in rules:
        found = copies(rule, _DEEPEST)
        result += found if len(found) <= _MOST_COPIES else [rule]
    return result


def _unfolded(rule: FlatRule, place: int, body: FlatRule, number: int) -> list[FlatRule] | None:
    """Return the rule with one literal replaced by a body: one copy, none where they do not fit.

    Returns None where it cannot be said.
    """
    literal = rule.literals[place]
    fresh: dict[Variable, Term] = {
        variable: Variable(f"{variable.name} {number}") for variable in _variables_of_rule(body)
    }
    head = [apply(term, fresh) for term in body.head.columns]
    bindings = unify(Compound(" ", literal.columns), Compound(" ", tuple(head)), {}) if head else {}
    if bindings is None:
        return []
    try:
        conditions = [_substituted(condition, fresh) for condition in body.conditions]
        return [
            FlatRule(
                _atom(rule.head, bindings),
                tuple(
                    _atom(atom, bindings)
                    for atom in (
                        *rule.literals[:place],
                        *(_atom(atom, fresh) for atom in body.literals),
                        *rule.literals[place + 1 :],
                    )
                ),
                tuple(_substituted(condition, bindings) for condition in (*rule.conditions, *conditions)),
                rule.origin,
            )
        ]
    except _CannotSay:
        return None


class _CannotSay(Exception):  # noqa: N818  (a signal inside this module)
    """A condition on a variable has become one on something else."""


def _atom(atom: FlatAtom, bindings: Mapping[Variable, Term]) -> FlatAtom:
    return FlatAtom(atom.relation, tuple([apply(term, bindings) for term in atom.columns]))


def _substituted(condition: Condition, bindings: Mapping[Variable, Term]) -> Condition:
    if isinstance(condition, FlatAtom):
        return _atom(condition, bindings)
    if isinstance(condition, Negated):
        return Negated(_atom(condition.atom, bindings))
    if isinstance(condition, Unequal):
        return replace(
            condition, left=apply(condition.left, bindings), right=apply(condition.right, bindings)
        )
    if isinstance(condition, IsConstant):
        term = apply(condition.variable, bindings)
        if not isinstance(term, Variable):
            raise _CannotSay
        return IsConstant(term)
    return Alternatives(
        tuple(tuple(_substituted(part, bindings) for part in choice) for choice in condition.choices)
    )


def _variables_of_rule(rule: FlatRule) -> set[Variable]:
    found = {v for atom in (rule.head, *rule.literals) for v in variables_of_atom(atom)}
    return found.union(*map(variables_of_test, rule.conditions))


def narrow(
    rules: Sequence[FlatRule], is_view: Callable[[Relation], bool]
) -> tuple[list[FlatRule], dict[Relation, set[tuple[Term, ...]]]]:
    """Restrict views to the constants with which they are read.

    Args:
        rules: the rules to be grounded.
        is_view: whether a relation is only there to be read by rules.

    Returns:
        The rules, those of restricted views with one literal more; and the rows of these literals' relations.
    """
    reads: dict[Relation, list[FlatAtom]] = {}
    for rule in rules:
        for read in rule.reads:
            if is_view(read.relation):
                reads.setdefault(read.relation, []).append(read.atom)
    asked: dict[Relation, tuple[Relation, list[int]]] = {}
    rows: dict[Relation, set[tuple[Term, ...]]] = {}
    for number, (view, atoms) in enumerate(reads.items()):
        fixed = [
            place
            for place in range(view.width)
            if all(isinstance(atom.columns[place], Constant) for atom in atoms)
        ]
        if fixed:
            relation = Relation(f" asked {number}", (None,) * len(fixed))
            asked[view] = relation, fixed
            rows[relation] = {tuple(atom.columns[place] for place in fixed) for atom in atoms}
    result = []
    for rule in rules:
        guard = asked.get(rule.head.relation)
        if guard is not None:
            relation, fixed = guard
            columns = tuple(rule.head.columns[place] for place in fixed)
            rule = replace(rule, literals=(*rule.literals, FlatAtom(relation, columns)))
        result.append(rule)
    return result, rows
