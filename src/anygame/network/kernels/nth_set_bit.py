"""The n-th set bit: count the legal moves of a role, and find the legal move with a given number.

Moves are divided into groups. The code subtracts the counts of legal moves, group by group, until the number
is negative. The results are each lane's group, and the number of the move inside the group. Then the code
copies the legal moves of each lane's group to common rows, and searches these rows once for all groups.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import Presence
from anygame.network.kernels.layout import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.network.kernels.function import SharedFunctions
    from anygame.network.kernels.layout import RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target

    #: Function that returns pointers to a group's rows, given a table's first row and rows per group.
    Table = Callable[[int, int], list[str]]

_SIZE = GROUP
#: If a role has more moves than this, groups without a chosen move are skipped, since most have none.
_SPARSE = 32 * GROUP
_COUNT_PLANES = _SIZE.bit_length()


@dataclass(frozen=True)
class Candidates:
    """The moves of a role that can ever be legal: bit literals of their legality, and rows of the actions.

    Attributes:
        counters: a row of counters for each plane of the number of legal moves.
        phases: per move the phases in which a move of its group can be legal.
        scratch: for a role with many moves, the first of its scratch rows; else None.
        factors: for a role with many moves, the first rows of its groups and of its members; see
            ``RowLayout``.
    """

    legal: Sequence[int]
    does: Sequence[int]
    counters: Sequence[int]
    phases: Sequence[int]
    scratch: int | None = None
    factors: tuple[int, int] = (0, 0)


class UnrolledSelection:
    """Selection with straight-line code. A group has about the square root of the number of moves."""

    def __init__(self, code: FunctionBuilder, role: Candidates, size: int = 0) -> None:
        self._code = code
        self._role = role
        self._size = size or group_size(len(role.legal))
        starts = range(0, len(role.legal), self._size)
        self._legal = [role.legal[start : start + self._size] for start in starts]
        self._counts: list[list[str]] = []

    def count(self) -> list[str]:
        """Return the planes of the number of legal moves."""
        code = self._code
        for group in self._legal:
            self._counts.append(add_up(code, [[code.bits(bit)] for bit in group]))
            code.begin_block()
        return add_up(code, self._counts)[: len(self._role.legal).bit_length()]

    def select(self, number: Sequence[str]) -> None:
        """Set the rows of the actions, given the planes of the number of the chosen legal move."""
        for row, here in zip(self._role.does, self._find(number), strict=True):
            self._code.store(row, here)

    def _find(self, number: Sequence[str]) -> list[str]:
        code = self._code
        if len(self._legal) < 2:
            return _select(code, [code.bits(bit) for bit in self._role.legal], number)
        inside = [ZERO] * (self._size - 1).bit_length()
        common = [ZERO] * self._size
        lanes_of_groups: list[str] = []
        remainder = list(number)
        for group, count in zip(self._legal, self._counts, strict=True):
            if len(lanes_of_groups) < len(self._legal) - 1:
                difference, here = subtract(code, remainder, count)
            else:  # the move is in the last group unless it is in another group
                difference, here = [], code.not_(code.any(lanes_of_groups))
            for weight, plane in enumerate(remainder[: len(inside)]):
                inside[weight] = code.or_(inside[weight], code.and_(here, plane))
            for index, bit in enumerate(group):
                common[index] = code.or_(common[index], code.and_(here, code.bits(bit)))
            lanes_of_groups.append(here)
            remainder = difference
            code.begin_block()
        chosen = _select(code, common, inside)
        return [
            code.and_(here, value)
            for here, group in zip(lanes_of_groups, self._legal, strict=True)
            for value in chosen[: len(group)]
        ]


def scratch_rows(moves: int) -> int:
    """Return the number of scratch rows of ``LoopSelection``."""
    return -(-moves // _SIZE) * _COUNT_PLANES


class LoopSelection:
    """Selection with loops over groups of ``GROUP`` moves, whose functions do not depend on the game.

    The code skips groups without a move that can be legal in the phase of the lanes.
    """

    def __init__(
        self, code: FunctionBuilder, role: Candidates, presence: Presence, shared: SharedFunctions
    ) -> None:
        assert role.scratch is not None
        self._code = code
        self._presence = presence
        self._shared = shared
        self._phases = role.phases
        self._moves = len(role.legal)
        self._legal = role.legal[0] >> 1
        self._counts = role.scratch
        self._found, self._members = role.factors

    def _in_runs(self, name: str, tables: Sequence[tuple[int, int]], others: Sequence[str]) -> None:
        """Call a function for each run of groups; a table is a pair: first row, rows per group."""
        code = self._code
        for first, groups, rest in each_run(self._moves, self._presence, self._phases):
            places = [code.address(row + first * count) for row, count in tables]
            code.call(name, [*places, *others], [groups, rest])

    def count(self) -> list[str]:
        """Return the planes of the number of legal moves."""
        code = self._code
        total = code.array(self._moves.bit_length(), ZERO)
        planes = len(total)
        name = self._shared.need(f"count_{planes}", lambda name: _count_function(name, planes, code.target))
        self._in_runs(name, [(self._legal, _SIZE), (self._counts, _COUNT_PLANES)], total[:1])
        return [code.read(plane) for plane in total]

    def select(self, number: Sequence[str]) -> None:
        """Set the rows of groups and members, given the planes of the number of the chosen legal move."""
        code, need, planes = self._code, self._shared.need, len(number)
        remainder, inside = code.array(planes), code.array((_SIZE - 1).bit_length(), ZERO)
        common = code.array(_SIZE, ZERO)
        for place, plane in zip(remainder, number, strict=True):
            code.write(place, plane)
        find = need(f"find_{planes}", lambda name: _find_function(name, planes, code.target))
        self._in_runs(find, [(self._counts, _COUNT_PLANES), (self._found, 1)], [remainder[0], inside[0]])
        sparse = self._moves > _SPARSE
        gather = need(
            "gather_few" if sparse else "gather",
            lambda name: _gather_function(name, sparse=sparse, target=code.target),
        )
        self._in_runs(gather, [(self._legal, _SIZE), (self._found, 1)], common[:1])
        member = need("choose_member", lambda name: _member_function(name, code.target))
        code.call(member, [common[0], inside[0], code.address(self._members)], [])


_RUN = ["i64 %groups", "i64 %rest"]


def _count_function(name: str, planes: int, target: Target) -> str:
    """Write a function that counts the legal moves of full groups, and of a partial group after them."""
    pointers = ["ptr %legal", "ptr %counts", "ptr %total"]
    code = FunctionBuilder(name, target, parameters=[*pointers, *_RUN], inlined=True)
    places = code.rows_at("%total", planes)
    total = [code.variable(code.read(place)) for place in places]
    for index, rows in _each_group(code):
        counts = code.addresses_from("%counts", index, _COUNT_PLANES)
        count = add_up(code, [[code.read(row)] for row in rows])
        count += [ZERO] * (_COUNT_PLANES - len(count))
        for row, plane in zip(counts, count, strict=False):
            code.write(row, plane)
        after = add_up(code, [[code.read(plane) for plane in total], count])
        for variable, plane in zip(total, after, strict=False):
            code.write(variable, plane)
    for place, plane in zip(places, total, strict=True):
        code.write(place, code.read(plane))
    return code.text()


def _find_function(name: str, planes: int, target: Target) -> str:
    pointers = [f"ptr %{pointer}" for pointer in ("counts", "found", "left", "within")]
    code = FunctionBuilder(name, target, parameters=[*pointers, *_RUN], inlined=True)
    places = [*code.rows_at("%left", planes), *code.rows_at("%within", (_SIZE - 1).bit_length())]
    variables = [code.variable(code.read(place)) for place in places]
    has_partial = code.let(f"zext i1 {code.let('icmp ne i64 %rest, 0')} to i64")
    for index in code.repeat(code.let(f"add i64 %groups, {has_partial}")):
        counts = code.addresses_from("%counts", index, _COUNT_PLANES)
        found = code.row_at("%found", index)
        count = [code.read(row) for row in counts]
        before = [code.read(plane) for plane in variables[:planes]]
        # A negative difference wraps around to a number that exceeds the sum of the remaining counts.
        difference, here = subtract(code, before, count)
        code.write(found, here)
        for inside, plane in zip(variables[planes:], before, strict=False):
            code.write(inside, code.or_(code.read(inside), code.and_(here, plane)))
        for variable, value in zip(variables[:planes], difference, strict=True):
            code.write(variable, value)
    for place, variable in zip(places, variables, strict=True):
        code.write(place, code.read(variable))
    return code.text()


def _gather_function(name: str, *, sparse: bool, target: Target) -> str:
    pointers = ["ptr %legal", "ptr %found", "ptr %common"]
    code = FunctionBuilder(name, target, parameters=[*pointers, *_RUN], inlined=True)
    places = code.rows_at("%common", _SIZE)
    common = [code.variable(code.read(place)) for place in places]
    for index, rows in _each_group(code):
        here = code.read(code.row_at("%found", index))
        with code.when(code.any_lane(here)) if sparse else nullcontext():
            for old, row in zip(common, rows, strict=True):
                code.write(old, code.or_(code.read(old), code.and_(here, code.read(row))))
    for place, plane in zip(places, common, strict=True):
        code.write(place, code.read(plane))
    return code.text()


def _each_group(code: FunctionBuilder) -> Iterator[tuple[str, list[str]]]:
    """Write a loop over the full groups, and code for a partial group; yield a group's number and rows.

    For the missing moves of a partial group, the function yields a row that never holds.
    """
    for index in code.repeat("%groups"):
        yield index, code.addresses_from("%legal", index, _SIZE)
    with code.when(code.let("icmp ne i64 %rest, 0")):
        rows = code.addresses_from("%legal", "%groups", _SIZE)
        held = [code.let(f"icmp ult i64 {index}, %rest") for index in range(_SIZE)]
        chosen = zip(held, rows, strict=True)
        yield "%groups", [code.let(f"select i1 {is_held}, ptr {row}, ptr %rows") for is_held, row in chosen]


def _member_function(name: str, target: Target) -> str:
    pointers = ["ptr %common", "ptr noalias %within", "ptr noalias %members"]
    code = FunctionBuilder(name, target, parameters=pointers, inlined=True)
    legal = [code.read(place) for place in code.rows_at("%common", _SIZE)]
    number = [code.read(place) for place in code.rows_at("%within", (_SIZE - 1).bit_length())]
    for place, value in zip(code.rows_at("%members", _SIZE), _select(code, legal, number), strict=True):
        code.write(place, value)
    return code.text()


def _select(code: FunctionBuilder, legal: Sequence[str], number: Sequence[str]) -> list[str]:
    """Return the rows of the moves; each legal move subtracts 1 from the number, until it is negative."""
    if len(legal) < 2:
        return list(legal)
    chosen = []
    remainder = list(number)
    for bit in legal[:-1]:
        remainder, here = decrease(code, remainder, bit)
        chosen.append(here)
    return [*chosen, code.not_(code.any(chosen))]


def group_size(moves: int) -> int:
    """Return the number of moves per group with the fewest operations."""
    return min(range(2, moves + 1), key=lambda size: (_cost(moves, size), size), default=1)


def _cost(moves: int, size: int) -> int:
    planes, inner = (moves - 1).bit_length(), (size - 1).bit_length()
    if size == moves:
        return 2 * planes * moves
    groups = -(-moves // size)
    return 4 * moves + (groups - 1) * (2 * planes + inner) + 2 * inner * size


# Bit-sliced numbers: plane ``k`` of a number is a row with bit ``k`` of the number in each lane.


def add_up(code: FunctionBuilder, numbers: Sequence[Sequence[str]]) -> list[str]:
    """Return the sum of numbers. Carry-save adders reduce three planes of the same weight to two planes.

    This is the method of Harley and Seal (Warren, "Hacker's Delight", 2nd edition, 2012, section 5-1).
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
    """Return ``a - b`` in as many planes as ``a`` has, and the lanes in which the result is negative."""
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
    """Return the lanes in which ``a < b``."""
    return subtract(code, a, b)[1]


def decrease(code: FunctionBuilder, number: Sequence[str], by: str = ONES) -> tuple[list[str], str]:
    """Subtract 1 in the lanes of ``by``; return the result, and the lanes in which it is negative."""
    return subtract(code, number, [by])


def masks(code: FunctionBuilder, number: Sequence[str]) -> list[str]:
    """Return a bit mask, as planes, of all bits of a number up to its highest set bit."""
    planes = list(number)
    for weight in reversed(range(len(planes) - 1)):
        planes[weight] = code.or_(planes[weight], planes[weight + 1])
    return planes


def each_group(
    code: FunctionBuilder, moves: int, presence: Presence | None = None, phases: Sequence[int] = ()
) -> Iterator[tuple[Table, int]]:
    """Write loops over the full groups of moves, and the same code for a partial group; see ``each_run``.

    For each group, yields a function from a table to the rows of the group, and the number of moves.
    """
    for first, groups, rest in each_run(moves, presence, phases):
        if rest:
            yield partial(code.addresses, str(first)), rest
            continue
        for index in code.loop(groups):
            group = code.let(f"add i64 {index}, {first}") if first else index
            yield partial(code.addresses, group), GROUP


def each_run(moves: int, presence: Presence | None, phases: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Write branches over runs of groups that are needed in the same phases, given the phases of each move.

    Without ``presence``, the code does not depend on phases. The function yields the first group of a run,
    and either the number of its full groups and 0, or 0 and the number of moves of a partial group.
    """
    full, rest = divmod(moves, GROUP)
    for _, run in groupby(range(full), key=lambda group: phases[group * GROUP] if presence else 0):
        groups = list(run)
        with presence.during(phases[groups[0] * GROUP]) if presence else nullcontext():
            yield groups[0], len(groups), 0
    if rest:
        with presence.during(phases[full * GROUP]) if presence else nullcontext():
            yield full, 0, rest


def factor_functions(layout: RowLayout, phases: Phases, straight: bool, target: Target) -> str:
    """Write ``@choose``, which calls ``@choose_factors`` and converts groups and members to actions.

    ``straight`` says whether the gates read groups and members. If so, also write ``@evaluate_moves``, which
    converts actions to groups and members, and calls ``@evaluate_factors``. See ``RowLayout``.
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
