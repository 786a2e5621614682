"""Which questions on demand come to an end: those in which what is given gets smaller from call to call.

A relation of lists, or of numbers made of terms, has rows without end; it can be asked about terms that are
known. ``(plus ?x ?y (s z))`` has two answers, ``(plus z ?y ?sum)`` has as many as there are numbers. What is
given is followed through the rules, as modes of logic programs are, and each way back to the same question
should go through a part of what was given (De Schreye and Decorte, "Termination of logic programs: the
never-ending story", 1994).
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final

from anygame.language.terms import Compound, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from anygame.datalog.relations import FlatAtom, FlatRule, Relation
    from anygame.datalog.schema import Component, Schema
    from anygame.language.terms import Term, Variable

#: Questions about one program; beyond, they are taken to end.
_MOST_QUESTIONS: Final = 10_000

#: A relation, and the columns that are given.
Question = tuple["Relation", frozenset[int]]


class Termination:
    """Which questions end.

    Args:
        schema: the rules.
        on_demand: the relations that are computed on demand; all others have an end.
    """

    def __init__(self, schema: Schema, on_demand: Container[Relation]) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._known: dict[Question, bool] = {}

    def ends(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a relation can be asked for what goes with values of some columns."""
        if relation not in self._on_demand:
            return True
        question = relation, frozenset(given)
        if question not in self._known:
            self._settle(question)
        return self._known[question]

    def allows(self, relation: Relation, given: Iterable[int]) -> bool:
        """Return whether a relation may be asked for what goes with values of some columns.

        Questions that may not end are refused where rules ask themselves for larger terms: there, what limits
        the terms of a relation as a whole does not limit what is asked.
        """
        makers = self._schema.makers(relation)
        return not any(maker.asks_for_larger_terms for maker in makers) or self.ends(relation, given)

    def _settle(self, question: Question) -> None:
        """Find out about a question, and about all that it leads to: all end that nothing keeps from it."""
        known = self._known
        known[question] = True
        asked_by: dict[Question, dict[Question, None]] = defaultdict(dict)
        waiting = deque([question])
        while waiting:
            current = waiting.popleft()
            if not known[current]:
                continue

            def ends(other: Question, current: Question = current) -> bool:
                if other not in known and len(known) < _MOST_QUESTIONS:
                    known[other] = True
                    waiting.append(other)
                asked_by[other][current] = None
                return known.get(other, True)

            if not self._each_rule_ends(current, ends):
                known[current] = False
                waiting.extend(asked_by[current])

    def _each_rule_ends(self, question: Question, ends: Callable[[Question], bool]) -> bool:
        relation, given = question
        (component,) = self._schema.makers(relation)
        rules = [rule for rule in component.rules if rule.head.relation == relation]
        return all(self._rule_ends(rule, given, component, ends) for rule in rules)

    def _rule_ends(
        self,
        rule: FlatRule,
        given: frozenset[int],
        component: Component,
        ends: Callable[[Question], bool],
    ) -> bool:
        """Return whether there is an order in which each literal of a rule can be asked."""
        wholes = [rule.head.columns[number] for number in given]
        known = {variable for term in wholes for variable in variables_of(term)}
        waiting = list(rule.literals)
        while waiting:
            left = []
            for atom in waiting:
                columns = known_columns(atom, known)
                is_ready = atom.relation not in self._on_demand or (
                    _goes_down(rule, atom, columns, wholes, component)
                    and ends((atom.relation, frozenset(columns)))
                )
                if is_ready:
                    known.update(variable for term in atom.columns for variable in variables_of(term))
                else:
                    left.append(atom)
            if len(left) == len(waiting):
                return False
            waiting = left
        return True


def known_columns(atom: FlatAtom, known: Container[Variable]) -> list[int]:
    """Return the columns of a literal whose variables are all known."""
    return [n for n, term in enumerate(atom.columns) if all(v in known for v in variables_of(term))]


def _goes_down(
    rule: FlatRule, atom: FlatAtom, columns: Iterable[int], wholes: Iterable[Term], component: Component
) -> bool:
    """Return whether a literal asks for less than its rule, where a way back to the same question matters."""
    if not component.builds_terms or atom.relation not in component.relations:
        return True
    parts = [atom.columns[number] for number in columns]
    if any(_is_inside(part, whole) for part in parts for whole in wholes):
        return True
    # By way of another relation, what is given may get smaller in the rules of that one.
    return atom.relation != rule.head.relation and bool(parts) and not component.asks_for_larger_terms


def _is_inside(part: Term, whole: Term) -> bool:
    """Return whether a term stands inside another one, and is not all of it."""
    arguments = whole.arguments if isinstance(whole, Compound) else ()
    return any(part == argument or _is_inside(part, argument) for argument in arguments)
