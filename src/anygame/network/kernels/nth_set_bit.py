"""The n-th set bit: legal moves of a role are counted, and the one that a number points to is found.

Moves are taken in groups. The counts of the groups are taken from the number until it falls below zero, which
finds the group and the number inside it. Then the legal moves of each lane's group are brought into common
rows, and the search in there is done once for all groups.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from anygame.network.kernels.function import GROUP, ONES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.network.kernels.function import RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target

    #: Where the rows of a group are, given the first row of a table and its rows per group.
    Table = Callable[[int, int], list[str]]

_SIZE = GROUP
#: Of more moves than this, many groups are chosen by no lane, and passed over.
_SPARSE = 32 * GROUP
_COUNT_PLANES = _SIZE.bit_length()


@dataclass(frozen=True)
class Candidates:
    """The moves of a role that can ever be legal.

    Attributes:
        legal: their bit literals.
        does: the rows of the actions.
        counters: rows that add up, plane by plane, how many were legal where a move was made.
        phases: per move the phases in which it can be chosen, those of a group of ``GROUP`` alike.
        scratch: if the moves are many, and both kinds of rows lie side by side: the first of rows to use.
        factors: then, instead of the rows of the actions, those that are set: the first of the groups, and of
            the members of a group.
    """

    legal: Sequence[int]
    does: Sequence[int]
    counters: Sequence[int]
    phases: Sequence[int]
    scratch: int | None = None
    factors: tuple[int, int] = (0, 0)


class UnrolledSelection:
    """The candidates of a role in straight code, in groups of about the square root of their number.

    Args:
        code: the function.
        role: the candidates.
        size: moves per group; 0 for the best.
    """

    def __init__(self, code: FunctionBuilder, role: Candidates, size: int = 0) -> None:
        self._code = code
        self._does = role.does
        legal = role.legal
        self._size = size or group_size(len(legal))
        self._legal = [legal[start : start + self._size] for start in range(0, len(legal), self._size)]
        self._moves = len(legal)
        self._counts: list[list[str]] = []

    def count(self) -> list[str]:
        """Return the planes of the number of legal moves."""
        code = self._code
        for group in self._legal:
            self._counts.append(add_up(code, [[code.bits(bit)] for bit in group]))
            code.begin_block()
        return add_up(code, self._counts)[: self._moves.bit_length()]

    def select(self, number: Sequence[str]) -> None:
        """Set the row of each action: where it is the one that a number below the count points to."""
        for row, here in zip(self._does, self._find(number), strict=True):
            self._code.store(row, here)

    def _find(self, number: Sequence[str]) -> list[str]:
        code = self._code
        if len(self._legal) < 2:
            return _select(code, [code.bits(bit) for group in self._legal for bit in group], number)
        inside = [ZERO] * (self._size - 1).bit_length()
        common = [ZERO] * self._size
        found: list[str] = []
        rest = list(number)
        for group, count in zip(self._legal, self._counts, strict=True):
            if len(found) < len(self._legal) - 1:
                difference, here = subtract(code, rest, count)
            else:  # where it was in none of the others
                difference, here = [], code.not_(code.any(found))
            for weight, plane in enumerate(rest[: len(inside)]):
                inside[weight] = code.or_(inside[weight], code.and_(here, plane))
            for index, bit in enumerate(group):
                common[index] = code.or_(common[index], code.and_(here, code.bits(bit)))
            found.append(here)
            rest = difference
            code.begin_block()
        chosen = _select(code, common, inside)
        return [
            code.and_(here, value)
            for here, group in zip(found, self._legal, strict=True)
            for value in chosen[: len(group)]
        ]


def scratch_rows(moves: int) -> int:
    """Return how many rows ``LoopSelection`` needs besides."""
    return -(-moves // _SIZE) * _COUNT_PLANES


class LoopSelection:
    """The candidates of a role in loops over groups of sixteen: code of the same size for any number.

    Args:
        code: the function.
        role: the candidates, with rows to use besides.
        presence: of the phases; groups of which no move can be chosen are left out.
    """

    def __init__(self, code: FunctionBuilder, role: Candidates, presence: Presence) -> None:
        assert role.scratch is not None
        self._code = code
        self._presence = presence
        self._phases = role.phases
        self._moves = len(role.legal)
        self._legal = role.legal[0] >> 1
        self._counts = role.scratch
        self._found, self._members = role.factors

    def _each_group(self) -> Iterator[tuple[Table, int]]:
        return each_group(self._code, self._moves, self._presence, self._phases)

    def count(self) -> list[str]:
        """Return the planes of the number of legal moves."""
        code = self._code
        total = [code.variable() for _ in range(self._moves.bit_length())]
        for table, size in self._each_group():
            legal = table(self._legal, _SIZE)[:size]
            count = add_up(code, [[code.read(row)] for row in legal])
            count += [ZERO] * (_COUNT_PLANES - len(count))
            for row, plane in zip(table(self._counts, _COUNT_PLANES), count, strict=False):
                code.write(row, plane)
            after = add_up(code, [[code.read(plane) for plane in total], count])
            for variable, plane in zip(total, after, strict=False):
                code.write(variable, plane)
        return [code.read(plane) for plane in total]

    def select(self, number: Sequence[str]) -> None:
        """Set the rows of groups and members by the move that a number below the count points to."""
        code = self._code
        rest = [code.variable(plane) for plane in number]
        inside = [code.variable() for _ in range((_SIZE - 1).bit_length())]
        common = [code.variable() for _ in range(_SIZE)]
        for table, _ in self._each_group():
            count = [code.read(row) for row in table(self._counts, _COUNT_PLANES)]
            before = [code.read(plane) for plane in rest]
            # Below zero it is large again, larger than all that is still to be taken from it.
            difference, here = subtract(code, before, count)
            code.write(table(self._found, 1)[0], here)
            for old, plane in zip(inside, before, strict=False):
                code.write(old, code.or_(code.read(old), code.and_(here, plane)))
            for plane, value in zip(rest, difference, strict=True):
                code.write(plane, value)
        for table, size in self._each_group():
            here = code.read(table(self._found, 1)[0])
            with code.when(code.any_lane(here)) if self._moves > _SPARSE else nullcontext():
                for old, row in zip(common[:size], table(self._legal, _SIZE), strict=False):
                    code.write(old, code.or_(code.read(old), code.and_(here, code.read(row))))
        chosen = _select(code, [code.read(plane) for plane in common], [code.read(plane) for plane in inside])
        for member, value in enumerate(chosen):
            code.store(self._members + member, value)


def _select(code: FunctionBuilder, legal: Sequence[str], number: Sequence[str]) -> list[str]:
    """Select one after the other: each legal move takes one from the number, until it falls below zero."""
    if len(legal) < 2:
        return list(legal)
    chosen = []
    rest = list(number)
    for bit in legal[:-1]:
        rest, here = decrease(code, rest, bit)
        chosen.append(here)
    return [*chosen, code.not_(code.any(chosen))]


def group_size(moves: int) -> int:
    """Return the number of moves per group that takes the fewest operations."""
    return min(range(2, moves + 1), key=lambda size: (_cost(moves, size), size), default=1)


def _cost(moves: int, size: int) -> int:
    planes, inner = (moves - 1).bit_length(), (size - 1).bit_length()
    if size == moves:
        return 2 * planes * moves
    groups = -(-moves // size)
    return 4 * moves + (groups - 1) * (2 * planes + inner) + 2 * inner * size


# Bit-sliced numbers: plane ``k`` of a number is a row that holds bit ``k`` of it in every lane.


def add_up(code: FunctionBuilder, numbers: Sequence[Sequence[str]]) -> list[str]:
    """Return the sum of numbers, by carry-save adders that take three planes of one weight to two.

    So did Harley and Seal (Warren, "Hacker's Delight", 2nd edition, 2012, section 5-1).
    """
    columns: list[list[str]] = []
    for number in numbers:
        for weight, plane in enumerate(number):
            _put(columns, weight, plane)
    weight = 0
    while weight < len(columns):
        column = columns[weight]
        while len(column) > 2:
            a, b, c = column[:3]
            del column[:3]
            column.append(code.parity(a, b, c))
            _put(columns, weight + 1, code.majority(a, b, c))
        if len(column) == 2:
            a, b = column
            column[:] = [code.xor(a, b)]
            _put(columns, weight + 1, code.and_(a, b))
        weight += 1
    return [column[0] if column else ZERO for column in columns]


def _put(columns: list[list[str]], weight: int, plane: str) -> None:
    if plane == ZERO:
        return
    while len(columns) <= weight:
        columns.append([])
    columns[weight].append(plane)


def subtract(code: FunctionBuilder, a: Sequence[str], b: Sequence[str]) -> tuple[list[str], str]:
    """Return ``a - b`` in the planes of ``a``, and where it fell below zero."""
    difference = []
    borrow = ZERO
    for weight in range(max(len(a), len(b))):
        x = a[weight] if weight < len(a) else ZERO
        y = b[weight] if weight < len(b) else ZERO
        if weight < len(a):
            difference.append(code.parity(x, y, borrow))
        borrow = code.majority(code.not_(x), y, borrow)
    return difference, borrow


def less(code: FunctionBuilder, a: Sequence[str], b: Sequence[str]) -> str:
    """Return where ``a < b``."""
    return subtract(code, a, b)[1]


def decrease(code: FunctionBuilder, number: Sequence[str], by: str = ONES) -> tuple[list[str], str]:
    """Return the number less one where ``by`` holds, and where it fell below zero."""
    return subtract(code, number, [by])


def masks(code: FunctionBuilder, number: Sequence[str]) -> list[str]:
    """Return planes that hold at and below the highest bit of a number."""
    planes = list(number)
    for weight in reversed(range(len(planes) - 1)):
        planes[weight] = code.or_(planes[weight], planes[weight + 1])
    return planes


def each_group(
    code: FunctionBuilder, moves: int, presence: Presence | None = None, phases: Sequence[int] = ()
) -> Iterator[tuple[Table, int]]:
    """Write loops over the full groups, and what is done with the rest: the same as in the loops.

    Args:
        code: the function.
        moves: how many the role has.
        presence: of the phases, if groups of which no move can be chosen are to be left out.
        phases: per move those in which it can be chosen.

    Yields:
        Where the rows of a group are in a table, and the number of moves of the group.
    """
    groups, rest = divmod(moves, GROUP)
    for _, run in groupby(range(groups), key=lambda group: phases[group * GROUP] if presence else 0):
        found = list(run)
        with presence.during(phases[found[0] * GROUP]) if presence else nullcontext():
            for index in code.loop(len(found)):
                group = code.let(f"add i64 {index}, {found[0]}") if found[0] else index
                yield partial(code.addresses, group), GROUP
    if rest:
        with presence.during(phases[groups * GROUP]) if presence else nullcontext():
            yield partial(code.addresses, str(groups)), rest


def factor_functions(layout: RowLayout, phases: Phases, straight: bool, target: Target) -> str:
    """Write ``@choose`` and ``@evaluate_moves``, or ``@evaluate_factors``, by the functions that are there.

    See ``RowLayout``. Straight code reads groups and members, which ``@choose_factors`` sets. What looks at
    the rows of actions, or sets them, calls ``@choose`` and ``@evaluate_moves``, which bring one into the
    other.

    Args:
        layout: the rows.
        phases: of the game.
        straight: whether the gates read groups and members, not the rows of actions.
        target: what they are written for.
    """
    if not layout.many:
        return ""
    choose = FunctionBuilder("choose", target, "i1")
    refused = choose.let("call i1 @choose_factors(ptr %rows, ptr %data)")
    chosen = choose.new_label()
    choose.branch(refused, "refused", chosen)
    choose.label("refused")
    choose.line("ret i1 true")
    choose.label(chosen)
    choose.line("call void @from_factors(ptr %rows, ptr %data)")
    parts = [_from_factors(layout, phases, target), choose.text("ret i1 false")]
    if straight:
        moves = FunctionBuilder("evaluate_moves", target)
        moves.line("call void @to_factors(ptr %rows, ptr %data)")
        moves.line("call void @evaluate_factors(ptr %rows, ptr %data)")
        parts += [_to_factors(layout, target), moves.text()]
    return "".join(parts)


def _from_factors(layout: RowLayout, phases: Phases, target: Target) -> str:
    """Set the rows of the actions, of those groups of which one can be chosen."""
    code = FunctionBuilder("from_factors", target)
    presence = Presence(code, phases)
    for first, count in layout.many:
        groups, members = layout.factors[first]
        for table, size in each_group(code, count, presence, layout.chosen[first : first + count]):
            here = code.read(table(groups, 1)[0])
            for member, row in enumerate(table(layout.actions + first, GROUP)[:size]):
                code.write(row, code.and_(here, code.read(code.address(members + member))))
    return code.text()


def _to_factors(layout: RowLayout, target: Target) -> str:
    """Set groups and members by the rows of the actions."""
    code = FunctionBuilder("to_factors", target)
    for first, count in layout.many:
        members = [code.variable() for _ in range(GROUP)]
        for table, size in each_group(code, count):
            done = [code.read(row) for row in table(layout.actions + first, GROUP)[:size]]
            for member, value in zip(members, done, strict=False):
                code.write(member, code.or_(code.read(member), value))
            code.write(table(layout.factors[first][0], 1)[0], code.any(done))
        for number, value in enumerate(members):
            code.store(layout.factors[first][1] + number, code.read(value))
    return code.text()
