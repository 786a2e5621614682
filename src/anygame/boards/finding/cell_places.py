"""Cell places: which arguments of which relations and fluents name the cells of a board.

Where the coordinates of a board stand in a fact as variables, and the same variables stand in another atom of
the same rule, one after the other, they name a cell there too. What was learned so shows more, from rule to
rule.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.language.rules import atoms_in
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

_STATE: Final = frozenset({"true", "next", "init", "base"})
_MOVES: Final = frozenset({"legal", "does", "input"})
#: Chains of rules are short; a place that only a longer one finds is not sure.
_ROUNDS: Final = 5


class Predicate(NamedTuple):
    """A relation, a fluent or a move: its kind, name and number of arguments."""

    kind: str
    name: str
    arity: int


class Occurrence(NamedTuple):
    """Arguments of a predicate in a rule."""

    predicate: Predicate
    arguments: tuple[Term, ...]


def occurrence(atom: Atom) -> Occurrence | None:
    """Return what an atom is about: the fluent or the move in it, or its own relation."""
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


def cell_places(
    rules: Iterable[Rule], fluent: str, arity: int, key: Sequence[int]
) -> Mapping[Predicate, set[tuple[int, ...]]]:
    """Return where the cells of a board are named.

    Args:
        rules: of the game.
        fluent: that lies on the board.
        arity: its number of arguments.
        key: its arguments that name a cell.

    Returns:
        For each predicate the arguments that name a cell, in the order of ``key``, perhaps several times.
    """
    found: dict[Predicate, set[tuple[int, ...]]] = defaultdict(set)
    found[Predicate("fluent", fluent, arity)].add(tuple(key))
    bodies = [list(_occurrences(rule)) for rule in rules]
    for _ in range(_ROUNDS):
        before = sum(map(len, found.values()))
        for occurrences in bodies:
            # Boards that are played on by the same moves need not be one.
            naming = [item for item in occurrences if item.predicate.kind != "move"]
            cells = {cell for item in naming for cell in _cells(item, found.get(item.predicate, ()))}
            for item in occurrences:
                for cell in cells:
                    found[item.predicate].update(_named(item.arguments, cell))
        if sum(map(len, found.values())) == before:
            break
    return {predicate: places for predicate, places in found.items() if places}


def _occurrences(rule: Rule) -> Iterator[Occurrence]:
    for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
        found = occurrence(atom)
        if found is not None:
            yield found


def _cells(item: Occurrence, places: Iterable[tuple[int, ...]]) -> Iterator[tuple[Term, ...]]:
    """Yield the variables that name a cell there; a variable in two coordinates names none for sure."""
    for place in places:
        cell = tuple(item.arguments[index] for index in place)
        if len(set(cell)) == len(cell) and all(isinstance(term, Variable) for term in cell):
            yield cell


def _named(arguments: Sequence[Term], cell: tuple[Term, ...]) -> Iterator[tuple[int, ...]]:
    for start in range(len(arguments) - len(cell) + 1):
        if tuple(arguments[start : start + len(cell)]) == cell:
            yield tuple(range(start, start + len(cell)))
