"""Orientation of a board: which argument names rows, the direction of rows, and the shift of each row."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.axes import chains, contiguous, is_numbered, numbered, ordered, prefix
from anygame.boards.finding.evidence import neighbours_in, occurrences
from anygame.language.rules import atoms_of
from anygame.language.terms import Compound, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from anygame.analysis.axes import Axis
    from anygame.boards.finding.layout import Shape, Square
    from anygame.game.game import Game
    from anygame.language.rules import Rule


#: For each argument of a fluent, how often the rules use each kind of variable name.
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
#: Minimum percentage of pairs of neighbours that touch on a board with shifted rows.
_SURE: Final = 80
#: Minimum number of pairs of neighbours as evidence for shifted rows.
_FEWEST: Final = 8


class Bearing(NamedTuple):
    """The orientation of a board."""

    #: Whether the first coordinate names the column and the second the row.
    swapped: bool
    #: Whether the first row is at the bottom.
    upwards: bool


def variable_names(rules: Sequence[Rule]) -> dict[tuple[str, int], Names]:
    """Count the kinds of variable names of each argument, for each fluent by name and arity."""
    names_of: dict[tuple[str, int], Names] = {}
    for rule in rules:
        for (kind, name, arity), arguments in occurrences(atoms_of(rule)):
            if kind == "fluent":
                names = names_of.setdefault((name, arity), tuple(Counter() for _ in arguments))
                for counter, argument in zip(names, arguments, strict=True):
                    called = _kind(argument.name) if isinstance(argument, Variable) else ""
                    if called:
                        counter[called] += 1
    return names_of


def orient(names: Sequence[Counter[str]], axes: Sequence[Axis], squares: Collection[Square]) -> Bearing:
    """Return the orientation of a board.

    Variable names and axes are given in the order of the two coordinates.
    """
    if Outline(axes[0], axes[1], squares).is_hexagon:
        return Bearing(swapped=False, upwards=False)
    if Outline(axes[1], axes[0], [(second, first) for first, second in squares]).is_hexagon:
        return Bearing(swapped=True, upwards=False)
    with_numbers = [is_numbered(axis) for axis in axes]
    prefixes = [_kind(prefix(axis)) for axis in axes]
    named = _by_kinds(prefixes) or _by_kinds([_commonest(counter) for counter in names])
    swapped = named.swapped if named else with_numbers != [True, False]
    rows, columns = reversed(with_numbers) if swapped else with_numbers
    like_chess = rows and not columns
    return Bearing(swapped, upwards=named.upwards or like_chess if named else True)


def _by_kinds(kinds: Sequence[str]) -> Bearing | None:
    """Return the orientation that the kinds of variable names determine; None if they determine none."""
    for swapped, (one, two) in ((False, kinds), (True, kinds[::-1])):
        if one != two and (one in _ROWS or two in _COLUMNS):
            return Bearing(swapped, upwards=bool({one, two} & _UPWARDS))
    return None


def _kind(name: str) -> str:
    return _KINDS.get(name.lower().rstrip("0123456789_'+-"), "")


def _commonest(counter: Counter[str]) -> str:
    """Return the most common kind; alphabetical order breaks ties, so the order of rules has no effect."""
    return min(counter, key=lambda kind: (-counter[kind], kind), default="")


@dataclass(frozen=True)
class Outline:
    """The squares of a board, and the pairs of squares that the rules name together."""

    rows: Axis
    columns: Axis
    squares: Collection[Square]
    neighbours: Collection[tuple[Square, Square]] = ()

    @cached_property
    def _by_row(self) -> list[list[Term]]:
        return [[column for of, column in self.squares if of == row] for row in self.rows]

    @cached_property
    def _steps(self) -> list[int]:
        return [len(after) - len(before) for before, after in pairwise(self._by_row)]

    @cached_property
    def _is_whole(self) -> bool:
        return all(row and contiguous(self.columns, row) for row in self._by_row)

    @property
    def is_hexagon(self) -> bool:
        """Whether the rows have no gaps, and grow and then shrink by one square at a time."""
        steps = self._steps
        return self._is_whole and sorted(steps, reverse=True) == steps and set(steps) == {1, -1}

    def shape(self, hinted: str | None) -> Shape:
        """Return the shape of the board, which a hint can determine.

        Rows whose lengths differ by odd numbers are centred if most neighbours touch in centred rows.
        """
        if hinted == "square":
            return "square"
        if self.is_hexagon:
            return "hexagon"
        if hinted == "hex":
            return "hexagon" if set(self._steps) <= {1, -1} else "slanted"
        if len(self.neighbours) < _FEWEST or not self._is_whole or not all(step % 2 for step in self._steps):
            return "square"
        return "hexagon" if self._neighbours_touch(self._centred()) else "square"

    def offsets(self, shape: Shape) -> tuple[int, ...]:
        """Return the shift of every row to the right, in half squares."""
        if shape == "hexagon":
            return self._centred()
        return tuple(number if shape == "slanted" else 0 for number, _ in enumerate(self.rows))

    def _centred(self) -> tuple[int, ...]:
        starts = [min(map(self.columns.index, row)) for row in self._by_row]
        widest = max(map(len, self._by_row))
        return tuple(widest - len(row) - 2 * start for row, start in zip(self._by_row, starts, strict=True))

    def _neighbours_touch(self, shifts: Sequence[int]) -> bool:
        """Return whether most neighbours touch on a board whose rows have these shifts, in half squares."""
        rows, columns = numbered(self.rows), numbered(self.columns)
        touch = []
        for one, other in self.neighbours:
            if one[0] in rows and other[0] in rows and one[1] in columns and other[1] in columns:
                row, next_row = rows[one[0]], rows[other[0]]
                across = 2 * (columns[other[1]] - columns[one[1]])
                distance = abs(across + shifts[next_row] - shifts[row])
                touch.append(
                    (row == next_row and distance == 2) or (abs(next_row - row) == 1 and distance == 1)
                )
        return 100 * sum(touch) >= _SURE * len(touch)


#: The arguments of a fact.
Arguments = tuple[Term, ...]

#: Maximum number of ``base`` facts; with more facts, ``base`` is ignored.
_BASE_LIMIT: Final = 100_000
#: Minimum number of initial facts on a filled board: three by three.
_FILLED: Final = 9


@dataclass(frozen=True)
class Fluent:
    """Evidence about one fluent."""

    functor: str
    #: The values of each argument.
    domains: Sequence[Sequence[Term]]
    #: The ordered values of each argument; empty for an argument whose values have no order.
    axes: Sequence[Axis]
    #: The arguments of the facts in the initial state.
    initial: Sequence[Arguments]
    #: The arguments of the facts that ``base`` allows; empty without ``base``.
    base: Sequence[Arguments]
    names: Names
    #: Pairs of squares in facts of the rules; see `neighbours_in`.
    neighbours: frozenset[tuple[Square, Square]] = frozenset()

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity."""
        return self.functor, self.arity

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.domains)


def fluents_of(game: Game) -> list[Fluent]:
    """Return the fluents of a game that have arguments, sorted by name.

    Raises:
        AnygameError: the fluents of the game cannot be inferred.
    """
    rules = game.program.rules
    state = game.initial_state()
    declared: list[Term] = []
    if any(rule.head.key == ("base", 1) for rule in rules):
        bindings = islice(state.query("(base ?fluent)"), _BASE_LIMIT + 1)
        declared = [binding["fluent"] for binding in bindings]
    base = _by_fluent(declared) if len(declared) <= _BASE_LIMIT else {}
    initial = _by_fluent(state.facts)
    names = variable_names(rules)
    successions = chains(rules)
    fluents = []
    for key, known in sorted(game.fluents.items()):
        # `base` is exact; inferred domains can contain rows that no board has.
        columns = [sorted(set(column)) for column in zip(*base.get(key, ()), strict=True)]
        domains = columns or list(map(list, known))
        axes = [ordered(values, successions) for values in domains]
        started = initial.get(key, ())
        if len(started) >= _FILLED:
            # Inferred domains can also mix rows and columns, unlike the initial facts of a filled board.
            seen = [ordered(column, successions) for column in zip(*started, strict=True)]
            axes = [axis or other for axis, other in zip(axes, seen, strict=True)]
        unnamed = tuple(Counter[str]() for _ in domains)
        fluents.append(
            Fluent(
                key[0],
                domains,
                axes,
                started,
                base.get(key, ()),
                names.get(key, unnamed),
                neighbours_in(rules, domains),
            )
        )
    return [fluent for fluent in fluents if fluent.arity]


def _by_fluent(facts: Iterable[Term]) -> dict[tuple[str, int], list[Arguments]]:
    by_fluent: dict[tuple[str, int], list[Arguments]] = defaultdict(list)
    for fact in sorted(facts):
        if isinstance(fact, Compound):
            by_fluent[fact.functor, len(fact.arguments)].append(fact.arguments)
    return dict(by_fluent)
