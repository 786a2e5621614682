"""Sorts: sets of arguments with the same possible values, in relations and functions.

GDL has no types. If a variable occurs twice in a rule, both arguments have the same sort, as in type
inference for logic programs (Mycroft and O'Keefe, "A polymorphic type system for Prolog", 1984). The values
of a sort are all constants in its arguments. Sorts are coarser than domains, which follow the derivation of
facts. But rules with unbound variables also have sorts, and a sort has all values that Prolog could try.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import reached
from anygame.language.rules import READ_AS, Atom, Distinct, atoms_of, walk
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: An argument of a relation or function (name, arity, number), or a variable of a rule.
Place = tuple[object, ...]
Functor = tuple[str, int]

#: The argument that declares roles.
ROLE: Final = ("role", 1, 0)
_ROLE_FIRST: Final = frozenset(("does", "goal", "sees", "percept"))


def lists_of(atom: Atom) -> Iterator[tuple[Atom | Compound, tuple[Place, ...]]]:
    """Yield an atom and each compound term in it, each with the places of its arguments."""
    name, arity = READ_AS.get(atom.predicate, atom.predicate), len(atom.arguments)
    places: tuple[Place, ...] = tuple((name, arity, number) for number in range(arity))
    if arity == 2 and name in _ROLE_FIRST:
        places = (ROLE, places[1])
    pending: list[tuple[Atom | Compound, tuple[Place, ...]]] = [(atom, places)]
    while pending:
        each, places = pending.pop()
        yield each, places
        for term in each.arguments:
            if isinstance(term, Compound):
                inner = tuple(("()", *functor_of(term), number) for number in range(len(term.arguments)))
                pending.append((term, inner))


def functor_of(term: Compound) -> Functor:
    """Return name and arity of a term."""
    return term.functor, len(term.arguments)


class Sorts:
    """The sorts of a set of rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._above: dict[Place, Place] = {}
        self._constants: dict[Place, set[Constant]] = defaultdict(set)
        self._functors: dict[Place, set[Functor]] = defaultdict(set)
        rules = list(rules)
        for number, rule in enumerate(rules):
            self._read(rule, number)
        self._numbers = {id(rule): number for number, rule in enumerate(rules)}

    def of(self, place: Place) -> Place:
        """Return the sort of a place."""
        while (above := self._above.get(place)) is not None:
            higher = self._above.get(above)
            if higher is not None:
                self._above[place] = higher  # path halving
            place = above
        return place

    def of_variable(self, rule: Rule, variable: Variable) -> Place:
        """Return the sort of a variable of one of the rules."""
        return self.of((self._numbers[id(rule)], variable))

    def of_arguments(self, functor: Functor) -> list[Place]:
        """Return the sorts of the arguments of a function."""
        return [self.of(("()", *functor, number)) for number in range(functor[1])]

    def inside(self, sort: Place) -> list[Place]:
        """Return a sort, and the sorts of all arguments inside its terms, each once."""
        return list(reached([sort], lambda each: chain(*map(self.of_arguments, sorted(self.functors(each))))))

    def constants(self, sort: Place) -> frozenset[Constant]:
        """Return the constants of a sort."""
        return frozenset(self._constants.get(sort, ()))

    def functors(self, sort: Place) -> frozenset[Functor]:
        """Return the functors of the compound terms of a sort."""
        return frozenset(self._functors.get(sort, ()))

    def _read(self, rule: Rule, number: int) -> None:
        for atom in atoms_of(rule):
            self._add(atom, number)
        for formula, _ in walk(rule.body):
            if isinstance(formula, Distinct):
                same = ("distinct", number, id(formula))
                self._add(Atom("distinct", (formula.left, formula.right)), number, (same, same))

    def _add(self, atom: Atom, number: int, own: tuple[Place, ...] | None = None) -> None:
        for each, places in lists_of(atom):
            here = own if own and each is atom else places
            for term, place in zip(each.arguments, here, strict=True):
                self._put(term, place, number)

    def _put(self, term: Term, place: Place, number: int) -> None:
        if isinstance(term, Variable):
            self._unite(place, (number, term))
        elif isinstance(term, Compound):
            self._functors[self.of(place)].add(functor_of(term))
        elif isinstance(term, Constant):
            self._constants[self.of(place)].add(term)

    def _unite(self, one: Place, other: Place) -> None:
        one, other = self.of(one), self.of(other)
        if one == other:
            return
        size = [len(self._constants.get(place, ())) for place in (one, other)]
        if size[0] < size[1]:
            one, other = other, one
        self._above[other] = one
        self._constants[one] |= self._constants.pop(other, set())
        self._functors[one] |= self._functors.pop(other, set())
