"""The picture of a state: its facts on the cells of its boards, with marks for moves; views of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from anygame.boards.drawing.grids import GridMaker, LineGridMaker
from anygame.boards.drawing.looks import role_colours
from anygame.boards.drawing.pictures import Arrow, Hand, Listing, Picture, Touch
from anygame.boards.drawing.svg import svg
from anygame.boards.drawing.terminal import text
from anygame.boards.drawing.touching import MoveReader
from anygame.boards.finding.layout import Lines, Positions
from anygame.boards.finding.search import find_boards
from anygame.game.roles import moves_in_order
from anygame.language.parser import parse_term
from anygame.language.terms import Compound

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from anygame.boards.drawing.pictures import Grid, Mark
    from anygame.boards.drawing.touching import Known
    from anygame.boards.finding.layout import Boards
    from anygame.game.game import Game
    from anygame.game.roles import JointMove
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
