"""The arrangement of several boards of one layout, apart or as parts of one board."""

from __future__ import annotations

from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Final

from anygame.analysis.axes import numbered, ordered
from anygame.boards.finding.evidence import occurrences
from anygame.errors import AnygameError
from anygame.language.rules import Atom, atoms_in
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.axes import Axis
    from anygame.boards.finding.layout import Cell, Layout, Place
    from anygame.game.state import State
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: The gap between the parts of one board, in cells.
_GAP: Final = 0.5
#: Maximum number of boards that form one row; more boards form a square.
_ROW_LIMIT: Final = 3


def arrange(layout: Layout, axes: Sequence[Axis]) -> dict[tuple[Term, ...], tuple[int, int]]:
    """Return row and column of each board among the others, from the top left.

    Two arguments that distinguish boards are their coordinates, with the directions of the coordinates of
    squares. A single argument distinguishes boards in reading order.

    Args:
        layout: a layout with several boards.
        axes: the ordered values of each argument of the fluent; empty for values without an order.
    """
    keys = list(layout.squares)
    if len(layout.boards) == 2:
        first_is_column = layout.column < layout.row
        indices = [numbered(axes[index]) for index in layout.boards]
        if all(value in known for key in keys for value, known in zip(key, indices, strict=True)):
            arrangement = {}
            for key in keys:
                one, two = (known[value] for value, known in zip(key, indices, strict=True))
                row, column = (two, one) if first_is_column else (one, two)
                height = len(indices[first_is_column])
                arrangement[key] = (height - 1 - row if layout.upwards else row, column)
            return arrangement
    wide = len(keys) if len(keys) <= _ROW_LIMIT else ceil(len(keys) ** 0.5)
    return {key: divmod(number, wide) for number, key in enumerate(keys)}


def whole_board(layout: Layout, state: State, rules: Sequence[Rule]) -> dict[Cell, Place] | None:
    """Return the place of each cell on one large board, if a relation of the rules gives it.

    The arguments of such a relation are the coordinates of a cell, including its board, and then two ordered
    coordinates on the large board that differ for each cell.
    """
    size = len(layout.key)
    for name in sorted(_naming(layout, rules)):
        variables = tuple(Variable(f"?{number}") for number in range(size + 2))
        try:
            bindings = list(islice(state.query(Atom(name, variables)), layout.size + 1))
        except AnygameError:
            continue
        rows = [tuple(binding[str(variable)] for variable in variables) for binding in bindings]
        points = {row[:size]: row[size:] for row in rows}
        across, up = (ordered(row[at] for row in rows) for at in (size, size + 1))
        if not (across and up and len(rows) == layout.size == len(set(points.values()))):
            continue
        x, y = numbered(across), numbered(up)
        cells = {
            (board, square): points.get(layout.terms(board, square))
            for board, squares in layout.squares.items()
            for square in squares
        }
        if all(cells.values()):
            places: dict[Cell, Place] = {}
            for cell, point in cells.items():
                assert point is not None
                first, second = x[point[0]], y[point[1]]
                column, row = (first, second) if layout.column < layout.row else (second, first)
                places[cell] = column, len(up) - 1 - row if layout.upwards else row
            return places
    return None


def side_by_side(layout: Layout) -> dict[Cell, Place]:
    """Return the place of each cell if the boards form rows and columns with gaps."""
    wide, high = len(layout.columns) + _GAP, len(layout.rows) + _GAP
    columns, rows = numbered(layout.columns), numbered(layout.rows)
    return {
        (board, square): (down[1] * wide + columns[square[1]], down[0] * high + rows[square[0]])
        for board, down in layout.arrangement.items()
        for square in layout.squares[board]
    }


def _naming(layout: Layout, rules: Iterable[Rule]) -> set[str]:
    """Return the relations whose arguments are the coordinates of a cell and two further terms."""
    names = set()
    for rule in rules:
        atoms = [atom for atom, _ in atoms_in(rule.body)]
        cells = {
            tuple(item.arguments[index] for index in layout.key)
            for item in occurrences(atoms)
            if item.predicate == ("fluent", *layout.fluent)
        }
        names |= {atom.predicate for atom in atoms if atom.arguments[:-2] in cells}
    return names
