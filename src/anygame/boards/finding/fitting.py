"""Layout of one fluent on a board: coordinates, squares, contents and orientation."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Final

from anygame.analysis.axes import AXIS_LIMIT, is_numbered, numbered, ordered
from anygame.boards.finding.layout import ONLY_ROW, Layout, split_name
from anygame.boards.finding.orientation import Bearing, Outline, orient
from anygame.boards.names import COLOURS
from anygame.language.terms import Constant, Term

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from anygame.analysis.axes import Axis
    from anygame.boards.finding.hints import Hint
    from anygame.boards.finding.layout import Content, Square
    from anygame.boards.finding.orientation import Arguments, Fluent

#: Maximum number of squares on all boards of one fluent: 64 rows of 64.
_SQUARES_LIMIT: Final = 4096
#: Maximum number of contents of a square; with more combinations of values, only initial contents count.
_CONTENTS_LIMIT: Final = 1024
#: Maximum ratio of squares to initial facts; with a higher ratio, a board is unlikely.
_DOUBTFUL: Final = 50
#: Words for an empty square.
_EMPTY: Final = frozenset({"blank", "empty", "none", "nil", "nothing", "free", "clear", "vacant"})
#: Letters that mean an empty square if they are the most frequent content.
_LETTERS: Final = frozenset({"b", "e", "_", "-"})
#: If all contents of a board are among these letters, ``b`` means an empty square.
_NOUGHTS: Final = frozenset({"b", "o", "x"})
#: Minimum number of initial squares with a frequent content that means an empty square.
_MANY: Final = 9
#: Minimum number of places in a row of a track.
_SHORTEST_TRACK: Final = 3
#: Maximum number of rows of a track.
_MOST_ROWS: Final = 6
#: Maximum number of boards in one row; more boards form a square.
_ROW_LIMIT: Final = 3
_BOARD_WORDS: Final = ("cell", "mark", "square", "grid", "board")


def fit(fluent: Fluent, hint: Hint | None = None) -> Layout | None:
    """Return the layout of a fluent; None if the facts of the fluent do not lie on a board."""
    if hint is None or hint.row is None or hint.column is None:
        at = _of_board(fluent) or _of_track(fluent)
    elif max(hint.row, hint.column, *hint.boards) < fluent.arity:
        at = Coordinates(hint.row, hint.column, hint.boards)
    else:
        return None
    if at is None:
        return None
    contents = tuple(index for index in range(fluent.arity) if index not in (at.first, at.second, *at.boards))
    values = _values_of(fluent, contents)
    blank = _blank_of(fluent, contents, values)
    started = {tuple(arguments[index] for index in contents) for arguments in fluent.initial}
    squares = _squares(fluent, at, has_blank=blank in started)
    everywhere = frozenset[tuple[Term, Term]]().union(*squares.values())
    # The rows of a track are sorted by text.
    orders = [() if at.track else fluent.axes[at.first], fluent.axes[at.second]]
    axes = [_axis(orders[side], {square[side] for square in everywhere}) for side in (0, 1)]
    count = sum(map(len, squares.values()))
    if not all(axes) or count > _SQUARES_LIMIT:
        return None
    if not (hint or fluent.base) and count > _DOUBTFUL * max(len(fluent.initial), 10):
        return None
    bearing = _bearing(fluent, at, hint, axes, everywhere)
    if bearing.swapped:
        axes.reverse()
        squares = {key: frozenset((row, column) for column, row in board) for key, board in squares.items()}
        everywhere = frozenset((row, column) for column, row in everywhere)
    outline = Outline(axes[0], axes[1], everywhere, fluent.neighbours)
    shape = "track" if at.track else outline.shape(hint.shape if hint else None)
    offsets = outline.offsets(shape)
    step = -1 if bearing.upwards else 1
    layout = Layout(
        fluent.functor,
        fluent.arity,
        row=at.second if bearing.swapped else at.first,
        column=at.first if bearing.swapped else at.second,
        boards=at.boards,
        contents=contents,
        rows=axes[0][::step],
        upwards=bearing.upwards,
        columns=axes[1],
        squares=squares,
        shape=shape,
        offsets=offsets[::step],
        values=values,
        blank=blank,
        started=frozenset(started),
    )
    return replace(layout, arrangement=_arranged(layout, fluent.axes)) if len(squares) > 1 else layout


def _arranged(layout: Layout, axes: Sequence[Axis]) -> dict[tuple[Term, ...], tuple[int, int]]:
    """Return the row and the column of each board in the arrangement of boards, from the top left.

    If two arguments distinguish boards, they are coordinates of boards, in the directions of rows and columns
    of squares. If one argument distinguishes boards, the boards are in reading order.
    """
    keys = list(layout.squares)
    if len(layout.boards) == 2:
        first_is_column = layout.column < layout.row
        indices = [numbered(axes[index]) for index in layout.boards]
        if all(value in known for key in keys for value, known in zip(key, indices, strict=True)):
            arrangement = {}
            for key in keys:
                one, two = (known[value] for value, known in zip(key, indices, strict=True))
                row, column = (two, one) if first_is_column else (one, two)
                height = len(indices[first_is_column])
                arrangement[key] = (height - 1 - row if layout.upwards else row, column)
            return arrangement
    wide = len(keys) if len(keys) <= _ROW_LIMIT else ceil(len(keys) ** 0.5)
    return {key: divmod(number, wide) for number, key in enumerate(keys)}


def _axis(axis: Axis, values: set[Term]) -> Axis:
    """Return values in the order of an axis; without an axis, in the order of numbers or of text."""
    if axis:
        return tuple(value for value in axis if value in values)
    constants = sorted({value for value in values if isinstance(value, Constant)})
    return ordered(values) or (tuple(constants) if len(constants) <= AXIS_LIMIT else ())


def _bearing(
    fluent: Fluent, at: Coordinates, hint: Hint | None, axes: Sequence[Axis], squares: Collection[Square]
) -> Bearing:
    if hint and hint.row is not None:
        return Bearing(swapped=False, upwards=bool(hint.upwards))
    bearing = Bearing(swapped=False, upwards=False)
    if at.first != at.second and not at.track:
        bearing = orient([fluent.names[at.first], fluent.names[at.second]], axes, squares)
    return Bearing(bearing.swapped, bearing.upwards if hint is None or hint.upwards is None else hint.upwards)


def _values_of(fluent: Fluent, contents: Sequence[int]) -> tuple[Content, ...]:
    """Return the possible contents of squares, sorted by text.

    With ``base``, the result contains all contents that ``base`` allows. Without ``base``, the result
    contains all combinations of values or, if there are too many, the initial contents.
    """
    domains = [fluent.domains[index] for index in contents]
    values: Iterable[Content]
    if fluent.base:
        values = {tuple(arguments[index] for index in contents) for arguments in fluent.base}
    elif prod(map(len, domains)) <= _CONTENTS_LIMIT:
        values = product(*domains)
    else:
        values = {tuple(arguments[index] for index in contents) for arguments in fluent.initial}
    return tuple(sorted(values, key=lambda content: [str(term) for term in content]))


def _blank_of(fluent: Fluent, contents: Sequence[int], values: Sequence[Content]) -> Content | None:
    """Return the content that means an empty square, if there is one.

    A content with a name such as ``empty`` comes first. Without such a content, the most frequent initial
    content is returned if it is a letter such as ``b`` or fills three quarters of the board.
    """
    if len(values) < 2 or not contents:
        return None
    counts = Counter(tuple(arguments[index] for index in contents) for arguments in fluent.initial)
    called = [content for content in values if all(str(term).lower() in _EMPTY for term in content)]
    if called:
        return max(called, key=lambda content: counts[content])
    if not counts:
        return None
    constants = {c: tuple(t if isinstance(t, Constant) else Constant("") for t in c) for c in values}
    letters = [content for content in values if not is_numbered(constants[content])]
    if len(letters) == 1 and len(values) > _SHORTEST_TRACK and str(letters[0][0]).lower() in _LETTERS:
        return letters[0]  # a letter names the gap between numbered tiles
    if {str(term).lower() for content in values for term in content} <= _NOUGHTS:
        return next((content for content in values if str(content[0]).lower() == "b"), None)
    content, count = counts.most_common(1)[0]
    if all(str(term).lower() in _LETTERS for term in content):
        return content
    is_common = 4 * count >= 3 * counts.total() and count >= _MANY and len(counts) > 1
    return content if is_common and not any(str(term) in COLOURS for term in content) else None


def _squares(
    fluent: Fluent, at: Coordinates, *, has_blank: bool
) -> dict[tuple[Term, ...], frozenset[Square]]:
    """Return the squares of each board.

    With ``base``, the result contains all squares that ``base`` allows. Without ``base``, the result contains
    the initial squares if a square is blank, or else all combinations of coordinates.
    """
    filled = fluent.base or (fluent.initial if has_blank else ())
    squares: dict[tuple[Term, ...], set[Square]] = defaultdict(set)
    axes = [(index, fluent.axes[index]) for index in (at.first, at.second) if fluent.axes[index]]
    for arguments in filled or _combinations(fluent, at):
        square = at.square(arguments)
        if square is not None and all(arguments[index] in axis for index, axis in axes):
            squares[tuple(arguments[index] for index in at.boards)].add(square)
    order: dict[Term, int] = {
        term: number for index in at.boards for number, term in enumerate(fluent.axes[index])
    }
    keys = sorted(squares, key=lambda key: [(order.get(term, -1), str(term)) for term in key])
    return {key: frozenset(squares[key]) for key in keys}


def _combinations(fluent: Fluent, at: Coordinates) -> Iterable[Arguments]:
    """Return facts with all combinations of coordinates and boards; none if there are too many."""
    wanted = {at.first, at.second, *at.boards}
    known = [axis or values for axis, values in zip(fluent.axes, fluent.domains, strict=True)]
    domains = [values if index in wanted else values[:1] for index, values in enumerate(known)]
    return product(*domains) if prod(map(len, domains)) <= _SQUARES_LIMIT else ()


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The indices of the arguments that determine the square of a fact."""

    #: Index of the first coordinate.
    first: int
    #: Index of the second coordinate. If one argument names a whole square, such as ``c3``, both indices are
    #: equal.
    second: int
    #: Indices of the arguments that distinguish several boards.
    boards: tuple[int, ...] = ()
    #: Whether the board is a track: ``first`` names a row, and ``second`` numbers the places in the row. On a
    #: track with one row, ``first`` equals ``second``.
    track: bool = False

    def square(self, arguments: Arguments) -> Square | None:
        """Return the square of a fact; None if its argument is not the name of a square."""
        if self.first == self.second and self.track:
            return ONLY_ROW, arguments[self.second]
        if self.first == self.second:
            return split_name(arguments[self.first])
        return arguments[self.first], arguments[self.second]


def _of_track(fluent: Fluent) -> Coordinates | None:
    """Return the coordinates of a track, on which each ordered value has one initial fact in each row."""
    count = len(fluent.initial)
    for index, axis in enumerate(fluent.axes):
        plain = is_numbered(axis) or all(len(value.name) == 1 for value in axis)
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
        # The third argument has the same ordered values: it numbers layers. The lowest layer may start full.
        return Coordinates(along[0], along[1], (along[2],))
    half = max(prod(len(fluent.axes[index]) for index in along[:2]) / 2, 4)
    if len(fluent.initial) >= half and _is_key(fluent.initial, along[:2]):
        return Coordinates(along[0], along[1])
    if len(along) == 3 and loose:
        return _of_three(fluent, along)
    if len(along) == 3:
        # The third argument is the content.
        return Coordinates(along[0], along[1]) if _is_key(fluent.initial, along[:2]) else None
    if len(along) == 4 and not loose and _is_key(fluent.initial, along[:3]) and len(fluent.initial) >= 8:
        return Coordinates(along[1], along[2], (along[0],))
    return Coordinates(along[2], along[3], (along[0], along[1])) if len(along) == 4 and loose else None


def _named_squares(fluent: Fluent) -> Coordinates | None:
    """Return the coordinates of a board whose squares have names such as ``c3``; None if there is none."""
    if fluent.arity < 2 or not fluent.initial:
        return None
    for index, values in enumerate(fluent.domains):
        squares = [split_name(value) for value in values]
        letters = {square[0] for square in squares if square}
        if all(squares) and len(squares) >= 9 and len(letters) >= 3 and _is_key(fluent.initial, [index]):
            return Coordinates(index, index)
    return None


def _is_called_board(fluent: Fluent) -> bool:
    """Return whether the name of a fluent, or the names of its variables, are words for a board."""
    kinds = [set(counter) for counter in fluent.names]
    called = kinds in ([{"row"}, {"column"}], [{"column"}, {"row"}])
    return called or any(word in fluent.functor.lower() for word in _BOARD_WORDS)


def _telling(facts: Sequence[Arguments], along: Sequence[int], loose: Sequence[int]) -> tuple[int, ...]:
    """Return the argument that distinguishes boards, if several initial facts share a square."""
    if _is_key(facts, along) or len(loose) < 2:
        return ()
    return next(((index,) for index in loose if _is_key(facts, [*along, index])), ())


def _of_three(fluent: Fluent, along: Sequence[int]) -> Coordinates:
    """Return coordinates for three ordered arguments, one of which distinguishes boards.

    The argument with a unique number of values distinguishes boards (of three unique numbers, the smallest).
    If all three numbers are equal, the last argument distinguishes boards.
    """
    sizes = {index: len(fluent.axes[index]) for index in along}
    counts = Counter(sizes.values())
    odd = [index for index in along if counts[sizes[index]] == 1]
    distinguishing = min(odd, key=sizes.__getitem__) if odd else along[2]
    first, second = (index for index in along if index != distinguishing)
    return Coordinates(first, second, (distinguishing,))


def _is_key(facts: Sequence[Arguments], indices: Sequence[int]) -> bool:
    return len({tuple(fact[index] for index in indices) for fact in facts}) == len(facts)
