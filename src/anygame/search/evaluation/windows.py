"""Windows: the contents of neighboring cells of a board, as patterns with a row of weights for each content.

All windows of a board share their rows, as in the tuple networks of Lucas (2008, "Learning to play Othello
with n-tuple systems"). A window that reaches beyond the board shares rows with those that do so in the same
way. The windows are the largest whose contents have few enough rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.game.showing import planes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.game.game import Game
    from anygame.language.terms import Term

    Offset = tuple[int, int]
    Cell = tuple[int, int]

#: The cells of a window as offsets from its central cell, largest first: 3x3, a cross, 2x2.
_SHAPES: Final = (
    tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)),
    ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)),
    ((0, 0), (0, 1), (1, 0), (1, 1)),
)
#: Minimum number of rows and of columns of a board with windows.
SHORTEST: Final = 4
#: Maximum number of contents of all windows, and the minimum number of windows.
_MOST_CONTENTS, _FEWEST_WINDOWS = 1 << 15, 9


class Window(NamedTuple):
    """A window.

    Attributes:
        offsets: of its cells on the board. Windows with the same offsets share rows.
        contents: number of different contents, from 0, which is that of an empty window.
        steps: for each fluent, the number that it adds to the content.
    """

    offsets: tuple[Offset, ...]
    contents: int
    steps: Mapping[int, int]


def windows_of(game: Game, fluents: Sequence[Term]) -> list[Window]:
    """Return the windows of the board of a game with named fluents, none if there are too many contents."""
    kinds, cells = _board(game, fluents)
    for shape in _SHAPES if _is_large(cells) else ():
        windows = [_window(shape, center, kinds, cells) for center in sorted(cells)]
        windows = [window for window in windows if len(window.offsets) > len(shape) // 2]
        contents = sum({window.offsets: window.contents for window in windows}.values())
        if contents <= _MOST_CONTENTS and len(windows) >= _FEWEST_WINDOWS:
            return windows
    return []


def _is_large(cells: Mapping[Cell, object]) -> bool:
    return all(len({cell[axis] for cell in cells}) >= SHORTEST for axis in (0, 1))


def _window(
    shape: tuple[Offset, ...], center: Cell, kinds: int, cells: Mapping[Cell, Mapping[int, int]]
) -> Window:
    """Return the window of a shape around a cell, without the cells beyond the board."""
    around = {(row, column): (center[0] + row, center[1] + column) for row, column in shape}
    offsets = tuple(offset for offset, cell in around.items() if cell in cells)
    steps = {
        fluent: kind * kinds**place
        for place, offset in enumerate(offsets)
        for fluent, kind in cells[around[offset]].items()
        if kind
    }
    return Window(offsets, kinds ** len(offsets), steps)


def _board(game: Game, fluents: Sequence[Term]) -> tuple[int, dict[Cell, dict[int, int]]]:
    """Return the number of kinds of contents of a cell, and for each cell its fluents and their kinds.

    The kind 0 is an empty cell: one without a fluent, or with the most frequent kind of the initial state if
    each cell has a fluent there.
    """
    planes = planes_of(game, fluents)
    on_board: dict[int, tuple[str, Cell]] = {}
    for fluent, place in planes.places.items():
        channel, square = divmod(place, planes.rows * planes.columns)
        on_board[fluent] = planes.channels[channel], divmod(square, planes.columns)
    relations = Counter(name.split(" ", 1)[0] for name, _ in on_board.values())
    board, _ = max(relations.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    on_board = {fluent: at for fluent, at in on_board.items() if at[0].split(" ", 1)[0] == board}
    initial = game.initial_state().facts
    first = {fluent: at for fluent, at in on_board.items() if fluents[fluent] in initial}
    names = sorted({name for name, _ in on_board.values()})
    if {cell for _, cell in first.values()} == {cell for _, cell in on_board.values()}:
        empty, _ = Counter(name for name, _ in first.values()).most_common(1)[0] if first else ("", 0)
        names = [empty, *(name for name in names if name != empty)]
        number = {name: kind for kind, name in enumerate(names)}
    else:
        number = {name: kind for kind, name in enumerate(names, 1)}
    cells: dict[Cell, dict[int, int]] = defaultdict(dict)
    for fluent, (name, cell) in on_board.items():
        cells[cell][fluent] = number[name]
    return 1 + max(number.values(), default=0), dict(cells)
