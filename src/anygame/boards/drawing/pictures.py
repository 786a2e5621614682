"""Pictures of states as data: boards, cells, and the symbol, colour, form and figure of each content.

Places are measured in cells, from the middle of the first cell of a grid: ``x``
grows to the right and ``y`` downwards. Renderers move rows of hexagons closer together (`HEXAGON_ROW`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from anygame.boards.names import (
    BLOCKS,
    COLOURS,
    DRAUGHTS,
    LAMPS,
    ROLE_COLOURS,
    colour_in,
    initials,
    read_codes,
    read_figure,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from anygame.boards.finding.layout import Content, Layout
    from anygame.boards.names import Side
    from anygame.language.terms import Term


#: Distance between rows of hexagons, in widths of a cell: half the square root of three.
HEXAGON_ROW: Final = 0.8660254
#: Maximum number of entries in a legend; a longer legend shows only contents on the board.
_LEGEND_LIMIT: Final = 12
#: A ``line`` joins two dots (see `Cell.ends`). A ``pit`` is a numbered place in a row.
CellShape: TypeAlias = Literal["square", "hexagon", "line", "pit"]
#: A ``stone`` has only a colour. A ``piece`` has a figure, such as a knight. A ``mark`` is a fact without
#: content. A ``block`` fills its cell. A ``text`` is drawn as its symbol.
Form: TypeAlias = Literal["stone", "piece", "mark", "block", "text"]
#: ``from`` and ``to`` mark the origin and the destination of the last move. ``last`` marks other cells of the
#: last move. ``changed`` marks a cell whose content was different in the previous state. ``legal`` marks a
#: cell that a legal move names. ``unknown`` marks a cell if the viewer does not know whether it is empty.
Mark: TypeAlias = Literal["from", "to", "last", "changed", "legal", "unknown"]
#: The text of unknown things.
UNKNOWN: Final = "?"
#: The id of each cell, by the number of a layout and the coordinates of the cell.
Known: TypeAlias = "dict[tuple[int, tuple[Term, ...]], str]"


@dataclass(frozen=True, slots=True)
class Look:
    """How a picture shows one kind of thing.

    Attributes:
        symbol: a short text, unique among the contents of a board.
        label: the full name.
        form: how renderers draw the thing.
        figure: the name of a piece, such as ``knight``; empty if none is known.
        colour: one of `anygame.boards.COLOURS`; empty for no colour.
        empty: whether this content means that a cell is empty.
    """

    symbol: str
    label: str
    form: Form = "text"
    figure: str = ""
    colour: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """Something on a cell.

    Attributes:
        fact: the fact that puts the thing on the cell.
        terms: the content: the arguments of the fact that do not name the cell; empty for a mark.
        look: symbol, colour and form of the thing.
    """

    fact: Term
    terms: tuple[Term, ...]
    look: Look


@dataclass(frozen=True, slots=True)
class Cell:
    """A place on a board.

    Attributes:
        id: letters, digits and dashes; the same in all states of a game.
        name: the coordinates as text, such as ``d 4``.
        terms: the coordinates of the cell and its board, in the order in which facts and moves name them.
        x: horizontal coordinate of the middle, in cells; it grows to the right.
        y: vertical coordinate of the middle, in cells; it grows downwards.
        shape: the outline.
        things: the contents, including contents that mean ``empty``, in the order of facts.
        marks: the reasons for highlighting the cell.
        ends: the two points ``(x, y)`` that a line joins; None for other cells.
        chequered: whether the board has light and dark squares.
        dark: whether the cell is a dark square.
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
        """The contents, without contents that mean ``empty``."""
        return tuple(thing for thing in self.things if not thing.look.empty)


@dataclass(frozen=True, slots=True)
class Wall:
    """A wall or another sign on one side of a cell.

    Attributes:
        cell: the id of the cell.
        side: the side of the cell.
        fact: the fact that puts the wall there; None for the border between parts of a board.
        sign: the text on the side, such as ``<``; empty for a wall.
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
        title: a text that distinguishes boards; empty if there is only one board.
        cells: the cells from top to bottom, each row from left to right.
        labels: the names of rows and columns.
        walls: the walls between cells.
        dots: the points that lines join.
        looks: the looks of all possible contents.
        place: row and column of this grid among the grids of its group, from the top left.
        group: the number of a group of grids that are drawn together.
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
        """The contents whose symbol is not their full name; a long legend omits contents off the board."""
        labelled = [look for look in self.looks if look.label not in ("", look.symbol)]
        if len(labelled) > _LEGEND_LIMIT:
            present = {thing.look for cell in self.cells for thing in cell.things}
            labelled = [look for look in labelled if look in present]
        return tuple(labelled)

    @property
    def hexagons(self) -> bool:
        """Whether the cells are hexagons."""
        return any(cell.shape == "hexagon" for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Hand:
    """Cards of one owner.

    Attributes:
        owner: the owner; empty if nobody owns the cards.
        cards: the text of each card.
        colour: the colour of the owner, empty for none.
    """

    owner: str
    cards: tuple[str, ...]
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Facts of one fluent that lie on no board.

    Attributes:
        name: the fluent.
        facts: for each fact, the text of its arguments, and the colour of a role among them (empty for none).
        hands: the same facts as cards; empty for facts that are not about cards.
    """

    name: str
    facts: tuple[tuple[str, str], ...]
    hands: tuple[Hand, ...] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """A legal move, and its cells on the boards.

    Attributes:
        role: the mover.
        move: the move.
        cells: the ids of the cells that the arguments of the move name, in the order of arguments. If there
            are two cells, they are the origin and the destination.
        area: the ids of cells that the move names only as a group, such as all cells of a column.
    """

    role: str
    move: Term
    cells: tuple[str, ...]
    area: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow for a move between two cells (given by their ids), in the colour of the role."""

    start: str
    end: str
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Aim:
    """Highlighted cells of a side: the goal cells in a hint of the sheet, or the cells of a win.

    Attributes:
        side: a role, or a colour.
        colour: the colour in which the cells are highlighted.
        cells: the ids of the cells.
    """

    side: str
    colour: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A picture of a state.

    Attributes:
        title: the name of the game.
        grids: the boards.
        others: the facts that lie on no board.
        arrows: the arrows of the last move.
        touches: the legal moves of the requested roles, in the order of `State.legal_moves`.
        colours: the colour of each role.
        notes: messages about ignored board hints, or the error that ended the search for boards.
        aims: the goal cells of sides, from hints in the sheet.
        chains: the cells with which a side has won.
        upright: whether moves name only columns, as in games where pieces fall.
    """

    title: str
    grids: tuple[Grid, ...] = ()
    others: tuple[Listing, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    touches: tuple[Touch, ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    aims: tuple[Aim, ...] = ()
    chains: tuple[Aim, ...] = ()
    upright: bool = False

    def cells(self) -> Iterator[Cell]:
        """Yield the cells of all boards."""
        for grid in self.grids:
            yield from grid.cells

    def cell(self, name: str) -> Cell:
        """Return the cell with an id. Raises KeyError."""
        return {cell.id: cell for cell in self.cells()}[name]


#: The symbol of an empty cell.
_BLANK: Final = "."
_MARK: Final = "x"
#: A possible content of a cell, with the name of its fluent.
Occupant = tuple[str, "Content"]

#: Pattern of the first letter of each word after the first word of a name.
_WORD: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[^A-Za-z0-9])[A-Za-z]")
#: Maximum length of a name that serves as symbol without abbreviation.
_WHOLE: Final = 2
#: Maximum length of a symbol that consists of distinguishing letters of a name.
_SHORT: Final = 3
#: Maximum length of a name that serves as symbol if its distinguishing letters are not unique.
_LONGEST: Final = 5


def occupants_of(layout: Layout) -> list[Occupant]:
    """Return all possible contents of the cells of a board."""
    own = [(layout.functor, content) for content in layout.values if content not in layout.sides]
    return own + [
        (overlay.functor, content)
        for overlay in layout.overlays
        if not overlay.side
        for content in (overlay.values if overlay.contents else [()])
        if content not in overlay.sides
    ]


def looks_of(
    layout: Layout, occupants: Iterable[Occupant], colours: Mapping[str, str]
) -> dict[Occupant, Look]:
    """Return the look of each content."""
    blank = None if layout.blank is None else (layout.functor, layout.blank)
    shown = [occupant for occupant in dict.fromkeys(occupants) if occupant != blank]
    names = [_name(occupant, layout) for occupant in shown]
    empty = [] if layout.blank is None else [" ".join(map(str, layout.blank))]
    # A name has only one symbol, even if two fluents have the name as a content.
    distinct = list(dict.fromkeys(names))
    symbols = dict(zip(distinct, abbreviate(empty + distinct)[len(empty) :], strict=True))
    codes = read_codes(names, initials(list(colours)))
    read = [codes.get(name) or read_figure(name) for name in names]
    crowns = _are_crowned(layout, shown, [figure for figure, _ in read])
    lamps = LAMPS if set(names) == LAMPS.keys() else {}
    has_colour_words = any(name.lower() in COLOURS for name in names)
    looks = {}
    for occupant, name, (figure, side) in zip(shown, names, read, strict=True):
        colour = lamps.get(name) or _colour(side, colours) or _colour(name, colours)
        form = _form(occupant, name, figure)
        is_initial = not has_colour_words and _is_initial(name, colour, colours)
        if form == "text" and (name in lamps or is_initial):
            form = "stone"
        if crowns and figure:
            figure = DRAUGHTS[figure == "king"]
        if form == "text" and not colour and occupant == (layout.functor, *layout.values):
            # If a board has only one possible content, such as a trail, this content fills the cell.
            form = "block"
        looks[occupant] = Look(symbols[name] if name else _MARK, name, form, figure, colour)
    if blank is not None:
        looks[blank] = Look(_BLANK, empty[0], empty=True)
    return looks


def _are_crowned(layout: Layout, occupants: Sequence[Occupant], figures: Sequence[str]) -> bool:
    """Return whether all figures are pawns and kings, but no king exists at the start, as in draughts."""
    kings = {occupant[1] for occupant, figure in zip(occupants, figures, strict=True) if figure == "king"}
    return {*figures} - {""} == {"pawn", "king"} and bool(layout.started) and not kings & layout.started


def _is_initial(name: str, colour: str, roles: Iterable[str]) -> bool:
    """Return whether a name begins both a role's name and this role's colour, such as ``w`` for white."""
    is_of_role = any(role.startswith(name) and colour_in(role) == colour for role in roles)
    return bool(name) and colour.startswith(name) and is_of_role


def said_colours(facts: Iterable[Term], roles: Collection[str]) -> dict[str, str]:
    """Return the colours of roles from facts such as ``(marker player1 red)``.

    The result contains the roles whose names contain no colour. The result is empty unless one fluent assigns
    a different colour to each of these roles.
    """
    unnamed = {role for role in roles if not colour_in(role)}
    given: dict[str, list[tuple[str, str]]] = {}
    for fact in facts:
        arguments = list(map(str, getattr(fact, "arguments", ())))
        for role, colour in (arguments, arguments[::-1]) if len(arguments) == 2 else ():
            if role in unnamed and colour in COLOURS:
                given.setdefault(str(getattr(fact, "functor", "")), []).append((role, colour))
    for _, pairs in sorted(given.items()):
        colours = dict(pairs)
        if len(colours) == len(pairs) == len(unnamed) == len(set(colours.values())):
            return colours
    return {}


def role_colours(roles: Sequence[str]) -> dict[str, str]:
    """Return a colour for each role: the colour in its name, or else one of `ROLE_COLOURS`."""
    named = {role: colour_in(role) for role in roles}
    free = [colour for colour in ROLE_COLOURS if colour not in named.values()] or list(ROLE_COLOURS)
    others = [role for role in roles if not named[role]]
    return named | {role: free[number % len(free)] for number, role in enumerate(others)}


def _name(occupant: Occupant, layout: Layout) -> str:
    """Return the content as text; for an overlay without content, the name of its fluent."""
    functor, content = occupant
    if content:
        return " ".join(map(str, content))
    return "" if functor == layout.functor else functor


def _colour(name: str, colours: Mapping[str, str]) -> str:
    """Return the colour in a name, or else the colour of the roles to which the name belongs."""
    named = colour_in(name)
    if named or not name:
        return named
    # For example, `x` belongs to `xplayer`, `player1s` to `player1`, and `r` to `redduper` and `redjumper`.
    of_owners = {colours[role] for role in colours if role.startswith(name) or name.startswith(role)}
    return of_owners.pop() if len(of_owners) == 1 else ""


def _form(occupant: Occupant, name: str, figure: str) -> Form:
    if set(words(name)) & BLOCKS:
        return "block"
    if not occupant[1]:
        return "mark"
    if figure:
        return "piece"
    return "stone" if name.lower() in COLOURS else "text"


def abbreviate(names: Sequence[str]) -> list[str]:
    """Return a unique symbol for each name: its distinguishing letters and its digits.

    >>> abbreviate(["blackKing", "blackPawn", "whiteKing", "whitePawn", "x"])
    ['bK', 'bP', 'wK', 'wP', 'x']
    """
    taken = {name for name in names if len(name) <= _WHOLE}
    texts = []
    for number, name in enumerate(names, start=1):
        short = name if len(name) <= _WHOLE else _abbreviated(name, number, names, taken)
        taken.add(short)
        texts.append(short)
    return texts


def _abbreviated(name: str, number: int, names: Sequence[str], taken: set[str]) -> str:
    positions = _distinguishing_positions(name, names)
    distinguishing = _letters(name, positions)
    spelled = _letters(name, positions | {match.start() for match in _WORD.finditer(name)})
    if len(distinguishing) > 1 and len(name) <= _SHORT:
        return name
    for short in (spelled, distinguishing):
        if 0 < len(short) <= _SHORT and short not in taken:
            return short
    if len(name) <= _LONGEST:
        return name
    numbered = (f"{_letters(name, {0}) or '#'}{number + skipped}" for skipped in count(step=len(names)))
    return next(short for short in numbered if short not in taken)


def _letters(name: str, positions: Iterable[int]) -> str:
    return "".join(name[position] for position in sorted(positions) if name[position].isalnum())


def _distinguishing_positions(name: str, names: Iterable[str]) -> set[int]:
    """Return the position of the first letter or digit in a name, and the positions of all digits.

    Also return, for each other name, the first position at which the two names differ.
    """
    positions = {position for position, letter in enumerate(name) if letter.isdigit()}
    positions.add(next((position for position, letter in enumerate(name) if letter.isalnum()), 0))
    for other in names:
        pairs = enumerate(zip(name, other, strict=False))
        parting = next((position for position, (one, two) in pairs if one != two), len(other))
        if parting < len(name):
            positions.add(parting)
    return positions
