"""Data that the server and its worker process exchange: settings, findings, and possible values of places."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from anygame.doctor.mending import Fix
from anygame.language.limits import Limits, ReadingLimits
from anygame.language.rules import READ_AS
from anygame.language.terms import Constant
from anygame.sheets.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.domains import Domains, Functor

#: Path to a term: relation, arity and argument index. For each compound term around the term, its functor
#: (name and arity) and the argument index follow, as in `anygame.analysis.domains`.
Place = tuple[object, ...]
#: Maximum number of places; a sheet has several hundred places.
_MOST_PLACES: Final = 5_000
#: Maximum number of constants of a place: more than a large board has coordinates.
MOST_CONSTANTS: Final = 500
#: Maximum nesting of functions on a path; moves and fluents seldom have more than two levels.
_DEEPEST: Final = 3


@dataclass(slots=True)
class Values:
    """Constants and functions that can occur at a place; if ``complete``, no constant is missing."""

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
        """Return the intersection of two sets of values; an incomplete set excludes no constants."""
        if self.complete and other.complete:
            constants, complete = self.constants & other.constants, True
        else:
            smaller = self if self.complete or not other.complete else other
            constants, complete = smaller.constants, smaller.complete
        return Values(constants, self.functors & other.functors, complete)


class DomainTable:
    """The possible values of each place."""

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
        """Return the values of all places in the given relations, each a pair of name and arity."""
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
        """Return the places that fit a path: a relation, then functions, each with the index of an argument.

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
        """Return the table from the data of `as_json`."""
        return cls(
            {
                _place(place): Values(set(constants), {(name, arity) for name, arity in functors}, complete)
                for place, constants, functors, complete in data
            }
        )


def _place(parts: Iterable[Any]) -> Place:
    return tuple(tuple(part) if isinstance(part, list) else part for part in parts)


@dataclass(frozen=True, slots=True)
class Related:
    """A second place in the text, which explains a finding."""

    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic from offset ``start`` to ``end``.

    ``severity`` is 1 for an info, 2 for a warning, 3 for an error. ``message`` is a line about the fault,
    followed by lines with hints.
    """

    code: str
    severity: int
    message: str
    start: int
    end: int
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a sheet, and the possible values of its places, if known."""

    findings: tuple[Finding, ...] = ()
    domains: DomainTable = field(default_factory=DomainTable)

    def as_json(self) -> dict[str, Any]:
        """Return the findings as plain data."""
        return {"findings": [asdict(finding) for finding in self.findings], "domains": self.domains.as_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Findings:
        """Return the findings from the data of `as_json`."""
        return cls(tuple(map(_finding, data["findings"])), DomainTable.from_json(data["domains"]))


def _finding(data: dict[str, Any]) -> Finding:
    related = tuple(Related(**each) for each in data["related"])
    fixes = []
    for fix in data["fixes"]:
        edits = tuple(Edit(edit["start"], edit["end"], tuple(edit["pieces"])) for edit in fix["edits"])
        fixes.append(Fix(fix["title"], edits, tuple(fix["kinds"]), fix["sure"]))
    return Finding(**{**data, "related": related, "fixes": tuple(fixes)})


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an editor, in the section ``anygame``.

    Attributes:
        lenient: whether to allow variables that no positive literal binds.
        infos: whether to report infos, which are about style.
        play: whether to play a few random games if the rules have no error.
    """

    lenient: bool = False
    infos: bool = True
    play: bool = False

    def changed(self, values: object) -> Settings:
        """Return settings with the values of an editor, which can be inside ``{"anygame": {...}}``.

        >>> Settings().changed({"anygame": {"lenient": True, "colour": "red"}})
        Settings(lenient=True, infos=True, play=False)
        """
        if isinstance(values, dict) and isinstance(values.get("anygame"), dict):
            values = values["anygame"]
        if not isinstance(values, dict):
            return self
        names = [field.name for field in fields(self) if isinstance(values.get(field.name), bool)]
        known: dict[str, Any] = {name: values[name] for name in names}
        return replace(self, **known)


#: Limits on a sheet. The largest public sheets have 0.5 MB and 150,000 tokens.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=10.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, problems=200, seconds=10.0),
)
