"""Composing the picture of a state: its facts on the cells of its boards, with marks for moves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from anygame.boards.drawing.grids import GridMaker
from anygame.boards.drawing.line_grids import LineGridMaker
from anygame.boards.drawing.looks import role_colours
from anygame.boards.drawing.pictures import Arrow, Hand, Listing, Picture, Touch
from anygame.boards.drawing.touching import MoveReader
from anygame.boards.finding.layout import Lines, Positions
from anygame.boards.finding.search import find_boards
from anygame.game.moves import moves_in_order
from anygame.language.parser import parse_term
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from anygame.boards.drawing.pictures import Cell, Grid, Mark
    from anygame.boards.finding.layout import Boards, Layout
    from anygame.game.game import Game
    from anygame.game.moves import JointMove
    from anygame.game.state import State
    from anygame.language.terms import Term


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
        boards: list[Layout | Lines | Positions] = [
            *self.boards.layouts,
            *self.boards.lines,
            *self.boards.positions,
        ]
        self._reader = MoveReader(game.program.rules, boards)
        self._makers = [_maker(number, board, self.colours) for number, board in enumerate(boards)]

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
        known: dict[tuple[int, tuple[Term, ...]], str] = {}
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
        arrows = self._mark_last(state, last, known, marks)
        if before is not None:
            self._mark_changes(grids, self._grids(before.facts, {}), marks)
        return Picture(
            state.game.name,
            tuple(_marked(grid, marks) for grid in grids),
            self._listings(self.boards.others(state.facts)),
            arrows,
            touches,
            self.colours,
            self.boards.notes,
        )

    def _grids(self, facts: Collection[Term], known: dict[tuple[int, tuple[Term, ...]], str]) -> list[Grid]:
        several = len(self._makers) > 1
        return list(chain.from_iterable(maker.grids(facts, known, named=several) for maker in self._makers))

    def _touch(
        self,
        role: str,
        move: Term,
        known: Mapping[tuple[int, tuple[Term, ...]], str],
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
        known: Mapping[tuple[int, tuple[Term, ...]], str],
        marks: dict[str, set[Mark]],
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
                    arrows.append(Arrow(cells[0], cells[1], self.colours[role]))
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
        hands: dict[str, dict[str, list[str]]] = defaultdict(dict)
        for fact in facts:
            if isinstance(fact, Compound):
                owners = self.boards.hands.get((fact.functor, len(fact.arguments)))
                if owners is not None:
                    of, cards = _cards(fact, owners)
                    hands[fact.functor].setdefault(of, []).extend(cards)
        for fact in facts:
            if isinstance(fact, Compound):
                inner = " ".join(map(str, fact.arguments))
                colour = next((self.colours[str(a)] for a in fact.arguments if str(a) in self.colours), "")
                listed[fact.functor].append((f"({inner})" if len(fact.arguments) > 1 else inner, colour))
            else:
                listed.setdefault(str(fact), [])
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


def _cards(fact: Compound, owners: int) -> tuple[str, list[str]]:
    """Return whose the cards of a fact are, and what is on them; nobody's are as many as the arguments."""
    texts = [str(argument) for argument in fact.arguments]
    return (texts[0], [" ".join(texts[1:])]) if owners else ("", texts)


class _PositionGridMaker:
    """Makes the grid of things whose coordinates are given apart; see `GridMaker`."""

    def __init__(self, number: int, positions: Positions, colours: Mapping[str, str]) -> None:
        self._positions = positions
        self._maker = GridMaker(number, positions.layout, colours)

    def grids(
        self, facts: Collection[Term], known: dict[tuple[int, tuple[Term, ...]], str], *, named: bool
    ) -> Iterator[Grid]:
        """Yield the one grid of a state; see `GridMaker.grids`."""
        return self._maker.grids(self._positions.joined(facts), known, named=named)


def _maker(
    number: int, board: Layout | Lines | Positions, colours: Mapping[str, str]
) -> GridMaker | LineGridMaker | _PositionGridMaker:
    if isinstance(board, Lines):
        return LineGridMaker(number, board, colours)
    if isinstance(board, Positions):
        return _PositionGridMaker(number, board, colours)
    return GridMaker(number, board, colours)


_PAINTERS: WeakKeyDictionary[Game, Painter] = WeakKeyDictionary()


def _marked(grid: Grid, marks: Mapping[str, set[Mark]]) -> Grid:
    if not any(cell.id in marks for cell in grid.cells):
        return grid
    return replace(grid, cells=tuple(_lit(cell, marks) for cell in grid.cells))


def _lit(cell: Cell, marks: Mapping[str, set[Mark]]) -> Cell:
    return replace(cell, marks=frozenset(marks[cell.id])) if cell.id in marks else cell
