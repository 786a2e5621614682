"""Windows: groups of neighboring cells of a board, as inputs of a network.

A window has a row of weights for each possible content of its cells. All complete windows share their rows,
as in the tuple networks of Lucas (2008, "Learning to play Othello with n-tuple systems"). At the edge of the
board, windows lack cells. Windows that lack the same cells share rows. The windows of a board have the first
shape in ``_SHAPES`` that needs few enough rows.
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

#: Shapes of windows as offsets (row, column) from a central cell: 3x3, a cross, and 2x2.
_SHAPES: Final = (
    tuple((row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)),
    ((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)),
    ((0, 0), (0, 1), (1, 0), (1, 1)),
)
#: Minimum number of rows, and of columns, of a board with windows.
SHORTEST: Final = 4
#: Maximum number of possible contents, summed over the windows of a board with different offsets.
_MOST_CONTENTS: Final = 1 << 15
#: Minimum number of windows of a board.
_FEWEST_WINDOWS: Final = 9


class Window(NamedTuple):
    """A window. A number encodes the contents of all cells; the number is 0 if all cells are empty."""

    offsets: tuple[Offset, ...]  # Offsets of the cells. Windows with the same offsets share weight rows.
    contents: int  # Number of possible contents of the window.
    steps: Mapping[int, int]  # For each fluent, the number that the fluent adds to the content.


def windows_of(game: Game, fluents: Sequence[Term]) -> list[Window]:
    """Return the windows of a game's board; empty if the board is small or has too many possible contents."""
    kinds, cells = _board(game, fluents)
    is_large = all(len({cell[axis] for cell in cells}) >= SHORTEST for axis in (0, 1))
    for shape in _SHAPES if is_large else ():
        windows = [_window(shape, center, kinds, cells) for center in sorted(cells)]
        windows = [window for window in windows if len(window.offsets) > len(shape) // 2]
        contents = sum({window.offsets: window.contents for window in windows}.values())
        if contents <= _MOST_CONTENTS and len(windows) >= _FEWEST_WINDOWS:
            return windows
    return []


def _window(
    shape: tuple[Offset, ...], center: Cell, kinds: int, cells: Mapping[Cell, Mapping[int, int]]
) -> Window:
    """Return the window of a shape around a cell, without cells outside the board."""
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
    """Return the number of possible contents of a cell, and for each cell the content of each fluent.

    A content is a number, and 0 means an empty cell. If every cell has a fluent in the initial state, content
    0 is the most frequent content in the initial state. Otherwise, a cell without a fluent has content 0.
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
    first = [at for fluent, at in on_board.items() if fluents[fluent] in initial]
    names = sorted({name for name, _ in on_board.values()})
    first_kind = 1
    if first and {cell for _, cell in first} == {cell for _, cell in on_board.values()}:
        ((empty, _),) = Counter(name for name, _ in first).most_common(1)
        names = [empty, *(name for name in names if name != empty)]
        first_kind = 0
    kinds = {name: kind for kind, name in enumerate(names, first_kind)}
    cells: dict[Cell, dict[int, int]] = defaultdict(dict)
    for fluent, (name, cell) in on_board.items():
        cells[cell][fluent] = kinds[name]
    return 1 + max(kinds.values(), default=0), dict(cells)
