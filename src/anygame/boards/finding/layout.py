"""Layouts: how the facts of one fluent lie on a board."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.boards.names import Side
    from anygame.language.terms import Term

__all__ = ["Boards", "Cell", "Content", "Layout", "Overlay", "Place", "Shape", "Square", "split_name"]

#: Row and column of a square.
Square = tuple["Term", "Term"]
#: A square with the board that it is on.
Cell = tuple[tuple["Term", ...], Square]
#: Where a cell lies: column and row from the top left, in cells.
Place = tuple[float, float]
#: What stands on a square: the remaining arguments of its fact, none for a mere mark.
Content = tuple["Term", ...]
#: ``hexagon``: rows are centred; ``slanted``: each row lies half a square further to the right.
Shape = Literal["square", "hexagon", "slanted"]

_SQUARE_NAME: Final = re.compile(r"([A-Za-z]+)([0-9]+)")


@dataclass(frozen=True, slots=True)
class Overlay:
    """Another fluent that lies on the cells of a board, or facts of the rules that do.

    Attributes:
        functor: the fluent, or the relation.
        arity: its number of arguments.
        key: the arguments that name a cell, in the order of `Layout.key`.
        contents: the argument that says what lies there; none where the name of the fluent says it.
        values: what may lie there, as far as it is known.
        side: the side of its cell on which it stands; None where it lies on the cell.
        sign: what stands on the side, empty for a wall.
        sides: the sides that contents name; empty where they lie on the cell.
        fixed: the facts, where they are the same in all states.
    """

    functor: str
    arity: int
    key: tuple[int, ...]
    contents: tuple[int, ...]
    values: tuple[Content, ...] = ()
    side: Side | None = None
    sign: str = ""
    sides: Mapping[Content, Side] = field(default_factory=dict)
    fixed: tuple[Compound, ...] = ()

    def holds(self, fact: Term) -> bool:
        """Whether a fact is one of this fluent."""
        return isinstance(fact, Compound) and (fact.functor, len(fact.arguments)) == (
            self.functor,
            self.arity,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """How the facts of one fluent lie on one or several boards.

    Attributes:
        functor: the fluent.
        arity: its number of arguments.
        row: the argument that names the row, from 0.
        column: the argument that names the column; equal to ``row`` where one names both, as ``c3`` does.
        boards: the arguments that tell several boards apart.
        contents: the arguments that say what stands there.
        rows: the rows from top to bottom.
        upwards: whether the first row is at the bottom.
        columns: the columns from left to right.
        squares: for every board, by its values of ``boards``, the squares it has.
        shape: how rows lie to each other.
        offsets: for every row, how far it is shifted to the right, in half squares (perhaps negative).
        values: every content that may stand on a square, sorted by text.
        blank: the content that means an empty square, if there is one.
        arrangement: row and column of every board among its sisters; empty for a single one.
        places: where the cells of all boards lie on one large board; empty where boards are apart.
        overlays: what else lies on the squares.
        sides: the sides of a square that contents name: such facts are walls.
    """

    functor: str
    arity: int
    row: int
    column: int
    boards: tuple[int, ...]
    contents: tuple[int, ...]
    rows: tuple[Constant, ...]
    upwards: bool
    columns: tuple[Constant, ...]
    squares: Mapping[tuple[Term, ...], frozenset[Square]]
    shape: Shape
    offsets: tuple[int, ...]
    values: tuple[Content, ...] = ()
    blank: Content | None = None
    arrangement: Mapping[tuple[Term, ...], tuple[int, int]] = field(default_factory=dict)
    places: Mapping[Cell, Place] = field(default_factory=dict)
    overlays: tuple[Overlay, ...] = ()
    sides: Mapping[Content, Side] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, ...]:
        """The arguments that name a cell, the board that it is on included, in their order."""
        return tuple(sorted({*self.boards, self.row, self.column}))

    def fluents(self) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        """Yield the fluents that lie on this board, each with its arguments that name a cell."""
        yield self.functor, self.arity, self.key
        for overlay in self.overlays:
            if not overlay.fixed:
                yield overlay.functor, overlay.arity, overlay.key

    @property
    def size(self) -> int:
        """The number of squares, all boards together."""
        return sum(map(len, self.squares.values()))

    def holds(self, fact: Term) -> bool:
        """Whether the fact is one of this layout's fluent and lies on its board."""
        if not isinstance(fact, Compound) or (fact.functor, len(fact.arguments)) != (
            self.functor,
            self.arity,
        ):
            return False
        square = self.square(fact)
        return square is not None and square[0] in self.rows and square[1] in self.columns

    def covers(self, fact: Term) -> bool:
        """Whether the fact lies on this board, be it one of its own fluent or of an overlay."""
        return self.holds(fact) or any(
            overlay.holds(fact) and self.locate(overlay, fact) is not None for overlay in self.overlays
        )

    def locate(self, overlay: Overlay, fact: Term) -> tuple[tuple[Term, ...], Square] | None:
        """Return the board and the square on which a fact of an overlay lies; None where it lies on none."""
        assert isinstance(fact, Compound)
        given = dict(zip(self.key, (fact.arguments[index] for index in overlay.key), strict=True))
        board = tuple(given[index] for index in self.boards)
        square = (
            (given[self.row], given[self.column]) if self.row != self.column else split_name(given[self.row])
        )
        on = square is not None and square in self.squares.get(board, ())
        return (board, square) if on and square is not None else None

    def square(self, fact: Compound) -> Square | None:
        """Return row and column of a fact of this fluent."""
        if self.row != self.column:
            return fact.arguments[self.row], fact.arguments[self.column]
        return split_name(fact.arguments[self.row])

    def place(self, facts: Iterable[Term]) -> dict[tuple[Term, ...], dict[Square, list[Compound]]]:
        """Return the facts on every square of every board, sorted, in the order of ``squares``."""
        placed: dict[tuple[Term, ...], dict[Square, list[Compound]]] = {
            key: {square: [] for square in squares} for key, squares in self.squares.items()
        }
        for fact in sorted(fact for fact in facts if self.holds(fact)):
            assert isinstance(fact, Compound)
            square = self.square(fact)
            assert square is not None
            key = tuple(fact.arguments[index] for index in self.boards)
            placed.setdefault(key, {}).setdefault(square, []).append(fact)
        return placed

    def content(self, fact: Compound) -> Content:
        """Return what a fact of this fluent says of its square."""
        return tuple(fact.arguments[index] for index in self.contents)

    def terms(self, board: tuple[Term, ...], square: Square) -> tuple[Term, ...]:
        """Return the coordinates of a square as the arguments of ``key`` give them."""
        row, column = square
        if self.row == self.column:
            row = Constant(f"{row}{column}")
        given = {self.row: row, self.column: column} if self.row != self.column else {self.row: row}
        given |= dict(zip(self.boards, board, strict=True))
        return tuple(given[index] for index in self.key)


@dataclass(frozen=True, slots=True)
class Boards:
    """The boards of a game.

    Attributes:
        layouts: in the order in which they are shown.
        notes: why a hint was not followed, or why no board was looked for; for people.
    """

    layouts: tuple[Layout, ...] = ()
    notes: tuple[str, ...] = ()

    def others(self, facts: Iterable[Term]) -> tuple[Term, ...]:
        """Return the facts that lie on no board, sorted."""
        return tuple(
            sorted(fact for fact in facts if not any(layout.covers(fact) for layout in self.layouts))
        )


def split_name(name: Term) -> Square | None:
    """Split the name of a square, such as ``c3``, into row ``c`` and column ``3``."""
    match = _SQUARE_NAME.fullmatch(name.name) if isinstance(name, Constant) else None
    return (Constant(match[1]), Constant(match[2])) if match else None
