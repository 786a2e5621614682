"""Knowledge about relations and variables on which passes base their decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.datalog.plan import known_columns
from anygame.datalog.relations import FlatAtom, Unequal
from anygame.language.terms import Variable, variables_of
from anygame.network.grounding.large.cases import Invariant
from anygame.network.grounding.rules import variables_of_atom

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.large.cases import Premises
    from anygame.network.grounding.large.keys import InvariantProver
    from anygame.network.grounding.rules import GroundRule
    from anygame.network.grounding.static import StaticRelations


@dataclass(frozen=True, slots=True)
class Context:
    """What passes know about relations. ``new_relation`` makes a relation, given its number of columns."""

    static: StaticRelations
    premises: Premises
    prover: InvariantProver
    new_relation: Callable[[int], Relation]

    def is_row(self, atom: FlatAtom, given: Collection[int], *, likely: bool = False) -> bool:
        """Return whether the given columns of an atom determine its row; ``likely`` needs no proof."""
        return any(
            set(key).issubset(given)
            and (
                likely
                or self.static.is_static(atom.relation)
                or self.prover.holds(Invariant(atom.relation, key))
            )
            for key in self.premises.keys(atom.relation)
        )


def bound_by(rule: GroundRule, known: Iterable[Variable]) -> set[Variable]:
    """Return the known variables, and variables that equations and nested terms compute from known ones."""
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
    """Return whether the literals can be joined in an order in which each has finitely many matching rows."""
    known = set(known)
    waiting = list(literals)
    while waiting:
        known = bound_by(rule, known)
        ready = [atom for atom in waiting if context.static.ends(atom.relation, known_columns(atom, known))]
        if not ready:
            return False
        known.update(variable for atom in ready for variable in variables_of_atom(atom))
        waiting = [atom for atom in waiting if atom not in ready]
    return True


def determined(rule: GroundRule, known: Iterable[Variable], context: Context, most: float) -> set[Variable]:
    """Return the known variables, and variables to which guards give at most ``most`` values on average."""
    return _follow(rule, known, context, most)[0]


def narrow_guards(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> list[FlatAtom]:
    """Return the guards that ``determined`` uses, and other guards whose variables are all determined."""
    bound, followed = _follow(rule, known, context, most)
    rest = [
        guard
        for guard in rule.guards
        if guard not in followed
        and context.static.is_static(guard.relation)
        and bound.issuperset(variables_of_atom(guard))
    ]
    return followed + rest


def _follow(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> tuple[set[Variable], list[FlatAtom]]:
    bound, followed = bound_by(rule, known), list[FlatAtom]()
    waiting = [guard for guard in rule.guards if context.static.is_static(guard.relation)]
    changed = True
    while changed:
        changed = False
        for guard in list(waiting):
            if bound.issuperset(variables_of_atom(guard)):
                waiting.remove(guard)
                continue
            if context.static.fan_out(guard.relation, tuple(known_columns(guard, bound))) <= most:
                waiting.remove(guard)
                followed.append(guard)
                bound |= bound_by(rule, {*bound, *variables_of_atom(guard)})
                changed = True
    return bound, followed
