"""Facts about relations for passes, and the variables of a rule that have few values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.datalog.plan import known_columns
from anygame.datalog.relations import FlatAtom, Unequal
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.large.cases import Invariant
from anygame.network.grounding.rules import variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from anygame.analysis.domains import Top
    from anygame.datalog.relations import Relation
    from anygame.language.terms import Term
    from anygame.network.grounding.rules import GroundRule


@dataclass(frozen=True, slots=True)
class Context:
    """Facts about relations, for passes.

    Attributes:
        is_dense: whether a static relation has more than half of the possible rows of its columns.
        is_view: whether a relation depends on state or moves and only rules read it.
        has_facts: whether some rows of a relation hold without any rule.
        definition: the rules that should replace a static relation, else None; the flag includes relations
            that hold for most values.
        fan_out: the average number of rows of a static relation for given values of some columns.
        ends: whether a question with values in some columns has a finite answer.
        likely_keys: sets of columns in which no two rows of a relation are equal; proved for static
            relations, likely for fluents. Every provable key is among them.
        holds: whether an invariant is proved for all reachable states; slow.
        values: the possible values of a column of an atom; None if unknown.
        tops: the constants and functors that are possible in a column of a relation.
        new_relation: makes a relation with a number of columns, without rules.
    """

    is_static: Callable[[Relation], bool]
    is_dense: Callable[[Relation], bool]
    is_view: Callable[[Relation], bool]
    has_facts: Callable[[Relation], bool]
    definition: Callable[[Relation, bool], Sequence[GroundRule] | None]
    fan_out: Callable[[Relation, tuple[int, ...]], float]
    ends: Callable[[Relation, Iterable[int]], bool]
    likely_keys: Callable[[Relation], Sequence[tuple[int, ...]]]
    holds: Callable[[Invariant], bool]
    values: Callable[[FlatAtom, int], frozenset[Term] | None]
    tops: Callable[[Relation, int], frozenset[Top]]
    new_relation: Callable[[int], Relation]

    def is_row(self, atom: FlatAtom, given: Collection[int], *, likely: bool = False) -> bool:
        """Return whether an atom has (or likely has) at most one row for values of some columns."""
        return any(
            set(key).issubset(given)
            and (likely or self.is_static(atom.relation) or self.holds(Invariant(atom.relation, key)))
            for key in self.likely_keys(atom.relation)
        )


def bound_by(rule: GroundRule, known: Iterable[Variable]) -> set[Variable]:
    """Return the known variables and the variables that equations and nested terms bind from them."""
    bound = set(known)
    changed = True
    while changed:
        before = len(bound)
        for item in rule.composed:
            parts = {v for part in item.parts for v in variables_of(part)}
            if item.whole in bound or parts <= bound:
                bound |= {item.whole, *parts}
        for test in rule.tests:
            if isinstance(test, Unequal) and test.negated:
                for one, other in ((test.left, test.right), (test.right, test.left)):
                    if isinstance(one, Variable) and bound.issuperset(variables_of(other)):
                        bound.add(one)
        changed = len(bound) > before
    return bound


def can_be_joined(
    rule: GroundRule, literals: Iterable[FlatAtom], context: Context, known: Iterable[Variable] = ()
) -> bool:
    """Return whether some order of the literals makes every question finite."""
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
    """Return variables with at most ``most`` values, on average, for each value of the known ones."""
    return _follow(rule, known, context, most)[0]


def narrow_guards(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> list[FlatAtom]:
    """Return the guards that ``determined`` follows, and guards that restrict its results further."""
    bound, followed = _follow(rule, known, context, most)
    rest = [
        guard
        for guard in rule.guards
        if guard not in followed
        and context.is_static(guard.relation)
        and bound.issuperset(variables_of_atom(guard))
    ]
    return followed + rest


def _follow(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> tuple[set[Variable], list[FlatAtom]]:
    bound, followed = bound_by(rule, known), list[FlatAtom]()
    waiting = [guard for guard in rule.guards if context.is_static(guard.relation)]
    changed = True
    while changed:
        changed = False
        for guard in list(waiting):
            if bound.issuperset(variables_of_atom(guard)):
                waiting.remove(guard)
                continue
            if context.fan_out(guard.relation, tuple(known_columns(guard, bound))) <= most:
                waiting.remove(guard)
                followed.append(guard)
                bound |= bound_by(rule, {*bound, *variables_of_atom(guard)})
                changed = True
    return bound, followed
