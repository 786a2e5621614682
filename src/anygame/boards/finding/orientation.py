"""Orientation: which argument of a fluent names the row of a board, and which way rows follow each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.axes import contiguous, is_numbered, prefix
from anygame.language.rules import atoms_in
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from anygame.boards.finding.axes import Axis
    from anygame.boards.finding.layout import Square
    from anygame.language.rules import Rule

#: For each argument of a fluent, how often the rules call it by which kind of name.
Names = tuple[Counter[str], ...]

_KINDS: Final = {
    "row": "row", "rows": "row", "r": "row",
    "column": "column", "columns": "column", "col": "column", "c": "column",
    "x": "x", "y": "y",
    "file": "file", "rank": "rank",
}  # fmt: skip
_ROWS: Final = frozenset({"row", "rank", "y"})
_COLUMNS: Final = frozenset({"column", "file", "x"})
_UPWARDS: Final = frozenset({"rank", "file", "x", "y"})
_FLUENT_KEYWORDS: Final = frozenset({"true", "next", "init", "base"})


@dataclass(frozen=True, slots=True)
class Bearing:
    """How a board lies.

    Attributes:
        swapped: the first coordinate names the column, the second the row.
        upwards: the first row is at the bottom.
        hexagon: rows are centred, each one square longer or shorter than the next.
    """

    swapped: bool
    upwards: bool
    hexagon: bool = False


def variable_names(rules: Sequence[Rule]) -> dict[tuple[str, int], Names]:
    """Return for every fluent, by functor and arity, the kinds of names its arguments go by in the rules."""
    found: dict[tuple[str, int], Names] = {}
    for rule in rules:
        for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
            fluent = atom.arguments[0] if atom.arguments else None
            if atom.predicate in _FLUENT_KEYWORDS and isinstance(fluent, Compound):
                key = fluent.functor, len(fluent.arguments)
                names = found.setdefault(key, tuple(Counter() for _ in fluent.arguments))
                for counter, argument in zip(names, fluent.arguments, strict=True):
                    kind = _kind(argument.name) if isinstance(argument, Variable) else ""
                    if kind:
                        counter[kind] += 1
    return found


def orient(names: Sequence[Counter[str]], axes: Sequence[Axis], squares: Collection[Square]) -> Bearing:
    """Decide how a board lies.

    Args:
        names: what the rules call the two coordinates.
        axes: the values of the two coordinates, in order.
        squares: the two coordinates of every square.
    """
    if is_hexagon(axes[0], axes[1], squares):
        return Bearing(swapped=False, upwards=False, hexagon=True)
    if is_hexagon(axes[1], axes[0], [(second, first) for first, second in squares]):
        return Bearing(swapped=True, upwards=False, hexagon=True)
    numbered = [is_numbered(axis) for axis in axes]
    prefixes = [_kind(prefix(axis)) for axis in axes]
    named = _by_kinds(prefixes) or _by_kinds([_commonest(counter) for counter in names])
    swapped = named.swapped if named else numbered != [True, False]
    rows, columns = reversed(numbered) if swapped else numbered
    like_chess = rows and not columns
    return Bearing(swapped, upwards=named.upwards or like_chess if named else True)


def _by_kinds(kinds: Sequence[str]) -> Bearing | None:
    """Return how a board lies by the kinds of names of its coordinates, where these say it."""
    for swapped, (one, two) in ((False, kinds), (True, kinds[::-1])):
        if one != two and (one in _ROWS or two in _COLUMNS):
            return Bearing(swapped, upwards=bool({one, two} & _UPWARDS))
    return None


def is_hexagon(rows: Axis, columns: Axis, squares: Collection[Square]) -> bool:
    """Whether rows without gaps grow and then shrink by one square at a time."""
    lengths = []
    for row in rows:
        members = [column for r, column in squares if r == row]
        if not members or not contiguous(columns, members):
            return False
        lengths.append(len(members))
    steps = [after - before for before, after in pairwise(lengths)]
    return sorted(steps, reverse=True) == steps and set(steps) == {1, -1}


def _kind(name: str) -> str:
    """Return which kind of coordinate is called so, empty for none."""
    return _KINDS.get(name.lower().rstrip("0123456789_'+-"), "")


def _commonest(counter: Counter[str]) -> str:
    """Return the kind of most uses; among equals the first by text, so that rule order changes nothing."""
    return min(counter, key=lambda kind: (-counter[kind], kind), default="")
