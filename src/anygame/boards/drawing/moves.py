"""The cells that the moves of a game name, inferred from the rules."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from anygame.boards.finding.evidence import occurrences
from anygame.language.rules import atoms_in
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.boards.drawing.pictures import Known
    from anygame.boards.finding.layout import Board, Layout
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

#: An argument: the kind, name and arity of a predicate, and the index of the argument.
_Place: TypeAlias = "tuple[str, str, int, int]"
#: A coordinate: the number of a layout, and an index in the layout's key.
_Coordinate: TypeAlias = "tuple[int, int]"
#: An argument, and the variable that stands there.
_Occurrence: TypeAlias = "tuple[_Place, Variable]"
#: Relations that declare fluents or moves; rules for these relations are not evidence.
_DECLARED: Final = frozenset({"base", "input"})
#: Maximum number of rules in a chain from a fluent to `legal`; longer chains are weak evidence.
_ROUNDS: Final = 6


class MoveReader:
    """Infers which cells the arguments of a move name.

    Suppose that a fluent in a rule body has a variable as a coordinate. If an argument of the rule head is
    the same variable, the argument is also a coordinate. In this way, coordinates propagate to ``legal``, and
    from rules for ``next`` to ``does``. Consecutive arguments name a cell if they are the coordinates of a
    cell in the order of `Layout.key`. In ``(move wp ?u ?v ?x ?y)``, arguments 2 and 3 name a cell, and so do
    arguments 4 and 5. If a move has no such evidence, consecutive arguments name the cell that has their
    values as coordinates.
    """

    def __init__(self, rules: Sequence[Rule], layouts: Sequence[Board]) -> None:
        self._sizes = [len(layout.key) for layout in layouts]
        self._coordinates = _spread(rules, layouts)

    def cells(
        self, move: Term, known: Known
    ) -> tuple[tuple[str, ...], tuple[tuple[int, dict[int, Term]], ...]]:
        """Return the ids of the cells that a move names, in the order of arguments.

        Some moves name only single coordinates, such as a column. If a move names coordinates in a layout but
        no cell, the second result contains the number of the layout and the coordinates. The coordinates are
        given by their index in the key of the layout.
        """
        if not isinstance(move, Compound):
            return (), ()
        places = [
            self._coordinates.get(("move", move.functor, len(move.arguments), index), frozenset())
            for index in range(len(move.arguments))
        ]
        all_cells: list[str] = []
        alone: list[tuple[int, dict[int, Term]]] = []
        # For each argument, the number of coordinates of the cell that it helps to name, or 0.
        named = [0] * len(places)
        for layout, size in sorted(enumerate(self._sizes), key=lambda item: -item[1]):
            free = [number <= size for number in named]
            cells: list[str] = []
            rest: dict[int, Term] = {}
            index = 0
            while index < len(places):
                cell = known.get((layout, move.arguments[index : index + size]))
                window = range(index, index + size)
                if cell and all(free[at] and (layout, at - index) in places[at] for at in window):
                    cells.append(cell)
                    named[index : index + size] = [size] * size
                    index += size
                    continue
                if free[index]:
                    for number, which in sorted(places[index]):
                        if number == layout:
                            rest.setdefault(which, move.arguments[index])
                index += 1
            all_cells += cells
            if rest and not cells:
                alone.append((layout, rest))
        if not all_cells and not any(places):
            all_cells = self._by_value(move.arguments, known)
        return tuple(all_cells), tuple(alone)

    def names_columns(self, number: int, layout: Layout) -> bool:
        """Return whether moves name only columns of a board, as in games where pieces fall."""
        named: dict[tuple[str, int], set[int]] = defaultdict(set)
        for (kind, functor, arity, _), coordinates in self._coordinates.items():
            for board, which in coordinates if kind == "move" else ():
                if board == number:
                    named[functor, arity].add(which)
        if len(layout.key) < 2:
            return False
        column = {layout.key.index(layout.column)}
        return bool(named) and all(coordinates == column for coordinates in named.values())

    def _by_value(self, arguments: Sequence[Term], known: Known) -> list[str]:
        """Return the cells whose coordinates (at least two) are consecutive arguments."""
        cells: list[str] = []
        index = 0
        while index < len(arguments):
            for layout, size in enumerate(self._sizes):
                cell = known.get((layout, tuple(arguments[index : index + size])))
                if cell is not None and size > 1:
                    cells.append(cell)
                    index += size - 1
                    break
            index += 1
        return cells


def _spread(rules: Sequence[Rule], layouts: Sequence[Board]) -> dict[_Place, frozenset[_Coordinate]]:
    """Return the coordinates that each argument can represent, from the evidence of all rules."""
    coordinates_of: dict[_Place, set[_Coordinate]] = defaultdict(set)
    for number, layout in enumerate(layouts):
        for functor, arity, key in layout.fluents():
            for which, index in enumerate(key):
                coordinates_of["fluent", functor, arity, index].add((number, which))
    fixed = set(coordinates_of)
    flows = [_flow(rule, fixed) for rule in rules]
    for _ in range(_ROUNDS):
        before = sum(map(len, coordinates_of.values()))
        for sources, targets in flows:
            learned: dict[Variable, set[_Coordinate]] = defaultdict(set)
            for place, variable in sources:
                learned[variable] |= coordinates_of.get(place, set())
            for place, variable in targets:
                if learned[variable]:
                    coordinates_of[place] |= learned[variable]
        if sum(map(len, coordinates_of.values())) == before:
            break
    return {place: frozenset(coordinates) for place, coordinates in coordinates_of.items()}


def _flow(rule: Rule, fixed: set[_Place]) -> tuple[list[_Occurrence], list[_Occurrence]]:
    """Return two lists of occurrences of variables: those that provide and those that receive evidence."""
    head = list(_places(rule.head))
    body = [occurrence for atom, _ in atoms_in(rule.body) for occurrence in _places(atom)]
    given = [(place, variable) for place, variable in head if place in fixed]
    learning = [(place, variable) for place, variable in head if place not in fixed]
    return body + given, learning + [(place, variable) for place, variable in body if place[0] == "move"]


def _places(atom: Atom) -> Iterator[_Occurrence]:
    """Yield the variables in an atom, each with its argument."""
    for item in occurrences([] if atom.predicate in _DECLARED else [atom]):
        for index, argument in enumerate(item.arguments):
            if isinstance(argument, Variable):
                yield (*item.predicate, index), argument
