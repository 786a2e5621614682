"""Dots: fluents whose facts draw lines between neighbouring dots of a grid, with boxes between the dots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.layout import Lines
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.boards.finding.fluents import Fluent
    from anygame.boards.finding.layout import Layout
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Fewer lines are no grid: that of four dots has as many.
_FEWEST: Final = 4
#: Legal moves that are looked at.
_MOVES_LIMIT: Final = 20_000


def find_lines(fluents: Iterable[Fluent], state: State) -> tuple[Lines, ...]:
    """Return the fluents that draw lines between dots.

    Four arguments are the coordinates of two dots. That all facts of it that `base` allows name neighbours
    shows that they are lines; without `base`, that all those of the initial state do, and all moves with four
    such arguments.
    """
    found = []
    for fluent in fluents:
        lines = _fit(fluent)
        if lines is None:
            continue
        facts = fluent.base or fluent.initial
        lines_met = [tuple(arguments[index] for index in lines.key) for arguments in facts]
        if not fluent.base:
            lines_met += _moves(lines, state)
        if len(set(lines_met)) >= _FEWEST and all(map(lines.places, lines_met)):
            found.append(lines)
    return tuple(found)


def with_boxes(lines: Lines, layouts: Sequence[Layout]) -> tuple[Lines, Layout | None]:
    """Put the board whose squares are those between the dots into the lines; return it too, None for none."""
    for layout in layouts:
        between = (
            layout.shape == "square"
            and not layout.boards
            and layout.column < layout.row
            and layout.columns == lines.across[:-1]
            and layout.rows == lines.up[:-1][::-1]
        )
        if between:
            return replace(lines, boxes=layout), layout
    return lines, None


def _fit(fluent: Fluent) -> Lines | None:
    """Return lines whose coordinates are four arguments in a row; one more may say whose they are."""
    for start in range(fluent.arity - 3):
        x1, y1, x2, y2 = fluent.axes[start : start + 4]
        if not (x1 and y1 and x1 == x2 and y1 == y2):
            continue
        contents = tuple(index for index in range(fluent.arity) if not start <= index < start + 4)
        if len(contents) < 2:
            values = tuple((value,) for index in contents for value in fluent.domains[index])
            key = tuple(range(start, start + 4))
            return Lines(fluent.functor, fluent.arity, key, contents, x1, y1, values=values)
    return None


def _moves(lines: Lines, state: State) -> Iterator[tuple[Term, ...]]:
    """Yield the ends that legal moves name, of those moves that have four coordinates and nothing else."""
    for role in state.game.roles:
        for move in state.legal_moves(role)[:_MOVES_LIMIT]:
            if isinstance(move, Compound) and len(move.arguments) == 4:
                across = set(move.arguments[::2]) <= set(lines.across)
                if across and set(move.arguments[1::2]) <= set(lines.up):
                    yield move.arguments
