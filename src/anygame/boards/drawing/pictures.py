"""Pictures: what a state looks like, as data. Renderers show them; a page makes them answer to clicks.

Places are measured in cells: a cell is one wide and one high, ``x`` grows to the right and ``y`` downwards,
both from the middle of the first cell of its grid. On hexagons rows lie closer together, which is left to the
renderers (`HEXAGON_ROW`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    from anygame.boards.names import Side
    from anygame.language.terms import Term

#: How far rows of hexagons lie apart, in widths of a cell: half the root of three.
HEXAGON_ROW: Final = 0.8660254

#: More explanations than this are not read.
_LEGEND_LIMIT: Final = 12
#: ``line``: between two dots, see `Cell.ends`; ``pit``: one of a row of numbered places.
CellShape: TypeAlias = Literal["square", "hexagon", "line", "pit"]
#: ``stone``: just a colour; ``piece``: a figure that is known by name; ``mark``: a fact without content;
#: ``block``: what fills the cell; ``text``: its symbol.
Form: TypeAlias = Literal["stone", "piece", "mark", "block", "text"]
#: ``from`` and ``to``: of the last move; ``last``: another cell that it names; ``changed``: differs from the
#: state before; ``legal``: a legal move names it; ``hint``: for callers to use.
Mark: TypeAlias = Literal["from", "to", "last", "changed", "legal", "hint"]
#: The ids of cells by the number of their layout and their coordinates.
Known: TypeAlias = "dict[tuple[int, tuple[Term, ...]], str]"


@dataclass(frozen=True, slots=True)
class Look:
    """What things of one kind look like.

    Attributes:
        symbol: a short text, unique among the things of its board.
        label: its name in full.
        form: how it is drawn.
        figure: the name of a piece, such as ``knight``; empty where none is known.
        colour: one of `anygame.boards.COLOURS`, empty for none.
        empty: whether it says that the cell is empty.
    """

    symbol: str
    label: str
    form: Form = "text"
    figure: str = ""
    colour: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that stands on a cell.

    Attributes:
        fact: that says so.
        terms: the arguments of the fact that are its content; none for a mere mark.
        look: what it looks like.
    """

    fact: Term
    terms: tuple[Term, ...]
    look: Look


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a board.

    Attributes:
        id: letters, digits and dashes; the same in all states of a game.
        name: its coordinates as text, such as ``d 4``.
        terms: its coordinates in the order in which facts and moves give them, those of its board included.
        x: of its middle, in cells.
        y: of its middle, in cells, downwards.
        shape: its outline.
        things: what stands there, with things that say ``empty``; in the order of the facts.
        marks: why it is lit.
        ends: of a line: the two points that it joins, each ``(x, y)``.
        chequered: whether its board has light and dark squares.
        dark: whether it is one of the dark ones.
    """

    id: str
    name: str
    terms: tuple[Term, ...]
    x: float
    y: float
    shape: CellShape = "square"
    things: tuple[Thing, ...] = ()
    marks: frozenset[Mark] = frozenset()
    ends: tuple[tuple[float, float], tuple[float, float]] | None = None
    chequered: bool = False
    dark: bool = False

    @property
    def contents(self) -> tuple[Thing, ...]:
        """What stands there, without things that say that nothing does."""
        return tuple(thing for thing in self.things if not thing.look.empty)


@dataclass(frozen=True, slots=True)
class Wall:
    """A wall, or another sign, on one side of a cell.

    Attributes:
        cell: the id of the cell.
        side: of the cell.
        fact: that says so; None for the border between parts of a board.
        sign: what stands on the side, such as ``<``; empty for a wall.
    """

    cell: str
    side: Side
    fact: Term | None
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a row or column, beside its grid."""

    text: str
    x: float
    y: float
    side: Side


@dataclass(frozen=True, slots=True)
class Grid:
    """One board.

    Attributes:
        title: what distinguishes it from others; empty for an only one.
        cells: from top to bottom, each row from left to right.
        labels: the names of rows and columns.
        walls: between cells.
        dots: the points that lines join.
        looks: of all that may stand there.
        place: row and column among the grids of its group, from the top left.
        group: grids of one number belong together.
    """

    title: str
    cells: tuple[Cell, ...]
    labels: tuple[Label, ...] = ()
    walls: tuple[Wall, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    looks: tuple[Look, ...] = ()
    place: tuple[int, int] = (0, 0)
    group: int = 0

    @property
    def legend(self) -> tuple[Look, ...]:
        """What is not shown by its name: all that may stand there, or of very much what does."""
        labelled = [look for look in self.looks if look.label not in ("", look.symbol)]
        if len(labelled) > _LEGEND_LIMIT:
            present = {thing.look for cell in self.cells for thing in cell.things}
            labelled = [look for look in labelled if look in present]
        return tuple(labelled)

    @property
    def hexagons(self) -> bool:
        """Whether its cells are hexagons."""
        return any(cell.shape == "hexagon" for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Hand:
    """Cards, or other things in an order.

    Attributes:
        owner: whose they are; empty for nobody's.
        cards: what is on each.
        colour: of the owner, empty for none.
    """

    owner: str
    cards: tuple[str, ...]
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Facts of one fluent that lie on no board.

    Attributes:
        name: the fluent.
        facts: with arguments as text, and the colour of the role that they name, empty for none.
        hands: the same as cards, where they are such.
    """

    name: str
    facts: tuple[tuple[str, str], ...]
    hands: tuple[Hand, ...] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """A legal move, and where it lies on the boards.

    Attributes:
        role: whose it is.
        move: as it is played.
        cells: the ids of the cells that its arguments name, in their order: of two, the first is where
            something moves from, the second where it moves to.
        area: ids of further cells that its arguments name as a whole, such as all cells of a column.
    """

    role: str
    move: Term
    cells: tuple[str, ...]
    area: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move from cell to cell, by ids, in the colour of its role."""

    start: str
    end: str
    colour: str = ""


@dataclass(frozen=True)
class Picture:
    """What a state looks like.

    Attributes:
        title: the name of the game.
        grids: its boards.
        others: the facts that lie on no board.
        arrows: of the last move.
        touches: the legal moves of the roles that were asked for, in the order of `State.legal_moves`.
        colours: for every role the colour in which it is shown.
        notes: why a board hint of the sheet was not followed, or no board was found.
    """

    title: str
    grids: tuple[Grid, ...] = ()
    others: tuple[Listing, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    touches: tuple[Touch, ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def cells(self) -> Iterator[Cell]:
        """Yield the cells of all boards."""
        for grid in self.grids:
            yield from grid.cells

    def cell(self, name: str) -> Cell:
        """Return the cell with an id. Raises KeyError."""
        return {cell.id: cell for cell in self.cells()}[name]
