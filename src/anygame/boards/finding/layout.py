"""Layouts: the cells of boards, and the arguments of facts that name cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.boards.names import Side
    from anygame.language.terms import Term

#: Row and column of a square.
Square = tuple["Term", "Term"]
#: A board, given by the arguments that distinguish boards, and a square on this board.
Cell = tuple[tuple["Term", ...], Square]
#: The place of a cell: the distances from the left and from the top of the board, in cells.
Place = tuple[float, float]
#: The facts on each square of each board.
Placed = dict[tuple["Term", ...], dict[Square, list[Compound]]]
#: The content of a square: the arguments of a fact that do not name the square. The content is empty if the
#: fact only marks the square.
Content = tuple["Term", ...]
#: The rows of a ``hexagon`` are centred. Each row of a ``slanted`` board is shifted half a square further to
#: one side. A ``track`` has rows of numbered places.
Shape = Literal["square", "hexagon", "slanted", "track"]
#: The name of the row of a track with one row.
ONLY_ROW: Final = Constant("")

_SQUARE_NAME: Final = re.compile(r"([A-Za-z]+)([0-9]+)")


class _OnBoard:
    """A fluent whose facts lie on a board."""

    __slots__ = ()
    functor: str
    arity: int
    contents: tuple[int, ...]

    @property
    def fluent(self) -> tuple[str, int]:
        """The fluent by name and arity."""
        return self.functor, self.arity

    def content(self, fact: Compound) -> Content:
        """Return the content of the cell of a fact."""
        return tuple(fact.arguments[index] for index in self.contents)


@dataclass(frozen=True, slots=True)
class Overlay(_OnBoard):
    """A fluent, or a relation of facts, whose facts are drawn on the cells of another fluent's board."""

    #: Name of the fluent or relation.
    functor: str
    arity: int
    #: The arguments that name a cell, in the order of `Layout.key`.
    key: tuple[int, ...]
    #: The argument that names the content; empty if the name of the fluent is the content.
    contents: tuple[int, ...]
    #: The known possible contents.
    values: tuple[Content, ...] = ()
    #: The side of the cell on which the fact is drawn; None for a fact on the cell itself.
    side: Side | None = None
    #: The text on the side of the cell; empty for a wall.
    sign: str = ""
    #: The side that each content names; empty if contents are drawn on the cell.
    sides: Mapping[Content, Side] = field(default_factory=dict)
    #: The facts of a relation; empty for a fluent.
    fixed: tuple[Compound, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout(_OnBoard):
    """The boards on which the facts of one fluent lie.

    Attributes:
        row: index of the argument that names the row.
        column: index of the argument that names the column. If one argument names a whole square, such as
            ``c3``, or if a track has one row, both indices are equal.
        boards: indices of the arguments that distinguish several boards.
        contents: indices of the arguments that name the content of a square.
        rows: the rows from top to bottom.
        upwards: whether the first row is at the bottom.
        columns: the columns from left to right.
        squares: the squares of each board, by the values of the arguments in ``boards``.
        shape: ``square``, ``hexagon``, ``slanted`` or ``track``.
        offsets: shift of each row to the right, in half squares (possibly negative).
        values: all possible contents of a square, sorted by text.
        blank: the content that means an empty square, if there is one.
        started: the contents in the initial state.
        arrangement: row and column of each board in the arrangement of boards; empty for a single board.
        places: the places of the cells of all boards on one large board; empty for separate boards.
        overlays: other fluents on the squares.
        sides: the side of a square that each content names; facts with such contents are walls.
        joined: names of two fluents whose last arguments are the column and the row of a thing, as in
            ``(x rover 3)`` and ``(y rover 4)``. With such fluents, ``functor`` is not the name of a fluent.
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
    started: frozenset[Content] = frozenset()
    arrangement: Mapping[tuple[Term, ...], tuple[int, int]] = field(default_factory=dict)
    places: Mapping[Cell, Place] = field(default_factory=dict)
    overlays: tuple[Overlay, ...] = ()
    sides: Mapping[Content, Side] = field(default_factory=dict)
    joined: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[int, ...]:
        """The arguments that name a cell and its board, in ascending order."""
        return tuple(sorted({*self.boards, self.row, self.column}))

    def fluents(self) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        """Yield the fluents on this board, each with the arguments that name a cell."""
        if not self.joined:
            yield self.functor, self.arity, self.key
        for overlay in self.overlays:
            if not overlay.fixed:
                yield overlay.functor, overlay.arity, overlay.key

    @property
    def size(self) -> int:
        """The number of squares of all boards."""
        return sum(map(len, self.squares.values()))

    def covers(self, fact: Term) -> bool:
        """Return whether a fact of the board's fluent or of an overlay lies on this board."""
        if self.joined:
            return fluent_of(fact) in [(functor, self.arity - 1) for functor in self.joined]
        return self.find(fact) is not None

    def find(self, fact: Term) -> tuple[Layout | Overlay, Cell] | None:
        """Return the fluent and the cell of a fact; None if the fact lies on no cell."""
        wanted = fluent_of(fact)
        parts: tuple[Layout | Overlay, ...] = (self, *self.overlays)
        for fluent in parts:
            if fluent.fluent == wanted:
                cell = self.locate(fluent, cast("Compound", fact))
                if cell is not None:
                    return fluent, cell
        return None

    def locate(self, fluent: Layout | Overlay, fact: Compound) -> Cell | None:
        """Return the cell of a fact of the board's fluent or of an overlay; None if the fact lies on no cell.

        Facts of the board's fluent can lie outside of ``squares``, but only in known rows and columns.
        """
        given = dict(zip(self.key, (fact.arguments[index] for index in fluent.key), strict=True))
        board = tuple(given[index] for index in self.boards)
        square: Square | None = given[self.row], given[self.column]
        if self.row == self.column:
            name = given[self.column]
            square = (ONLY_ROW, name) if self.shape == "track" else split_name(name)
        if square is None:
            return None
        fits = square[0] in self.rows and square[1] in self.columns
        is_on = fits if fluent is self else square in self.squares.get(board, ())
        return (board, square) if is_on else None

    def place(self, facts: Iterable[Term]) -> Placed:
        """Return the sorted facts on each square of each board, in the order of ``squares``."""
        facts = self._pairs(facts) if self.joined else facts
        placed: Placed = {key: {square: [] for square in squares} for key, squares in self.squares.items()}
        for fact in sorted(fact for fact in facts if fluent_of(fact) == self.fluent):
            own = cast("Compound", fact)
            cell = self.locate(self, own)
            if cell is not None:
                placed.setdefault(cell[0], {}).setdefault(cell[1], []).append(own)
        return placed

    def _pairs(self, facts: Iterable[Term]) -> list[Term]:
        """Return one fact for each thing, with both coordinates of the thing; see `joined`."""
        across, up = self.joined
        rows: dict[tuple[Term, ...], list[Term]] = {}
        columns: list[tuple[Term, ...]] = []
        for fact in facts:
            if fluent_of(fact) == (up, self.arity - 1):
                *thing, row = cast("Compound", fact).arguments
                rows.setdefault(tuple(thing), []).append(row)
            elif fluent_of(fact) == (across, self.arity - 1):
                columns.append(cast("Compound", fact).arguments)
        return [
            Compound(self.functor, (*arguments, row))
            for arguments in columns
            for row in rows.get(arguments[:-1], ())
        ]

    def terms(self, board: tuple[Term, ...], square: Square) -> tuple[Term, ...]:
        """Return the arguments that name a square, in the order of ``key``."""
        row, column = square
        if self.row == self.column and self.shape != "track":
            column = Constant(f"{row}{column}")
        given = {self.row: row} | {self.column: column}
        given |= dict(zip(self.boards, board, strict=True))
        return tuple(given[index] for index in self.key)


@dataclass(frozen=True, slots=True)
class Lines(_OnBoard):
    """A grid of dots in which each fact of one fluent is a line between neighbouring dots."""

    functor: str
    arity: int
    #: The four arguments that name a line: both coordinates of each dot.
    key: tuple[int, ...]
    #: The arguments that name the owner of the line.
    contents: tuple[int, ...]
    #: The values of the first coordinate, from left to right.
    across: tuple[Constant, ...]
    #: The values of the second coordinate, from bottom to top.
    up: tuple[Constant, ...]
    #: The possible contents of lines.
    values: tuple[Content, ...] = ()

    def fluents(self) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        """Yield the fluents whose arguments name a line."""
        yield self.functor, self.arity, self.key

    def covers(self, fact: Term) -> bool:
        """Return whether a fact is a line of this grid."""
        return self.line(fact) is not None

    def line(self, fact: Term) -> tuple[Term, ...] | None:
        """Return the coordinates of a fact's line; None if the fact is not a line of this grid."""
        if not isinstance(fact, Compound) or fluent_of(fact) != self.fluent:
            return None
        ends = tuple(fact.arguments[index] for index in self.key)
        return ends if self.places(ends) else None

    def places(self, ends: tuple[Term, ...]) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return column and row of both dots, from the lower left; None unless the dots are neighbours."""
        try:
            x1, x2 = (self.across.index(ends[which]) for which in (0, 2))
            y1, y2 = (self.up.index(ends[which]) for which in (1, 3))
        except ValueError:
            return None
        return ((x1, y1), (x2, y2)) if abs(x1 - x2) + abs(y1 - y2) == 1 else None


Board = Layout | Lines


@dataclass(frozen=True, slots=True)
class Wish:
    """Goal cells of a side, from a board hint."""

    #: A role, or a colour.
    side: str
    #: The coordinates of the cells; a variable matches any value.
    pattern: tuple[str, ...]

    def covers(self, terms: tuple[Term, ...]) -> bool:
        """Return whether a cell with these coordinates is a goal cell."""
        fits = all(
            each.startswith("?") or each == str(term) for each, term in zip(self.pattern, terms, strict=False)
        )
        return fits and len(terms) == len(self.pattern)

    def __str__(self) -> str:
        return f"{self.side}: {' '.join(self.pattern)}"


@dataclass(frozen=True, slots=True)
class Boards:
    """The boards of a game.

    Attributes:
        layouts: the layouts, in the order in which they are shown.
        lines: lines between dots, shown after the layouts.
        hands: the fluents whose facts are cards. Each value is the number of arguments that name the owner: 0
            or 1.
        wishes: the goal cells of sides, from hints in the sheet.
        notes: messages about ignored hints, or the error that ended the search for boards.
    """

    layouts: tuple[Layout, ...] = ()
    lines: tuple[Lines, ...] = ()
    hands: Mapping[tuple[str, int], int] = field(default_factory=dict)
    wishes: tuple[Wish, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Board, ...]:
        """All boards, in the order in which they are shown."""
        return *self.layouts, *self.lines

    def cells(self) -> Iterator[tuple[Term, ...]]:
        """Yield the coordinates of all squares."""
        for layout in self.layouts:
            for board, squares in layout.squares.items():
                yield from (layout.terms(board, square) for square in squares)

    def others(self, facts: Iterable[Term]) -> tuple[Term, ...]:
        """Return the facts that lie on no board, sorted."""
        shown = self.shown
        return tuple(sorted(fact for fact in facts if not any(board.covers(fact) for board in shown)))


def fluent_of(fact: Term) -> tuple[str, int] | None:
    """Return the name and arity of the fluent of a fact; None for a constant."""
    return (fact.functor, len(fact.arguments)) if isinstance(fact, Compound) else None


def split_name(name: Term) -> Square | None:
    """Split the name of a square, such as ``c3``, into row ``c`` and column ``3``."""
    match = _SQUARE_NAME.fullmatch(name.name) if isinstance(name, Constant) else None
    return (Constant(match[1]), Constant(match[2])) if match else None
