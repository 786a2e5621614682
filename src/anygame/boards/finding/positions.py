"""Boards of things whose coordinates are two separate fluents, and grids of lines between dots."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from anygame.analysis.axes import chains, ordered, pairs_in
from anygame.boards.finding.evidence import occurrences
from anygame.boards.finding.layout import Layout, Lines
from anygame.errors import AnygameError
from anygame.language.rules import atoms_of
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.axes import Axis
    from anygame.boards.finding.layout import Square
    from anygame.boards.finding.orientation import Arguments, Fluent
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: The parts in which the names of two coordinate fluents differ, and whether the first names the row.
_NAMES: Final = (("x", "y", False), ("X", "Y", False), ("row", "column", True), ("row", "col", True))
#: Maximum number of squares: 64 rows of 64.
_MOST_SQUARES: Final = 4096
#: Minimum number of pairs in a relation that lists squares.
_FEWEST_SQUARES: Final = 9
#: Minimum number of lines in a grid: the four lines between four dots.
_FEWEST: Final = 4
#: Maximum number of legal moves of each role that are checked.
_MOVES_LIMIT: Final = 20_000


def find_positions(fluents: Sequence[Fluent], rules: Sequence[Rule]) -> tuple[Layout, ...]:
    """Return the boards of things if one fluent gives their columns, and another fluent their rows.

    The names of both fluents differ like ``x`` and ``y``. If a relation of the rules contains all initial
    positions, its pairs are the squares of the board. Without such a relation, the squares are all
    combinations of rows and columns.
    """
    by_key = {fluent.key: fluent for fluent in fluents}
    layouts = []
    for one in fluents:
        for first, second, is_row in _NAMES:
            name = one.functor.replace(first, second, 1)
            other = by_key.get((name, one.arity)) if name != one.functor else None
            if other is None or not (_walks(one, rules) and _walks(other, rules)):
                continue
            pair = (other, one) if is_row else (one, other)
            if layout := _positions(*pair, rules, is_row=is_row):
                layouts.append(layout)
            break
    return tuple(layouts)


def _walks(fluent: Fluent, rules: Iterable[Rule]) -> bool:
    """Return whether a rule changes the last argument of a fluent, as moves change a coordinate."""
    wanted = "fluent", *fluent.key
    return any(
        now.predicate == former.predicate == wanted
        and isinstance(former.arguments[-1], Variable)
        and former.arguments[:-1] == now.arguments[:-1]
        and former.arguments[-1] != now.arguments[-1]
        for rule in rules
        for now in occurrences([rule.head], "next")
        for former in occurrences(atoms_of(rule), "true")
    )


def _positions(across: Fluent, up: Fluent, rules: Sequence[Rule], *, is_row: bool) -> Layout | None:
    """Return the board of two coordinate fluents; None if there is no board or the board is too large."""
    whose = list(across.domains[:-1])
    starts = _starts(across.initial, up.initial)
    if [set(each) for each in whose] != [set(each) for each in up.domains[:-1]] or not starts:
        return None
    successions = chains(rules)
    squares = _named_squares(across, up, starts, rules)
    columns = ordered({column for column, _ in squares}, successions) or _axis(across, successions)
    rows = ordered({row for _, row in squares}, successions) or _axis(up, successions)
    squares = squares or set(product(columns, rows))
    if not columns or not rows or len(squares) > _MOST_SQUARES:
        return None
    contents = tuple(range(across.arity - 1))
    return Layout(
        f"{across.functor} {up.functor}",
        across.arity + 1,
        row=across.arity,
        column=across.arity - 1,
        boards=(),
        contents=contents,
        rows=rows if is_row else rows[::-1],
        upwards=not is_row,
        columns=columns,
        squares={(): frozenset((row, column) for column, row in squares)},
        shape="square",
        offsets=tuple(0 for _ in rows),
        values=tuple(product(*whose)) if prod(map(len, whose)) <= _MOST_SQUARES else (),
        joined=(across.functor, up.functor),
    )


def _axis(fluent: Fluent, successions: Sequence[dict[Constant, int]]) -> Axis:
    return fluent.axes[-1] or ordered(fluent.domains[-1], successions)


def _starts(across: Iterable[Arguments], up: Iterable[Arguments]) -> list[tuple[Term, Term]]:
    """Return the initial positions of things; empty unless each thing has exactly one position."""
    columns = {arguments[:-1]: arguments[-1] for arguments in across}
    rows = {arguments[:-1]: arguments[-1] for arguments in up}
    is_clear = columns.keys() == rows.keys() and len(columns) == len(list(across)) == len(list(up))
    return [(column, rows[whose]) for whose, column in columns.items()] if is_clear else []


def _named_squares(
    across: Fluent, up: Fluent, starts: Iterable[tuple[Term, Term]], rules: Iterable[Rule]
) -> set[Square]:
    """Return the pairs of the largest relation that lists squares; empty if there is none."""
    columns, rows = set(across.domains[-1]), set(up.domains[-1])
    named: list[set[Square]] = [
        set(squares)
        for squares in map(set, pairs_in(rules).values())
        if len(squares) >= _FEWEST_SQUARES
        and squares >= set(starts)
        # A relation that is a function, such as the successor of a number, does not list squares.
        and len(squares) > len({column for column, _ in squares})
        and len({column for column, _ in squares} & columns) > 1
        and len({row for _, row in squares} & rows) > 1
    ]
    return max(named, key=len, default=set())


def find_lines(fluents: Iterable[Fluent], game: Game) -> tuple[Lines, ...]:
    """Return the fluents whose facts are lines between dots: four arguments are the coordinates of two dots.

    In all facts that `base` allows, the two dots must be neighbours. Without `base`, the dots in all initial
    facts and legal moves must be neighbours.
    """
    all_lines = []
    for fluent in fluents:
        lines = _fit(fluent)
        if lines is None:
            continue
        facts = fluent.base or fluent.initial
        lines_met = [tuple(arguments[index] for index in lines.key) for arguments in facts]
        if not fluent.base:
            try:
                lines_met += _moves(lines, game.initial_state())
            except AnygameError:
                return ()
        if len(set(lines_met)) >= _FEWEST and all(map(lines.places, lines_met)):
            all_lines.append(lines)
    return tuple(all_lines)


def _fit(fluent: Fluent) -> Lines | None:
    """Return lines whose coordinates are four adjacent arguments; a fifth argument can name the owner."""
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
    for role in state.game.roles:
        for move in state.legal_moves(role)[:_MOVES_LIMIT]:
            if isinstance(move, Compound) and len(move.arguments) == 4:
                across = set(move.arguments[::2]) <= set(lines.across)
                if across and set(move.arguments[1::2]) <= set(lines.up):
                    yield move.arguments
