"""Which places hold values of one sort: those that rules join by a variable, directly or by others.

GDL has no types; what a variable stands for in two places of a rule is of one sort in both, as in the
inference of types for logic programs (Mycroft and O'Keefe, "A polymorphic type system for Prolog", 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.sheet import atoms_of, key_of
from anygame.language.rules import KEYWORDS, READ_AS, Distinct, walk
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.rules import Atom, Rule
    from anygame.language.source import Node
    from anygame.language.terms import Term

#: A relation, a fluent, a move or another term, and the number of the argument.
Place = tuple[object, int]
_OF_STATE: Final = READ_AS | {"true": "true", "does": "does"}
_ROLE: Final[Place] = ("role", 0)
_ROLE_FIRST: Final = frozenset(word for word, arity in KEYWORDS.items() if arity == 2)


def lists_of(atom: Atom) -> Iterator[tuple[Atom | Compound, tuple[Place, ...]]]:
    """Yield an atom, and each term in it that has arguments, with the places of these."""
    what: object = atom.key
    if KEYWORDS.get(atom.predicate) == len(atom.arguments):
        what = _OF_STATE.get(atom.predicate, atom.predicate)
    places = tuple((what, number) for number in range(len(atom.arguments)))
    if places and atom.predicate in _ROLE_FIRST:
        places = (_ROLE, *places[1:])
    yield atom, places
    pending = [(what, term) for term in atom.arguments if isinstance(term, Compound)]
    while pending:
        above, term = pending.pop()
        name = above, key_of(term)
        yield term, tuple((name, number) for number in range(len(term.arguments)))
        pending += [("", inner) for inner in term.arguments if isinstance(inner, Compound)]


def constants_in(atom: Atom) -> Iterator[tuple[Place, Constant, Node]]:
    """Yield the constants of an atom that was read from a text, with their places here and there."""
    nodes: dict[int, Node] = {id(atom): atom.node} if atom.node else {}
    for each, places in lists_of(atom):
        node = nodes.get(id(each))
        for term, place, child in zip(
            each.arguments, places, ((node and node.children) or ())[1:], strict=False
        ):
            if isinstance(term, Constant):
                yield place, term, child
            else:
                nodes[id(term)] = child


class Sorts:
    """The sorts of the places in some rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._above: dict[Place, Place] = {}
        for rule in rules:
            if rule.body:
                self._join(rule)

    def of(self, place: Place) -> Place:
        """Return what stands for the sort of a place."""
        found = place
        while (above := self._above.get(found, found)) != found:
            found = above
        while place != found:
            self._above[place], place = found, self._above[place]
        return found

    def _join(self, rule: Rule) -> None:
        first: dict[Term, Place] = {}
        for atom in atoms_of(rule):
            for each, places in lists_of(atom):
                for term, place in zip(each.arguments, places, strict=True):
                    if isinstance(term, Variable):
                        self._unite(first.setdefault(term, place), place)
        for formula, _ in walk(rule.body):
            if isinstance(formula, Distinct) and {formula.left, formula.right} <= first.keys():
                self._unite(first[formula.left], first[formula.right])

    def _unite(self, one: Place, other: Place) -> None:
        one, other = self.of(one), self.of(other)
        if one != other:
            self._above[one] = other
