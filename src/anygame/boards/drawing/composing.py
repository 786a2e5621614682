"""The picture of a state: its facts on the cells of its boards, with marks for moves; views of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from weakref import WeakKeyDictionary

from anygame.boards.drawing.grids import GridMaker, LineGridMaker
from anygame.boards.drawing.pictures import Arrow, Hand, Listing, Picture, Touch, role_colours, said_colours
from anygame.boards.drawing.svg import svg
from anygame.boards.drawing.terminal import text
from anygame.boards.finding.evidence import occurrences
from anygame.boards.finding.layout import Lines, Positions
from anygame.boards.finding.search import find_boards
from anygame.game.roles import moves_in_order
from anygame.language.parser import parse_term
from anygame.language.rules import atoms_in
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anygame.boards.drawing.pictures import Grid, Known, Mark
    from anygame.boards.finding.layout import Board, Boards
    from anygame.game.game import Game
    from anygame.game.roles import JointMove
    from anygame.game.state import State
    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

#: An argument of a relation, a fluent or a move.
_Place: TypeAlias = "tuple[str, str, int, int]"
#: A coordinate: the number of a layout, and which of the coordinates of its cells.
_Coordinate: TypeAlias = "tuple[int, int]"
#: A variable at an argument.
_Occurrence: TypeAlias = "tuple[_Place, Variable]"
#: What only declares facts and moves shows nothing.
_DECLARED: Final = frozenset({"base", "input"})
#: From the fluents up to `legal` lead few rules; a longer chain proves nothing.
_ROUNDS: Final = 6


def picture(
    state: State,
    *,
    last: JointMove | None = None,
    before: State | None = None,
    legal_for: str | Iterable[str] = (),
) -> Picture:
    """Return what a state looks like.

    Args:
        state: the state.
        last: the joint move that led here, for its marks and arrows.
        before: the state before, for marks where cells differ.
        legal_for: roles whose legal moves are to be found on the boards (`Picture.touches`).

    Raises:
        IllegalMoveError: ``last`` does not have one move per role.
        UnknownRoleError: the game has no such role.
    """
    return Painter.of(cast("Game", state.game)).picture(state, last=last, before=before, legal_for=legal_for)


class Painter:
    """Paints the states of one game: what is known of its boards and moves beforehand."""

    def __init__(self, game: Game) -> None:
        # The game itself is not held: painters are remembered as long as their games live.
        self.boards: Boards = find_boards(game)
        self.colours = role_colours(game.roles)
        self._reader = MoveReader(game.program.rules, self.boards.shown)
        self._makers = [
            LineGridMaker(number, board, self.colours)
            if isinstance(board, Lines)
            else GridMaker(number, board.layout if isinstance(board, Positions) else board, self.colours)
            for number, board in enumerate(self.boards.shown)
        ]

    @classmethod
    def of(cls, game: Game) -> Painter:
        """Return the painter of a game; made once."""
        found = _PAINTERS.get(game)
        if found is None:
            found = _PAINTERS[game] = cls(game)
        return found

    def picture(
        self,
        state: State,
        *,
        last: JointMove | None = None,
        before: State | None = None,
        legal_for: str | Iterable[str] = (),
    ) -> Picture:
        """Return what a state looks like; see `picture`."""
        known: Known = {}
        # Where the rules hide something, a colour might show it.
        said = {} if state.game.is_gdl2 else said_colours(state.game.roles, state.facts)
        colours = role_colours(state.game.roles, said) if said else self.colours
        grids = self._grids(state.facts, known)
        roles = [legal_for] if isinstance(legal_for, str) else list(legal_for)
        areas: dict[tuple[int, tuple[tuple[int, Term], ...]], tuple[str, ...]] = {}
        touches = tuple(
            self._touch(role, move, known, areas) for role in roles for move in state.legal_moves(role)
        )
        marks: dict[str, set[Mark]] = defaultdict(set)
        for touch in touches:
            for cell in touch.cells or touch.area:
                marks[cell].add("legal")
        arrows = self._mark_last(state, last, known, marks, colours)
        if before is not None:
            self._mark_changes(grids, self._grids(before.facts, {}), marks)
        return Picture(
            state.game.name,
            tuple(_marked(grid, marks) for grid in grids),
            self._listings(self.boards.others(state.facts)),
            arrows,
            touches,
            colours,
            self.boards.notes,
        )

    def _grids(self, facts: Collection[Term], known: Known) -> list[Grid]:
        grids: list[Grid] = []
        for maker, board in zip(self._makers, self.boards.shown, strict=True):
            lying = board.joined(facts) if isinstance(board, Positions) else facts
            grids += maker.grids(lying, known, named=len(self._makers) > 1)
        return grids

    def _touch(
        self,
        role: str,
        move: Term,
        known: Known,
        areas: dict[tuple[int, tuple[tuple[int, Term], ...]], tuple[str, ...]],
    ) -> Touch:
        cells, alone = self._reader.cells(move, known)
        area: list[str] = []
        for layout, wanted in alone:
            # Thousands of moves may name the same few columns.
            asked = layout, tuple(wanted.items())
            if asked not in areas:
                areas[asked] = tuple(
                    cell
                    for (number, terms), cell in known.items()
                    if number == layout and all(terms[which] == term for which, term in wanted.items())
                )
            area += areas[asked]
        return Touch(role, move, cells, tuple(area))

    def _mark_last(
        self,
        state: State,
        last: JointMove | None,
        known: Known,
        marks: dict[str, set[Mark]],
        colours: Mapping[str, str],
    ) -> tuple[Arrow, ...]:
        """Mark the cells that the last moves name, and return arrows for those that go from cell to cell."""
        if last is None:
            return ()
        game = state.game
        arrows = []
        for role, given in zip(game.roles, moves_in_order(last, game.roles, game.role_index), strict=True):
            move = parse_term(given, case_sensitive=game.case_sensitive) if isinstance(given, str) else given
            cells, _ = self._reader.cells(move, known)
            if len(cells) > 1:
                marks[cells[0]].add("from")
                if cells[0] != cells[1]:
                    arrows.append(Arrow(cells[0], cells[1], colours[role]))
            for number, cell in enumerate(cells[1:] if len(cells) > 1 else cells):
                marks[cell].add("last" if number else "to")
        return tuple(arrows)

    def _mark_changes(
        self, grids: Iterable[Grid], before: Iterable[Grid], marks: dict[str, set[Mark]]
    ) -> None:
        old = {cell.id: [thing.fact for thing in cell.things] for grid in before for cell in grid.cells}
        for grid in grids:
            for cell in grid.cells:
                if [thing.fact for thing in cell.things] != old.get(cell.id, []):
                    marks[cell.id].add("changed")

    def _listings(self, facts: Collection[Term]) -> tuple[Listing, ...]:
        listed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        hands: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for fact in facts:
            if not isinstance(fact, Compound):
                listed.setdefault(str(fact), [])
                continue
            texts = list(map(str, fact.arguments))
            inner = " ".join(texts)
            colour = next((self.colours[text] for text in texts if text in self.colours), "")
            listed[fact.functor].append((f"({inner})" if len(texts) > 1 else inner, colour))
            owners = self.boards.hands.get((fact.functor, len(texts)))
            if owners is not None:
                # Nobody's cards are as many as the arguments.
                hands[fact.functor][texts[0] if owners else ""] += [" ".join(texts[1:])] if owners else texts
        return tuple(
            Listing(
                name,
                tuple(values),
                tuple(
                    Hand(owner, tuple(cards), self.colours.get(owner, ""))
                    for owner, cards in hands.get(name, {}).items()
                ),
            )
            for name, values in listed.items()
        )


_PAINTERS: WeakKeyDictionary[Game, Painter] = WeakKeyDictionary()


def _marked(grid: Grid, marks: Mapping[str, set[Mark]]) -> Grid:
    cells = [
        replace(cell, marks=frozenset(marks[cell.id])) if cell.id in marks else cell for cell in grid.cells
    ]
    return replace(grid, cells=tuple(cells))


class BoardView:
    """The boards of a state: ``print`` shows them as text, a notebook draws them.

    Attributes:
        picture: what is shown, as data.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def svg(self, *, dark: bool | None = None) -> str:
        """Return the drawing; for light or dark surroundings, or by default what the viewer prefers."""
        return svg(self.picture, dark=dark)

    def save(self, path: str | os.PathLike[str], *, dark: bool | None = False) -> None:
        """Write the drawing into a file, in light colours unless asked otherwise."""
        Path(path).write_text(self.svg(dark=dark), encoding="utf-8")

    def text(self, width: int = 80) -> str:
        """Return the boards and the other facts as text, in lines of a width."""
        return text(self.picture, width=width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<boards of {self.picture.title}: {sum(1 for _ in self.picture.cells())} cells>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        if not self.picture.grids:
            return f"<pre>{escape(self.text())}</pre>"
        others = text(replace(self.picture, grids=()))
        return f"{self.svg()}<pre>{escape(others)}</pre>" if others else self.svg()


def view(state: State, *, last: JointMove | None = None, before: State | None = None) -> BoardView:
    """Return the boards of a state; see `anygame.boards.picture`."""
    return BoardView(picture(state, last=last, before=before))


def match_pictures(states: Sequence[State], moves: Sequence[JointMove]) -> list[Picture]:
    """Return the picture of each state of a match, with the marks of the move that led there."""
    first = [picture(state) for state in states[:1]]
    steps = zip(states, moves, states[1:], strict=False)
    return first + [picture(state, last=move, before=before) for before, move, state in steps]


class MoveReader:
    """Reads which cells of the boards the arguments of a move name.

    That is read off the rules. The coordinates of a fluent are places of variables; a variable that stands
    there and in the head of a rule makes that argument of the head a coordinate too, and so on up to
    ``legal``; a rule for ``next`` that names a square which ``does`` names shows the same. Arguments that
    follow each other as the coordinates of a fluent do then name a cell: of ``(move wp ?u ?v ?x ?y)`` the
    second and third, and the fourth and fifth. Where the rules do not say it, values show it.
    """

    def __init__(self, rules: Sequence[Rule], layouts: Sequence[Board]) -> None:
        self._sizes = [len(layout.key) for layout in layouts]
        self._coordinates = _spread(rules, layouts)

    def cells(
        self, move: Term, known: Known
    ) -> tuple[tuple[str, ...], tuple[tuple[int, dict[int, Term]], ...]]:
        """Return the cells that a move names, and the coordinates that it names alone.

        Args:
            move: a move.
            known: the ids of all cells.

        Returns:
            The names of the cells in the order of the arguments, and, for each layout of which no cell is
            named, some of the coordinates, by which of them they are.
        """
        if not isinstance(move, Compound):
            return (), ()
        places = [
            self._coordinates.get(("move", move.functor, len(move.arguments), index), frozenset())
            for index in range(len(move.arguments))
        ]
        found: list[str] = []
        named: dict[int, int] = {}
        alone: list[tuple[int, dict[int, Term]]] = []
        for layout in sorted(range(len(self._sizes)), key=lambda number: (-self._sizes[number], number)):
            cells, rest = self._of_layout(layout, move.arguments, places, named, known)
            found += cells
            if rest and not cells:
                alone.append((layout, rest))
        if not found and not any(places):
            found = self._by_value(move.arguments, known)
        return tuple(found), tuple(alone)

    def _of_layout(
        self,
        layout: int,
        arguments: Sequence[Term],
        places: Sequence[frozenset[_Coordinate]],
        named: dict[int, int],
        known: Known,
    ) -> tuple[list[str], dict[int, Term]]:
        """Return the cells of one layout that arguments name, and the single coordinates.

        Arguments that name a cell of a layout with more coordinates, a line between two dots, name no other.
        """
        size = self._sizes[layout]
        cells: list[str] = []
        rest: dict[int, Term] = {}
        taken: set[int] = set()
        index = 0
        while index < len(arguments):
            after = index + size
            cell = known.get((layout, tuple(arguments[index:after])))
            fits = all((layout, which) in place for which, place in enumerate(places[index:after]))
            free = all(named.get(position, 0) <= size for position in range(index, after))
            if cell is not None and fits and free:
                cells.append(cell)
                taken |= set(range(index, after))
                index = after
                continue
            if named.get(index, 0) <= size:
                for number, which in sorted(places[index]):
                    if number == layout:
                        rest.setdefault(which, arguments[index])
            index += 1
        named |= dict.fromkeys(taken, size)
        return cells, rest

    def _by_value(self, arguments: Sequence[Term], known: Known) -> list[str]:
        """Return the cells whose coordinates stand there, of layouts with two of them and more."""
        found: list[str] = []
        index = 0
        while index < len(arguments):
            for layout, size in enumerate(self._sizes):
                cell = known.get((layout, tuple(arguments[index : index + size])))
                if cell is not None and size > 1:
                    found.append(cell)
                    index += size - 1
                    break
            index += 1
        return found


def _spread(rules: Sequence[Rule], layouts: Sequence[Board]) -> dict[_Place, frozenset[_Coordinate]]:
    """Return which coordinates an argument is, for all arguments of which the rules say it."""
    found: dict[_Place, set[_Coordinate]] = defaultdict(set)
    for number, layout in enumerate(layouts):
        for functor, arity, key in layout.fluents():
            for which, index in enumerate(key):
                found["fluent", functor, arity, index].add((number, which))
    fixed = set(found)
    flows = [_flow(rule, fixed) for rule in rules]
    for _ in range(_ROUNDS):
        before = sum(map(len, found.values()))
        for sources, targets in flows:
            of: dict[Variable, set[_Coordinate]] = defaultdict(set)
            for place, variable in sources:
                of[variable] |= found.get(place, set())
            for place, variable in targets:
                if of[variable]:
                    found[place] |= of[variable]
        if sum(map(len, found.values())) == before:
            break
    return {place: frozenset(coordinates) for place, coordinates in found.items()}


def _flow(rule: Rule, fixed: set[_Place]) -> tuple[list[_Occurrence], list[_Occurrence]]:
    """Return where variables of a rule show what they are, and the arguments that learn it from them."""
    head = list(_places(rule.head))
    body = [found for atom, _ in atoms_in(rule.body) for found in _places(atom)]
    given = [(place, variable) for place, variable in head if place in fixed]
    learning = [(place, variable) for place, variable in head if place not in fixed]
    return body + given, learning + [(place, variable) for place, variable in body if place[0] == "move"]


def _places(atom: Atom) -> Iterator[_Occurrence]:
    """Yield the variables of an atom with their places: of what stands in `true` or `does`, in there."""
    for item in occurrences([] if atom.predicate in _DECLARED else [atom]):
        for index, argument in enumerate(item.arguments):
            if isinstance(argument, Variable):
                yield (*item.predicate, index), argument
