"""Arrangement: where several boards of one layout stand, beside each other or as parts of one large board."""

from __future__ import annotations

from itertools import islice
from math import ceil, isqrt
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.axes import ordered
from anygame.boards.finding.cell_places import occurrence
from anygame.errors import AnygameError
from anygame.language.rules import Atom, atoms_in
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Cell, Layout, Place
    from anygame.game.state import State
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: Between the parts of one board, in cells.
_GAP: Final = 0.5
#: More boards than this are in no square, as four, nine or sixteen are.
_SQUARE_LIMIT: Final = 25
#: Boards that stand in one row; more could not be seen.
_ROW_LIMIT: Final = 4


def arrange(layout: Layout, axes: Sequence[Axis]) -> dict[tuple[Term, ...], tuple[int, int]]:
    """Return row and column of every board among its sisters, from the top left.

    Two arguments that distinguish boards are the coordinates of a board among its sisters, and run as
    coordinates on a board do. One that distinguishes four boards, or nine, does so in reading order.

    Args:
        layout: with more boards than one.
        axes: the values of the arguments of its fluent, in order, as far as they have one.
    """
    keys = list(layout.squares)
    if len(layout.boards) == 2:
        first_is_column = layout.column < layout.row
        indices = [_numbered(axes[index]) for index in layout.boards]
        if all(value in known for key in keys for value, known in zip(key, indices, strict=True)):
            found = {}
            for key in keys:
                one, two = (known[value] for value, known in zip(key, indices, strict=True))
                row, column = (two, one) if first_is_column else (one, two)
                height = len(indices[first_is_column])
                found[key] = (height - 1 - row if layout.upwards else row, column)
            return found
    side = isqrt(len(keys))
    if side > 1 and side * side == len(keys) <= _SQUARE_LIMIT:
        return {key: divmod(number, side) for number, key in enumerate(keys)}
    wide = len(keys) if len(keys) <= _ROW_LIMIT else ceil(len(keys) ** 0.5)
    return {key: divmod(number, wide) for number, key in enumerate(keys)}


def whole_board(layout: Layout, state: State, rules: Sequence[Rule]) -> dict[Cell, Place] | None:
    """Return where every cell lies on one large board, if a relation of the rules says it.

    Such a relation has the coordinates of a cell, its board included, and after them two more arguments that
    run over an order and are different for each cell.
    """
    size = len(layout.key)
    for name in sorted(_naming(layout, rules)):
        variables = tuple(Variable(f"?{number}") for number in range(size + 2))
        try:
            bindings = list(islice(state.query(Atom(name, variables)), layout.size + 1))
        except AnygameError:
            continue
        found = {tuple(binding[str(v)] for v in variables[:size]): binding for binding in bindings}
        across, up = (ordered(binding[str(v)] for binding in bindings) for v in variables[size:])
        points = {
            key: (binding[str(variables[size])], binding[str(variables[size + 1])])
            for key, binding in found.items()
        }
        if not (across and up and len(bindings) == layout.size == len(set(points.values()))):
            continue
        x, y = (_numbered(axis) for axis in (across, up))
        cells = {
            (board, square): points.get(layout.terms(board, square))
            for board, squares in layout.squares.items()
            for square in squares
        }
        if all(cells.values()):
            return {
                cell: _place(x[point[0]], y[point[1]], layout, len(up))
                for cell, point in cells.items()
                if point
            }
    return None


def side_by_side(layout: Layout) -> dict[Cell, Place]:
    """Return where every cell lies if the boards stand in rows and columns with a gap between them."""
    wide, high = len(layout.columns) + _GAP, len(layout.rows) + _GAP
    columns, rows = _numbered(layout.columns), _numbered(layout.rows)
    return {
        (board, square): (down[1] * wide + columns[square[1]], down[0] * high + rows[square[0]])
        for board, down in layout.arrangement.items()
        for square in layout.squares[board]
    }


def _numbered(axis: Axis) -> dict[Term, int]:
    return {value: number for number, value in enumerate(axis)}


def _place(first: int, second: int, layout: Layout, height: int) -> Place:
    """Return a place, where the two coordinates run as they do on a single board."""
    column, row = (first, second) if layout.column < layout.row else (second, first)
    return column, height - 1 - row if layout.upwards else row


def _naming(layout: Layout, rules: Iterable[Rule]) -> set[str]:
    """Return the relations that stand in a rule with the coordinates of a cell and two arguments more."""
    found = set()
    for rule in rules:
        atoms = [atom for atom, _ in atoms_in(rule.body)]
        cells = set()
        for atom in atoms:
            item = occurrence(atom)
            if item and item.predicate == ("fluent", layout.functor, layout.arity):
                cells.add(tuple(item.arguments[index] for index in layout.key))
        for atom in atoms:
            if len(atom.arguments) == len(layout.key) + 2 and atom.arguments[:-2] in cells:
                found.add(atom.predicate)
    return found
