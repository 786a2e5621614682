"""Sorts: which places of the rules share their values.

Two places have the same sort where some rule has one variable at both; all constants that stand at places of
a sort are its values. That is coarser than domains, which follow how facts are derived, but it is known where
rules leave variables unbound, and it covers all that Prolog could ask of such a rule.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.language.rules import READ_AS, Distinct, Literal, walk
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

#: An argument of a relation, or of a function wherever it stands: name, arity, number; or a rule's variable.
Place = tuple[object, ...]
Functor = tuple[str, int]

#: Where roles are declared.
ROLE: Final = ("role", 1, 0)
_ROLE_FIRST: Final = frozenset(("does", "goal", "sees", "percept"))


class Sorts:
    """The sorts of some rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._above: dict[Place, Place] = {}
        self._constants: dict[Place, set[Constant]] = defaultdict(set)
        self._functors: dict[Place, set[Functor]] = defaultdict(set)
        rules = list(rules)
        for number, rule in enumerate(rules):
            self._read(rule, number)
        self._numbers = {id(rule): number for number, rule in enumerate(rules)}

    def sort(self, place: Place) -> Place:
        """Return the sort of a place."""
        return self._find(place)

    def of_variable(self, rule: Rule, variable: Variable) -> Place:
        """Return the sort of a variable of one of the rules."""
        return self._find((self._numbers[id(rule)], variable))

    def of_arguments(self, functor: Functor) -> list[Place]:
        """Return the sorts of the arguments of a function."""
        return [self._find(("()", *functor, number)) for number in range(functor[1])]

    def inside(self, sort: Place) -> list[Place]:
        """Return a sort, the sorts of the terms inside its terms, and so on inwards, once each."""
        found = {sort: None}
        pending = [sort]
        while pending:
            for functor in sorted(self.functors(pending.pop())):
                new = [each for each in self.of_arguments(functor) if each not in found]
                found.update(dict.fromkeys(new))
                pending += new
        return list(found)

    def constants(self, sort: Place) -> frozenset[Constant]:
        """Return the constants of a sort."""
        return frozenset(self._constants.get(sort, ()))

    def functors(self, sort: Place) -> frozenset[Functor]:
        """Return name and arity of the compound terms of a sort."""
        return frozenset(self._functors.get(sort, ()))

    def _read(self, rule: Rule, number: int) -> None:
        self._read_atom(rule.head, number)
        for formula, _ in walk(rule.body):
            if isinstance(formula, Literal):
                self._read_atom(formula.atom, number)
            elif isinstance(formula, Distinct):
                place = ("distinct", number, id(formula))
                self._read_term(formula.left, place, number)
                self._read_term(formula.right, place, number)

    def _read_atom(self, atom: Atom, number: int) -> None:
        name = READ_AS.get(atom.predicate, atom.predicate)
        for place, term in enumerate(atom.arguments):
            is_role = place == 0 and name in _ROLE_FIRST and len(atom.arguments) == 2
            self._read_term(term, ROLE if is_role else (name, len(atom.arguments), place), number)

    def _read_term(self, term: Term, place: Place, number: int) -> None:
        if isinstance(term, Variable):
            self._unite(place, (number, term))
        elif isinstance(term, Compound):
            functor = term.functor, len(term.arguments)
            self._functors[self._find(place)].add(functor)
            for argument, inner in enumerate(term.arguments):
                self._read_term(inner, ("()", *functor, argument), number)
        elif isinstance(term, Constant):
            self._constants[self._find(place)].add(term)

    def _find(self, place: Place) -> Place:
        while (above := self._above.get(place)) is not None:
            higher = self._above.get(above)
            if higher is not None:
                self._above[place] = higher  # paths are halved on the way
            place = above
        return place

    def _unite(self, one: Place, other: Place) -> None:
        one, other = self._find(one), self._find(other)
        if one == other:
            return
        size = [len(self._constants.get(place, ())) for place in (one, other)]
        if size[0] < size[1]:
            one, other = other, one
        self._above[other] = one
        self._constants[one] |= self._constants.pop(other, set())
        self._functors[one] |= self._functors.pop(other, set())
