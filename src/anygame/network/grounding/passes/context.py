"""What a pass may ask of relations; and which variables of a rule have few values once others are known."""

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
    """What a pass may ask.

    Attributes:
        is_static: whether a relation depends on neither state nor moves.
        is_dense: whether a static relation has more than half of the rows its columns could make.
        is_view: whether a relation depends on state or moves, and is only there to be read by rules.
        has_facts: whether some rows of a relation hold without any rule.
        definition: the rules of a static relation that is better replaced by them, with those that hold for
            most values where so asked; None for others.
        fan_out: of a static relation, how many rows there are on average for what stands in some columns.
        ends: whether a relation can be asked for what goes with some columns; of those computed on demand,
            some have rows without end.
        likely_keys: sets of columns in which no two rows of a relation are equal: of static ones, and of
            fluents perhaps. All that can be proved are among them.
        holds: whether what is likely is proved, for every state that play can lead to; that takes longer.
        values: the values that can stand in a column of an atom; None where that is not known.
        tops: the constants and functors that can stand in a column of a relation.
        new_relation: a relation of some width that no rule has yet.
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
        """Return whether an atom has one row at most, or likely so, for what stands in some columns."""
        return any(
            set(key).issubset(given)
            and (likely or self.is_static(atom.relation) or self.holds(Invariant(atom.relation, key)))
            for key in self.likely_keys(atom.relation)
        )


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
    """Return whether some literals of a rule can be joined in an order in which each question ends."""
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
    return _follow(rule, known, context, most)[0]


def narrow_guards(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> list[FlatAtom]:
    """Return the guards that ``determined`` uses, and those that restrict its results further."""
    found, followed = _follow(rule, known, context, most)
    rest = [
        guard
        for guard in rule.guards
        if guard not in followed
        and context.is_static(guard.relation)
        and found.issuperset(variables_of_atom(guard))
    ]
    return followed + rest


def _follow(
    rule: GroundRule, known: Iterable[Variable], context: Context, most: float
) -> tuple[set[Variable], list[FlatAtom]]:
    found, followed = bound_by(rule, known), list[FlatAtom]()
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
                followed.append(guard)
                found |= bound_by(rule, {*found, *variables_of_atom(guard)})
                changed = True
    return found, followed
