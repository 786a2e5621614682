"""The possible values of each place, for completion: plain data that another process computes.

The values of a place are the constants and functions that can occur there, in a bounded number.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from anygame.language.rules import READ_AS
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.domains import Domains, Functor

#: Path to a term: relation, arity, and number of the argument. For each compound term around the term, its
#: function with the arity and the number of the argument follow, as in `anygame.analysis.domains`.
Place = tuple[object, ...]
#: Maximum number of places; a sheet has several hundred.
_MOST_PLACES: Final = 5_000
#: Maximum number of constants of a place: more than the numbers of a large board.
MOST_CONSTANTS: Final = 500
#: Maximum depth inside terms; moves and fluents are seldom deeper than two.
_DEEPEST: Final = 3


@dataclass(slots=True)
class Values:
    """Constants and functions that can occur at a place.

    Attributes:
        functors: names with arities.
        complete: whether ``constants`` contains all constants.
    """

    constants: set[str] = field(default_factory=set)
    functors: set[Functor] = field(default_factory=set)
    complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.constants or self.functors)

    def merged(self, other: Values) -> Values:
        """Return the union of two sets of values."""
        is_complete = self.complete and other.complete
        return Values(self.constants | other.constants, self.functors | other.functors, is_complete)

    def common(self, other: Values) -> Values:
        """Return the intersection of two sets of values; incomplete constants exclude nothing."""
        if self.complete and other.complete:
            constants, complete = self.constants & other.constants, True
        else:
            smaller = self if self.complete or not other.complete else other
            constants, complete = smaller.constants, smaller.complete
        return Values(constants, self.functors & other.functors, complete)


class DomainTable:
    """The values of places."""

    def __init__(self, values: dict[Place, Values] | None = None) -> None:
        self._values = values or {}
        self._arities: dict[str, set[int]] = defaultdict(set)
        for place in self._values:
            match place:
                case (str(relation), int(arity), _):
                    self._arities[relation].add(arity)

    def __bool__(self) -> bool:
        return bool(self._values)

    @classmethod
    def of(cls, domains: Domains, relations: Iterable[tuple[str, int]]) -> DomainTable:
        """Return the values of the places in relations, given by name and arity."""
        values: dict[Place, Values] = {}
        pending: list[tuple[Place, frozenset[Any], int]] = [
            ((name, arity, number), domains.tops(name, arity, number), 0)
            for name, arity in relations
            for number in range(arity)
        ]
        while pending and len(values) < _MOST_PLACES:
            place, tops, depth = pending.pop(0)
            constants = sorted(top.name for top in tops if isinstance(top, Constant))
            functors = sorted(top for top in tops if not isinstance(top, Constant))
            values[place] = Values(
                set(constants[:MOST_CONSTANTS]), set(functors), len(constants) <= MOST_CONSTANTS
            )
            if depth < _DEEPEST:
                pending += [
                    ((*place, functor, number), domains.below(place, functor, number), depth + 1)
                    for functor in functors
                    for number in range(functor[1])
                ]
        return cls(values)

    def at(self, place: Place) -> Values:
        """Return the values of a place."""
        return self._values.get(place, Values())

    def resolve(self, steps: Sequence[tuple[str, int]]) -> list[Place]:
        """Return the places with a path: a relation and the index of an argument, then functions likewise.

        The path has no arities, because a list that is being typed can lack arguments.
        """
        if not steps:
            return []
        (name, number), *inner_steps = steps
        places: list[Place] = [
            (relation, arity, number)
            for relation in dict.fromkeys((name, READ_AS.get(name, name)))
            for arity in sorted(self._arities[relation])
            if arity > number
        ]
        for functor, argument in inner_steps:
            places = [
                (*place, (functor, arity), argument)
                for place in places
                for name, arity in sorted(self.at(place).functors)
                if name == functor and arity > argument
            ]
        return places

    def as_json(self) -> list[Any]:
        """Return the table as plain data."""
        return [
            [list(place), sorted(values.constants), sorted(values.functors), values.complete]
            for place, values in self._values.items()
        ]

    @classmethod
    def from_json(cls, data: Iterable[Any]) -> DomainTable:
        """Return the table that `as_json` made plain."""
        return cls(
            {
                _place(place): Values(set(constants), {(name, arity) for name, arity in functors}, complete)
                for place, constants, functors, complete in data
            }
        )


def _place(parts: Iterable[Any]) -> Place:
    return tuple(tuple(part) if isinstance(part, list) else part for part in parts)
