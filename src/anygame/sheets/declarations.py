"""``base`` and ``input`` for sheets without them, from the domains of the rules.

The declarations are complete: no other fluent can be true, and no other move can be legal. Some declarations
may be superfluous, because domains treat arguments as independent. A move is declared only for the roles
whose `legal` rules allow it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count, product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.domains import Domains
from anygame.analysis.groups import grouped
from anygame.language.rules import Atom, Literal, Rule, atoms_in
from anygame.language.terms import Compound, Constant, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.analysis.domains import Functor, Path, Top
    from anygame.analysis.normal import NormalRule
    from anygame.language.rules import Program


class ValueRelations:
    """Unary relations, new or from a program; each relation holds for the constants of a set."""

    def __init__(self, program: Program) -> None:
        self._names = {rule.head.predicate.lower() for rule in program.rules}
        self._names |= {atom.predicate.lower() for rule in program.rules for atom, _ in atoms_in(rule.body)}
        self._facts: list[Rule] = []
        self._of: dict[frozenset[Constant], str] = {}
        unary = [rule for rule in program.rules if len(rule.head.arguments) == 1]
        derived = {rule.head.predicate for rule in unary if rule.body} | {"init", "next", "base"}
        for name, rules in grouped((rule.head.predicate, rule) for rule in unary).items():
            terms = {rule.head.arguments[0] for rule in rules}
            constants = frozenset([term for term in terms if isinstance(term, Constant)])
            if name not in derived and len(constants) == len(terms):
                self._of.setdefault(constants, name)

    def relation(self, constants: frozenset[Constant]) -> str:
        """Return the name of the relation that holds for a set of constants; create it if necessary."""
        if constants in self._of:
            return self._of[constants]
        name = self._of[constants] = self.new_name("domain1")
        ordered = sorted(constants, key=lambda constant: (len(str(constant)), str(constant)))
        self._facts += [Rule(Atom(name, (constant,))) for constant in ordered]
        return name

    def new_name(self, wanted: str) -> str:
        """Return the wanted name; if the name is already used, change the number at its end."""
        stem = wanted.rstrip("0123456789")
        name, number = wanted, 2
        while name.lower() in self._names:
            name, number = f"{stem}{number}", number + 1
        self._names.add(name.lower())
        return name

    def take_facts(self) -> list[Rule]:
        """Return the facts of relations that were created since the last call."""
        facts, self._facts = self._facts, []
        return facts


#: Maximum depth of nested terms.
_DEEPEST: Final = 3
#: Maximum number of shapes of the terms at one place.
_MOST_SHAPES: Final = 500
#: Maximum number of places in terms that are visited.
_MOST_PLACES: Final = 10_000
#: Maximum number of facts that declare instances of a head. A rule declares more instances.
_FEW: Final = 4


class _Shape(NamedTuple):
    """A functor and the possible values of its arguments."""

    functor: str
    arguments: tuple[_Part, ...]


#: The possible values of an argument: some constants, or the compound terms of one shape.
_Part = frozenset[Constant] | _Shape


class _TooManyShapesError(Exception):
    """Terms are nested too deeply, or in too many ways."""


def declarations(
    program: Program, rules: Sequence[NormalRule], names: Iterable[str]
) -> tuple[list[tuple[str, list[Rule]]], list[str]]:
    """Return the rules of ``base`` and ``input``, and a note for each name whose rules cannot be made."""
    domains = Domains(rules)
    relations = ValueRelations(program)
    made: list[tuple[str, list[Rule]]] = []
    notes = []
    for name in names:
        try:
            if name == "base":
                fluents = _shapes(domains, ("true", 1, 0), domains.tops("true", 1, 0), count())
                heads: list[tuple[_Part, ...]] = [(fluent,) for fluent in fluents]
            else:
                heads = _inputs(domains, rules)
        except _TooManyShapesError:
            notes.append(f"no {name} can be added: the terms nest without limit, or have too many shapes")
            continue
        rules_made = [rule for head in heads for rule in _rules_for(name, head, relations)]
        if rules_made:
            made.append((name, rules_made + relations.take_facts()))
    return made, notes


def _inputs(domains: Domains, rules: Iterable[NormalRule]) -> list[tuple[_Part, ...]]:
    """Return the shapes of moves, each with the roles for which such moves may be legal."""
    roles = domains.tops("role", 1, 0)
    roles_of: dict[Top, set[Constant]] = defaultdict(set)
    for rule in rules:
        if rule.head.key == ("legal", 2):
            values = domains.of_variables(rule)
            players = _tops(rule.head.arguments[0], values) & roles
            for top in _tops(rule.head.arguments[1], values):
                roles_of[top] |= {player for player in players if isinstance(player, Constant)}
    tops_for: dict[frozenset[Constant], set[Top]] = defaultdict(set)
    for top in domains.tops("does", 2, 1):
        if roles_of[top]:
            tops_for[frozenset(roles_of[top])].add(top)
    steps = count()
    return [
        (players, shape)
        for players, tops in sorted(tops_for.items(), key=lambda item: sorted(map(str, item[0])))
        for shape in _shapes(domains, ("does", 2, 1), frozenset(tops), steps)
    ]


def _tops(term: Term, values: Mapping[Variable, frozenset[Top]]) -> frozenset[Top]:
    if isinstance(term, Variable):
        return values.get(term, frozenset())
    if isinstance(term, Compound):
        return frozenset([(term.functor, len(term.arguments))])
    assert isinstance(term, Constant)
    return frozenset([term])


def _shapes(
    domains: Domains, path: Path, tops: frozenset[Top], steps: Iterator[int], depth: int = 0
) -> list[_Part]:
    """Return the possible shapes of terms at a place; ``steps`` counts visited places."""
    constants = frozenset([top for top in tops if isinstance(top, Constant)])
    shapes: list[_Part] = [constants] if constants else []
    functors: list[Functor] = sorted([top for top in tops if isinstance(top, tuple)])
    if (functors and depth == _DEEPEST) or next(steps) > _MOST_PLACES:
        raise _TooManyShapesError
    for functor in functors:
        columns = [
            _shapes(
                domains, (*path, functor, argument), domains.below(path, functor, argument), steps, depth + 1
            )
            for argument in range(functor[1])
        ]
        for arguments in product(*columns):
            shapes.append(_Shape(functor[0], arguments))
            if len(shapes) > _MOST_SHAPES:
                raise _TooManyShapesError
    return shapes


def _rules_for(name: str, head: tuple[_Part, ...], relations: ValueRelations) -> list[Rule]:
    """Return one rule, or a few facts, that declare all instances of a head."""
    if prod(map(_count, head)) <= _FEW:
        return [Rule(Atom(name, arguments)) for arguments in product(*map(_instances, head))]
    body: list[Literal] = []

    def term(part: _Part) -> Term:
        if isinstance(part, _Shape):
            return Compound(part.functor, tuple(map(term, part.arguments)))
        if len(part) == 1:
            return next(iter(part))
        variable = Variable(f"x{len(body) + 1}")
        body.append(Literal(Atom(relations.relation(part), (variable,))))
        return variable

    arguments = tuple(map(term, head))
    return [Rule(Atom(name, arguments), tuple(body))]


def _count(part: _Part) -> int:
    return len(part) if isinstance(part, frozenset) else prod(map(_count, part.arguments))


def _instances(part: _Part) -> list[Term]:
    if isinstance(part, frozenset):
        return sorted(part)
    return [Compound(part.functor, arguments) for arguments in product(*map(_instances, part.arguments))]
