"""Which questions on demand come to an end: those in which what is given gets smaller from call to call.

A relation of lists, or of numbers made of terms, has rows without end; it can be asked about terms that are
known. ``(plus ?x ?y (s z))`` has two answers, ``(plus z ?y ?sum)`` has as many as there are numbers. What is
given is followed through the rules, as modes of logic programs are, and each way back to the same question
has to go through a part of what was given (De Schreye and Decorte, "Termination of logic programs: the
never-ending story", 1994).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.language.terms import Compound, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.schema import Component, Schema
    from anygame.language.terms import Term

__all__ = ["Termination"]

#: A relation, and the columns that are given.
Question = tuple["Relation", frozenset[int]]


class Termination:
    """Tells which questions end.

    Args:
        schema: the rules.
        on_demand: the relations that are computed on demand; all others have an end.
    """

    def __init__(self, schema: Schema, on_demand: Container[Relation]) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._known: dict[Question, bool] = {}
        #: The questions that are being looked at, and whether each was for less than the one before.
        self._under_way: dict[Question, bool] = {}

    def ends(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a relation can be asked for what goes with values of some columns."""
        question = relation, frozenset(given)
        if relation not in self._on_demand:
            return True
        if question not in self._known:
            self._known[question] = self._look(question, is_smaller=False)
        return self._known[question]

    def allows(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a relation may be asked for what goes with values of some columns.

        Questions that may not end are refused where rules ask themselves for larger terms: there, what limits
        the terms of a relation as a whole does not limit what is asked.
        """
        makers = self._schema.makers(relation)
        return not any(maker.asks_for_larger_terms for maker in makers) or self.ends(relation, given)

    def _look(self, question: Question, *, is_smaller: bool) -> bool:
        if question in self._known:
            return self._known[question]
        (component,) = self._schema.makers(question[0])
        if question in self._under_way:
            steps = list(self._under_way)
            since = steps[steps.index(question) + 1 :]
            return is_smaller or any(self._under_way[step] for step in since) or not component.builds_terms
        self._under_way[question] = is_smaller
        try:
            rules = [rule for rule in component.rules if rule.head.relation == question[0]]
            return all(self._rule_ends(rule, question[1], component) for rule in rules)
        finally:
            del self._under_way[question]

    def _rule_ends(self, rule: FlatRule, given: frozenset[int], component: Component) -> bool:
        """Return whether there is an order in which each literal of a rule can be asked."""
        wholes = [rule.head.columns[number] for number in given]
        known = {variable for term in wholes for variable in variables_of(term)}
        waiting = list(rule.literals)
        while waiting:
            ready = [atom for atom in waiting if self._literal_ends(atom, known, wholes, component)]
            if not ready:
                return False
            known.update(
                variable for atom in ready for term in atom.columns for variable in variables_of(term)
            )
            waiting = [atom for atom in waiting if atom not in ready]
        return True

    def _literal_ends(
        self, atom: FlatAtom, known: set[Variable], wholes: Iterable[Term], component: Component
    ) -> bool:
        if atom.relation not in self._on_demand:
            return True
        given = [number for number, term in enumerate(atom.columns) if known.issuperset(variables_of(term))]
        is_own = atom.relation in component.relations
        parts = [atom.columns[number] for number in given] if is_own else []
        is_smaller = any(_is_inside(part, whole) for part in parts for whole in wholes)
        return self._look((atom.relation, frozenset(given)), is_smaller=is_smaller)


def _is_inside(part: Term, whole: Term) -> bool:
    """Return whether a term stands inside another one, and is not all of it."""
    arguments = whole.arguments if isinstance(whole, Compound) else ()
    return any(part == argument or _is_inside(part, argument) for argument in arguments)
