"""Coordinates: which arguments of a fluent name a square, which distinguish boards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.axes import is_numbered
from anygame.boards.finding.layout import ONLY_ROW, split_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards.finding.fluents import Arguments, Fluent
    from anygame.boards.finding.layout import Square

#: Fewer places in a row are no track, and rows of one are as many as players.
_SHORTEST_TRACK: Final = 3
_MOST_ROWS: Final = 6
_BOARD_WORDS: Final = ("cell", "mark", "square", "grid", "board")


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The arguments that say where a fact lies.

    Attributes:
        first: one coordinate.
        second: the other; the same argument where one names both, as ``c3`` does.
        boards: the arguments that distinguish several boards.
        track: whether cells stand in a row, numbered: then ``first`` names the row, or is ``second`` if there
            is but one row.
    """

    first: int
    second: int
    boards: tuple[int, ...] = ()
    track: bool = False

    def square(self, arguments: Arguments) -> Square | None:
        """Return both coordinates of a fact; None for a name that does not name a square."""
        if self.first == self.second and self.track:
            return ONLY_ROW, arguments[self.second]
        if self.first == self.second:
            return split_name(arguments[self.first])
        return arguments[self.first], arguments[self.second]


def find_coordinates(fluent: Fluent) -> Coordinates | None:
    """Return the coordinates of a fluent, or None if it looks like neither a board nor a track."""
    return _of_board(fluent) or _of_track(fluent)


def with_layers(fluent: Fluent) -> Fluent:
    """Return a fluent whose third coordinate runs over no more values than the first two, where these agree.

    Of what lies on top of each other, the rules often give no bound: one comes after the other, as numbers.
    All starts on the lowest layer then.
    """
    along = [index for index, axis in enumerate(fluent.axes) if axis]
    if len(along) != 3 or len(along) == fluent.arity or not fluent.initial:
        return fluent
    first, second, third = (fluent.axes[index] for index in along)
    started = {arguments[along[2]] for arguments in fluent.initial}
    if first != second or third[: len(first)] != first or started != {third[0]}:
        return fluent
    return replace(
        fluent, axes=[first if index == along[2] else axis for index, axis in enumerate(fluent.axes)]
    )


def _of_track(fluent: Fluent) -> Coordinates | None:
    """Find an ordered argument of which each value has one fact in the initial state: heaps, pits, squares.

    There may be several rows of them, one for each value of another argument.
    """
    count = len(fluent.initial)
    for index, axis in enumerate(fluent.axes):
        plain = is_numbered(axis) or all(len(value.name) == 1 for value in axis) if axis else False
        if not plain or len(axis) < _SHORTEST_TRACK or fluent.arity < 2:
            continue
        if count == len(axis) and _is_key(fluent.initial, [index]):
            return Coordinates(index, index, track=True)
        for row, values in enumerate(fluent.domains):
            rows = len(values) if row != index and fluent.arity > 2 else 0
            if 1 < rows <= _MOST_ROWS and count == rows * len(axis) and _is_key(fluent.initial, [row, index]):
                return Coordinates(row, index, track=True)
    return None


def _of_board(fluent: Fluent) -> Coordinates | None:
    along = [index for index, axis in enumerate(fluent.axes) if axis]
    loose = [index for index, axis in enumerate(fluent.axes) if not axis]
    if not along:
        return _named_squares(fluent)
    if len(along) < 2 or (len(along) == 2 and not loose and not _is_called_board(fluent)):
        return None
    if len(along) == 2:
        return Coordinates(along[0], along[1], _telling(fluent.initial, along, loose))
    if len(along) == 3 and loose and len({frozenset(fluent.axes[index]) for index in along}) == 1:
        # Three coordinates of the same values: layers, also where the lowest is full at the start.
        return Coordinates(along[0], along[1], (along[2],))
    if len(fluent.initial) >= _half(fluent, along[:2]) and _is_key(fluent.initial, along[:2]):
        return Coordinates(along[0], along[1])
    if len(along) == 3:
        return _of_three(fluent, along) if loose else _with_number(fluent, along)
    if len(along) == 4 and not loose and _is_key(fluent.initial, along[:3]) and len(fluent.initial) >= 8:
        return Coordinates(along[1], along[2], (along[0],))
    return Coordinates(along[2], along[3], (along[0], along[1])) if len(along) == 4 and loose else None


def _named_squares(fluent: Fluent) -> Coordinates | None:
    """Find an argument whose values are all like ``c3``, if it distinguishes facts and is not alone."""
    if fluent.arity < 2 or not fluent.initial:
        return None
    for index, values in enumerate(fluent.domains):
        squares = [split_name(value) for value in values]
        letters = {square[0] for square in squares if square}
        if all(squares) and len(squares) >= 9 and len(letters) >= 3 and _is_key(fluent.initial, [index]):
            return Coordinates(index, index)
    return None


def _is_called_board(fluent: Fluent) -> bool:
    """Whether a fluent without content is a board by its name, or by the names of its two arguments."""
    kinds = [set(counter) for counter in fluent.names]
    called = kinds in ([{"row"}, {"column"}], [{"column"}, {"row"}])
    return called or any(word in fluent.functor.lower() for word in _BOARD_WORDS)


def _telling(facts: Sequence[Arguments], along: Sequence[int], loose: Sequence[int]) -> tuple[int, ...]:
    """Return the content argument that distinguishes boards, where squares alone do not distinguish facts."""
    if _is_key(facts, along) or len(loose) < 2:
        return ()
    return next(((index,) for index in loose if _is_key(facts, [*along, index])), ())


def _of_three(fluent: Fluent, along: Sequence[int]) -> Coordinates:
    """Distinguish boards by the odd one of three sizes, else the smallest; of three alike, by the last."""
    sizes = {index: len(fluent.axes[index]) for index in along}
    counts = Counter(sizes.values())
    odd = [index for index in along if counts[sizes[index]] == 1]
    distinguishing = min(odd, key=sizes.__getitem__) if odd else along[2]
    first, second = (index for index in along if index != distinguishing)
    return Coordinates(first, second, (distinguishing,))


def _with_number(fluent: Fluent, along: Sequence[int]) -> Coordinates | None:
    """Take the last of three ordered arguments as the content, if the first two distinguish the facts."""
    return Coordinates(along[0], along[1]) if _is_key(fluent.initial, along[:2]) else None


def _is_key(facts: Sequence[Arguments], indices: Sequence[int]) -> bool:
    return len({tuple(fact[index] for index in indices) for fact in facts}) == len(facts)


def _half(fluent: Fluent, indices: Sequence[int]) -> float:
    return max(prod(len(fluent.axes[index]) for index in indices) / 2, 4)
