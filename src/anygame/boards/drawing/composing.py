"""Pictures of states: facts on the cells of boards, with marks for moves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from anygame.boards.drawing.grids import GridMaker, LineGridMaker
from anygame.boards.drawing.moves import MoveReader
from anygame.boards.drawing.pictures import (
    UNKNOWN,
    Aim,
    Arrow,
    Hand,
    Listing,
    Picture,
    Touch,
    role_colours,
    said_colours,
)
from anygame.boards.drawing.svg import svg
from anygame.boards.drawing.terminal import text
from anygame.boards.finding.layout import Layout, Lines
from anygame.boards.finding.search import find_boards
from anygame.game.roles import moves_in_order
from anygame.language.parser import parse_term
from anygame.language.terms import Compound

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anygame.boards.drawing.pictures import Grid, Known, Mark
    from anygame.boards.finding.layout import Boards
    from anygame.game.game import Game
    from anygame.game.roles import JointMove, Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: The marks of each cell, by the id of the cell.
_Marks = dict[str, set["Mark"]]


def picture(
    state: State,
    *,
    last: JointMove | None = None,
    before: State | None = None,
    legal_for: str | Iterable[str] = (),
) -> Picture:
    """Return the picture of a state.

    Args:
        state: the state.
        last: the joint move that led to the state, for marks and arrows.
        before: the previous state, to mark changed cells.
        legal_for: the roles whose legal moves the picture contains (see `Picture.touches`).

    Raises:
        IllegalMoveError: ``last`` does not have one move per role.
        UnknownRoleError: the game has no such role.
    """
    return Painter.of(state.game).picture(state, last=last, before=before, legal_for=legal_for)


class Painter:
    """Draws the states of one game; infers the boards, and the cells that moves name, only once."""

    def __init__(self, game: Game) -> None:
        # A painter must not reference its game, because the cache keeps a painter only while its game lives.
        self.source = game.program.source
        self.boards: Boards = find_boards(game)
        self.colours = role_colours(game.roles)
        self._reader = MoveReader(game.program.rules, self.boards.shown)
        self.upright = any(
            isinstance(board, Layout) and self._reader.names_columns(number, board)
            for number, board in enumerate(self.boards.shown)
        )
        self._makers = [
            LineGridMaker(number, board, self.colours)
            if isinstance(board, Lines)
            else GridMaker(number, board, self.colours)
            for number, board in enumerate(self.boards.shown)
        ]

    @classmethod
    def of(cls, game: Game) -> Painter:
        """Return the cached painter of a game."""
        painter = _PAINTERS.get(game)
        # Games with the same rules are equal, even if their board hints differ.
        if painter is None or painter.source != game.program.source:
            painter = _PAINTERS[game] = cls(game)
        return painter

    def picture(
        self,
        state: State,
        *,
        last: JointMove | None = None,
        before: State | None = None,
        legal_for: str | Iterable[str] = (),
    ) -> Picture:
        """Return the picture of a state; see `picture`."""
        roles = [legal_for] if isinstance(legal_for, str) else list(legal_for)
        game = state.game
        made: list[tuple[Role, Term]] = []
        if last is not None:
            for role, move in zip(game.roles, moves_in_order(last, game.roles, game.role_index), strict=True):
                term = parse_term(move, case_sensitive=game.case_sensitive) if isinstance(move, str) else move
                made.append((role, term))
        return self.known_picture(
            game.name,
            state.facts,
            legal={game.roles[game.role_index(role)]: state.legal_moves(role) for role in roles},
            made=made,
            before=None if before is None else before.facts,
        )

    def known_picture(
        self,
        title: str,
        facts: Collection[Term],
        possible: Collection[Term] = (),
        *,
        legal: Mapping[Role, Sequence[Term]],
        made: Iterable[tuple[Role, Term]] = (),
        before: Collection[Term] | None = None,
    ) -> Picture:
        """Return the picture of a partly known state.

        Args:
            title: the name of the game.
            facts: the facts that are known to hold.
            possible: the facts whose truth is unknown. A cell that has only possible contents is marked as
                ``unknown``. A card that has only possible values is shown as ``?``.
            legal: the legal moves of each requested role.
            made: the known moves of the last step, each with its role.
            before: the known facts of the previous state.
        """
        known: Known = {}
        grids = self._grids(facts, known)
        touches = tuple(self._touches(legal, known))
        marks: _Marks = defaultdict(set)
        for touch in touches:
            for cell in touch.cells or touch.area:
                marks[cell].add("legal")
        colours = self.colours | said_colours(facts, self.colours)
        arrows = self._mark_last(made, known, marks, colours)
        if before is not None:
            _mark_changes(grids, self._grids(before, {}), marks)
        if possible:
            _mark_unknown(grids, self._grids(possible, {}), marks)
        return Picture(
            title,
            tuple(_marked(grid, marks) for grid in grids),
            self._listings(self.boards.others(facts), self.boards.others(possible), colours),
            arrows,
            touches,
            colours,
            self.boards.notes,
            tuple(
                Aim(
                    wish.side,
                    colours.get(wish.side, wish.side),
                    tuple(cell.id for grid in grids for cell in grid.cells if wish.covers(cell.terms)),
                )
                for wish in self.boards.wishes
            ),
            upright=self.upright,
        )

    def _grids(self, facts: Collection[Term], known: Known) -> list[Grid]:
        grids: list[Grid] = []
        for maker in self._makers:
            grids += maker.grids(facts, known, named=len(self._makers) > 1)
        return grids

    def _touches(self, legal: Mapping[Role, Sequence[Term]], known: Known) -> Iterator[Touch]:
        @cache
        def area(layout: int, *coordinates: tuple[int, Term]) -> list[str]:
            return [
                cell
                for (number, terms), cell in known.items()
                if number == layout and all(terms[index] == term for index, term in coordinates)
            ]

        for role, moves in legal.items():
            for move in moves:
                cells, alone = self._reader.cells(move, known)
                # Results of `area` are cached, because thousands of moves can name the same few columns.
                areas = [cell for layout, named in alone for cell in area(layout, *named.items())]
                yield Touch(role, move, cells, tuple(areas))

    def _mark_last(
        self, made: Iterable[tuple[Role, Term]], known: Known, marks: _Marks, colours: Mapping[str, str]
    ) -> tuple[Arrow, ...]:
        """Mark the cells that the last moves name; return arrows for moves from cell to cell."""
        arrows = []
        for role, move in made:
            cells, _ = self._reader.cells(move, known)
            if len(cells) > 1:
                marks[cells[0]].add("from")
                if cells[0] != cells[1]:
                    arrows.append(Arrow(cells[0], cells[1], colours[role]))
            for number, cell in enumerate(cells[1:] if len(cells) > 1 else cells):
                marks[cell].add("last" if number else "to")
        return tuple(arrows)

    def _listings(
        self, facts: Collection[Term], possible: Collection[Term], colours: Mapping[str, str]
    ) -> tuple[Listing, ...]:
        listed: dict[str, list[tuple[str, str]]] = defaultdict(list)
        hands: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        given = list(map(_as_texts, facts))
        if possible:
            given = sorted([*given, *_open_facts(facts, possible)], key=lambda named: named[0])
        for functor, arguments in given:
            if not arguments:
                listed.setdefault(functor, [])
                continue
            inner = " ".join(arguments)
            colour = next((colours[text] for text in arguments if text in colours), "")
            listed[functor].append((f"({inner})" if len(arguments) > 1 else inner, colour))
            owners = self.boards.hands.get((functor, len(arguments)))
            if owners is not None:
                owner, *card = arguments if owners else ["", *arguments]
                hands[functor][owner].append(UNKNOWN if {*card} == {UNKNOWN} else " ".join(card))
        return tuple(
            Listing(
                name,
                tuple(values),
                tuple(
                    Hand(owner, tuple(cards), colours.get(owner, ""))
                    for owner, cards in hands.get(name, {}).items()
                ),
            )
            for name, values in listed.items()
        )


def _mark_unknown(grids: Iterable[Grid], possible: Iterable[Grid], marks: _Marks) -> None:
    taken = {cell.id for grid in grids for cell in grid.cells if cell.things}
    for grid in possible:
        for cell in grid.cells:
            if cell.contents and cell.id not in taken:
                marks[cell.id].add("unknown")


def _mark_changes(grids: Iterable[Grid], before: Iterable[Grid], marks: _Marks) -> None:
    old = {cell.id: [thing.fact for thing in cell.things] for grid in before for cell in grid.cells}
    for grid in grids:
        for cell in grid.cells:
            if [thing.fact for thing in cell.things] != old.get(cell.id, []):
                marks[cell.id].add("changed")


def _as_texts(fact: Term) -> tuple[str, list[str]]:
    return (fact.functor, list(map(str, fact.arguments))) if isinstance(fact, Compound) else (str(fact), [])


def _open_facts(facts: Iterable[Term], possible: Iterable[Term]) -> Iterator[tuple[str, list[str]]]:
    """For each fluent and owner in possible facts, yield a fact with ``?`` for unknown arguments.

    The first of several arguments counts as the owner, such as the holder of a card. If any fact of a fluent
    and owner is known, no fact is yielded for them.
    """

    def subject(fact: Compound) -> tuple[str, int, Term | None]:
        arity = len(fact.arguments)
        return fact.functor, arity, fact.arguments[0] if arity > 1 else None

    known = {subject(fact) for fact in facts if isinstance(fact, Compound)}
    possible_facts = [fact for fact in possible if isinstance(fact, Compound)]
    for functor, arity, first in dict.fromkeys(map(subject, possible_facts)):
        if (functor, arity, first) not in known:
            yield functor, [UNKNOWN] if first is None else [str(first), *[UNKNOWN] * (arity - 1)]


_PAINTERS: WeakKeyDictionary[Game, Painter] = WeakKeyDictionary()


def _marked(grid: Grid, marks: _Marks) -> Grid:
    cells = [
        replace(cell, marks=frozenset(marks[cell.id])) if cell.id in marks else cell for cell in grid.cells
    ]
    return replace(grid, cells=tuple(cells))


class BoardView:
    """The boards of a state, shown as text at the prompt and as a drawing in a notebook."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    def svg(self, *, dark: bool | None = None) -> str:
        """Return the drawing as SVG: dark, light, or (for None) as the viewer prefers."""
        return svg(self.picture, dark=dark)

    def save(self, path: str | os.PathLike[str], *, dark: bool | None = False) -> None:
        """Write the drawing to a file, in light colours by default."""
        Path(path).write_text(self.svg(dark=dark), encoding="utf-8")

    def text(self, width: int = 80) -> str:
        """Return the boards and all other facts as text, in lines of at most ``width`` characters."""
        return text(self.picture, width=width)

    def __repr__(self) -> str:
        return self.text()

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
    """Return the picture of each state of a match, with marks for the move that led there."""
    first = [picture(state) for state in states[:1]]
    steps = zip(states, moves, states[1:], strict=False)
    return first + [picture(state, last=move, before=before) for before, move, state in steps]
