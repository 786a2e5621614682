"""Evidence in the rules: arguments that name cells, and pairs of neighbouring cells.

Suppose that the coordinates of a cell are variables in one atom of a rule. If another atom of the rule
contains the variables in the same order, they name a cell there, too. Through further rules, the evidence
reaches further predicates.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.boards.finding.layout import split_name
from anygame.language.rules import atoms_of
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.boards.finding.layout import Layout, Square
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

_STATE: Final = frozenset({"true", "next", "init", "base"})
_MOVES: Final = frozenset({"legal", "does", "input"})
#: Maximum number of rules in a chain of evidence; longer chains are weak evidence.
_ROUNDS: Final = 5
#: Maximum number of rules that are searched for neighbouring cells.
_FACTS_LIMIT: Final = 50_000


class Predicate(NamedTuple):
    """A ``relation``, a ``fluent`` or a ``move``, with its name and number of arguments."""

    kind: str
    name: str
    arity: int


class Occurrence(NamedTuple):
    """A predicate in a rule, with its arguments."""

    predicate: Predicate
    arguments: tuple[Term, ...]


def _occurrence(atom: Atom) -> Occurrence | None:
    """Return the fluent or move in an atom; for other atoms, their relation."""
    inner: Term | None = None
    if atom.predicate in _STATE and len(atom.arguments) == 1:
        kind, inner = "fluent", atom.arguments[0]
    elif atom.predicate in _MOVES and len(atom.arguments) == 2:
        kind, inner = "move", atom.arguments[1]
    else:
        key = Predicate("relation", atom.predicate, len(atom.arguments))
        return Occurrence(key, atom.arguments)
    if not isinstance(inner, Compound):
        return None
    return Occurrence(Predicate(kind, inner.functor, len(inner.arguments)), inner.arguments)


def occurrences(atoms: Iterable[Atom], *keywords: str) -> Iterator[Occurrence]:
    """Yield the fluents, moves and relations in atoms, or only in atoms with the given keywords."""
    for atom in atoms:
        item = _occurrence(atom) if not keywords or atom.predicate in keywords else None
        if item is not None:
            yield item


def cell_places(rules: Iterable[Rule], layout: Layout) -> Mapping[Predicate, set[tuple[int, ...]]]:
    """Return, by predicate, the indices of arguments that name a cell, in the order of `Layout.key`."""
    places_of: dict[Predicate, set[tuple[int, ...]]] = defaultdict(set)
    places_of[Predicate("fluent", *layout.fluent)].add(layout.key)
    bodies = [list(occurrences(atoms_of(rule))) for rule in rules]
    for _ in range(_ROUNDS):
        before = sum(map(len, places_of.values()))
        for items in bodies:
            # Moves are not evidence, because the same move can refer to different boards.
            naming = [item for item in items if item.predicate.kind != "move"]
            cells = {cell for item in naming for cell in _cells(item, places_of.get(item.predicate, ()))}
            for item in items:
                for cell in cells:
                    places_of[item.predicate].update(_named(item.arguments, cell))
        if sum(map(len, places_of.values())) == before:
            break
    return {predicate: places for predicate, places in places_of.items() if places}


def _cells(item: Occurrence, places: Iterable[tuple[int, ...]]) -> Iterator[tuple[Term, ...]]:
    """Yield the arguments at each place that names a cell, if the arguments are distinct variables."""
    for place in places:
        cell = tuple(item.arguments[index] for index in place)
        if len(set(cell)) == len(cell) and all(isinstance(term, Variable) for term in cell):
            yield cell


def _named(arguments: Sequence[Term], cell: tuple[Term, ...]) -> Iterator[tuple[int, ...]]:
    for start in range(len(arguments) - len(cell) + 1):
        if tuple(arguments[start : start + len(cell)]) == cell:
            yield tuple(range(start, start + len(cell)))


def neighbours_in(
    rules: Sequence[Rule], domains: Sequence[Sequence[Term]]
) -> frozenset[tuple[Square, Square]]:
    """Return the pairs of squares in facts that contain two squares, such as ``(adjacent c3 c4)``.

    The result is empty unless exactly one of the domains has only values such as ``c3``.
    """
    named = [set(values) for values in domains if values and all(map(split_name, values))]
    if len(named) != 1:
        return frozenset()
    (names,) = named
    pairs = set()
    for rule in rules[:_FACTS_LIMIT]:
        cells = [argument for argument in rule.head.arguments if argument in names]
        if not rule.body and len(cells) == 2:
            one, other = (split_name(cell) for cell in cells)
            if one and other:
                pairs.add((one, other))
    return frozenset(pairs)
