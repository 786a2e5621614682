"""The planes of a game: the channel, row and column of an image for each fluent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.analysis.axes import numbered
from anygame.boards.finding.search import find_boards
from anygame.game.planes import Planes
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.boards.finding.layout import Layout
    from anygame.game.game import Game
    from anygame.language.terms import Term

#: A channel (the number of a layout, and a name), a row and a column.
_Place = tuple[tuple[int, str], int, int]


def find_planes(game: Game, fluents: Sequence[Term]) -> Planes:
    """Return the planes of fluents, over the boards of a game.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe")
    >>> planes = find_planes(game, game.fluent_terms)
    >>> planes.shape, planes.channels
    ((5, 3, 3), ('(cell ? ? b)', '(cell ? ? o)', '(cell ? ? x)', '(control o)', '(control x)'))
    """
    boards = [_Board(number, layout) for number, layout in enumerate(find_boards(game).layouts)]
    lying = [next(filter(None, (board.place(fact) for board in boards)), None) for fact in fluents]
    names = sorted({at[0] for at in lying if at})
    channel = {name: number for number, name in enumerate(names)}
    rows = 1 + max((at[1] for at in lying if at), default=0)
    columns = 1 + max((at[2] for at in lying if at), default=0)
    places = [-1 if at is None else (channel[at[0]] * rows + at[1]) * columns + at[2] for at in lying]
    others = [str(fact) for fact, at in zip(fluents, lying, strict=True) if at is None]
    return Planes([*(name for _, name in names), *others], rows, columns, places)


class _Board:
    def __init__(self, number: int, layout: Layout) -> None:
        self._number = number
        self._layout = layout
        self._rows, self._columns = numbered(layout.rows), numbered(layout.columns)
        self._across = _ranks(x for x, _ in layout.places.values())
        self._down = _ranks(y for _, y in layout.places.values())

    def place(self, fact: Term) -> _Place | None:
        """Return the channel, row and column of a fact; None if the fact lies on no board."""
        layout = self._layout
        fluent_and_cell = layout.find(fact)
        if fluent_and_cell is None or not isinstance(fact, Compound):
            return None
        fluent, cell = fluent_and_cell
        place = layout.places.get(cell)
        boards = {fluent.key[layout.key.index(index)] for index in layout.boards}
        hidden = set(fluent.key) if place else set(fluent.key) - boards
        words = ["?" if index in hidden else str(term) for index, term in enumerate(fact.arguments)]
        channel = self._number, f"({fact.functor} {' '.join(words)})"
        if place:
            return channel, self._down[place[1]], self._across[place[0]]
        row, column = cell[1]
        return channel, self._rows[row], self._columns[column]


def _ranks(values: Iterable[float]) -> dict[float, int]:
    """Return the rank of each coordinate; unlike coordinates, ranks have no gaps between boards."""
    return {value: rank for rank, value in enumerate(sorted(set(values)))}
