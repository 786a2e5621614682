"""Moves chosen as by ``uniform_choice``, from the same random numbers, by the same functions for all games.

They read from the table of a game what its roles can choose among, and keep in rows of memory what straight
code has in registers: several times slower, but there at once.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import TYPE_CHECKING, Final

from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.game_table import (
    Field,
    field,
    literal_number,
    number,
    row_at,
    row_number,
    value_of,
)
from anygame.network.kernels.gate_loop import present_phases
from anygame.network.kernels.random_rows import Xoshiro
from anygame.network.kernels.rows import ACTIVE, FAILED, GO, GROUP, STUCK
from anygame.network.kernels.uniform_choice import ALWAYS_DRAWN, bearable, most_rounds, planes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.network.kernels.game_table import GameTable
    from anygame.network.kernels.nth_set_bit import Candidates
    from anygame.network.kernels.phases import Phases

#: Planes of how many moves of a group are legal, and of a number below that.
_GROUP_PLANES: Final = GROUP.bit_length()
_NUMBER_PLANES: Final = (GROUP - 1).bit_length()


class _Role(IntEnum):
    """The words of a role in the table; and of the number that is drawn for several roles together.

    How many moves and groups, planes of the count and of a number below it there are; where the lists begin:
    literals of the legal moves, rows of the actions, rows of counters, phases per group; and the first rows
    of what is kept: planes of the counts of groups, which group it is, planes of the count, of its masks, and
    of the number. Then whether no number is ever too large, and how many lanes may be left without one.
    """

    MOVES = 0
    GROUPS = auto()
    COUNT_PLANES = auto()
    PLANES = auto()
    LEGAL = auto()
    DOES = auto()
    COUNTERS = auto()
    PHASES = auto()
    COUNTS = auto()
    FOUND = auto()
    COUNT = auto()
    MASKS = auto()
    NUMBER = auto()
    EXACT = auto()
    BEARABLE = auto()
    UNUSED = auto()


def set_choices(
    table: GameTable, roles: Sequence[Candidates], step_cost: int, phases: Phases, first_row: int
) -> int:
    """Put into a table what roles can choose among; see ``uniform_choice.choose_function``.

    Args:
        table: the table.
        roles: the candidates of each role.
        step_cost: row operations of the rest of a step.
        phases: of the game.
        first_row: the first row that is free.

    Returns:
        The first row that is free behind what is kept in rows.
    """
    waiting = None if phases.patterns else step_cost
    end = first_row

    def keep(rows: int) -> int:
        nonlocal end
        end += rows
        return row_number(end - rows)

    table.set(Field.SCRATCH, keep(GROUP + _NUMBER_PLANES))
    words: list[int] = []
    drawing: list[int] = []
    for number_of_role, role in enumerate(roles):
        words += _words_of(table, role, waiting, phases, keep)
        if planes_of(role):
            drawing.append(number_of_role)
    shared = max(map(planes_of, roles), default=0)
    longest = max((len(role.legal).bit_length() for role in roles), default=0)
    together = dict.fromkeys(_Role, 0)
    together[_Role.COUNT_PLANES], together[_Role.PLANES] = longest, shared
    together[_Role.COUNT], together[_Role.MASKS] = keep(longest), keep(shared)
    together[_Role.NUMBER] = keep(shared)
    together[_Role.EXACT] = shared == 1 or any(
        _is_power(role) and planes_of(role) == shared for role in roles
    )
    together[_Role.BEARABLE] = bearable(shared, waiting)
    first = table.add([*words, *together.values()])
    table.set(Field.ROLES, first)
    table.set(Field.ROLE_COUNT, len(roles))
    table.set(Field.SHARED, first + len(words))
    places = [first + len(_Role) * number_of_role for number_of_role in drawing]
    table.set_list(Field.DRAWS, Field.DRAW_COUNT, places)
    table.set(Field.ROUNDS, most_rounds(waiting))
    return end


def _words_of(
    table: GameTable, role: Candidates, waiting: int | None, phases: Phases, keep: Callable[[int], int]
) -> list[int]:
    moves, planes = len(role.legal), planes_of(role)
    groups = [range(start, min(start + GROUP, moves)) for start in range(0, moves, GROUP)]
    masks = []
    for group in groups:
        mask = 0
        for move in group:
            mask |= role.phases[move]
        masks.append(mask)
    words = {
        _Role.MOVES: moves,
        _Role.GROUPS: len(groups),
        _Role.COUNT_PLANES: moves.bit_length(),
        _Role.PLANES: planes,
        _Role.LEGAL: table.add(list(map(literal_number, role.legal))),
        _Role.DOES: table.add(list(map(row_number, role.does))),
        _Role.COUNTERS: table.add(list(map(row_number, role.counters))),
        _Role.PHASES: table.add(masks),
        _Role.COUNTS: keep(_GROUP_PLANES * len(groups)),
        _Role.FOUND: keep(len(groups)),
        _Role.COUNT: keep(moves.bit_length()),
        _Role.MASKS: keep(planes),
        _Role.NUMBER: keep(planes),
        _Role.EXACT: planes == 1 or _is_power(role),
        _Role.BEARABLE: bearable(planes, waiting),
        _Role.UNUSED: 0,
    }
    return [int(words[name]) for name in _Role]


def _is_power(role: Candidates) -> bool:
    """Return whether a role always has all its moves, and these are a power of two: no number is too large.

    Straight code then draws all planes at once, and so has the loop to do.
    """
    moves = len(role.legal)
    return moves > 1 and all(bit == 1 for bit in role.legal) and moves == 1 << planes_of(role)


def table_choice_functions() -> str:
    """Write ``i1 @choose``, and what it calls."""
    parts = (_count_role(), _find_masks(), _draw(), _draw_together(), _account_choice(), _select_role())
    return "".join((*parts, _choose()))


class _Reader:
    """What is known of a role inside a function: numbers and rows.

    Args:
        code: the function, at its beginning.
        place: of the role in the table.
    """

    def __init__(self, code: FunctionBuilder, place: str = "%role") -> None:
        self._code = code
        self.place = place

    def number(self, name: _Role) -> str:
        """Return one of its words."""
        return number(self._code, self._code.let(f"add i64 {self.place}, {int(name)}"))

    def entry(self, name: _Role, index: str) -> str:
        """Return an entry of one of its lists."""
        return number(self._code, self._code.let(f"add i64 {self.number(name)}, {index}"))

    def row(self, name: _Role, index: str | int = 0) -> str:
        """Return a pointer to one of its rows."""
        return _behind(self._code, row_at(self._code, self.number(name)), index)


def _behind(code: FunctionBuilder, first: str, index: str | int) -> str:
    """Return a pointer to the row so many rows behind one."""
    return code.offset(first, code.let(f"shl i64 {index}, 3")) if index else first


def _if_below(code: FunctionBuilder, index: str, count: str | int, pointer: str) -> str:
    """Return a pointer to a row, or to the one that never holds if there are not so many planes."""
    below = code.let(f"icmp ult i64 {index}, {count}")
    return code.let(f"select i1 {below}, ptr {pointer}, ptr %rows")


def _add_to(code: FunctionBuilder, pointer: str, carry: str) -> str:
    """Add one plane to another in memory, and return the carry."""
    old = code.read(pointer)
    code.write(pointer, code.xor(old, carry))
    return code.and_(old, carry)


def _group_size(code: FunctionBuilder, role: _Reader, first: str) -> str:
    left = code.let(f"sub i64 {role.number(_Role.MOVES)}, {first}")
    whole = code.let(f"icmp ugt i64 {left}, {GROUP}")
    return code.let(f"select i1 {whole}, i64 {GROUP}, i64 {left}")


def _each_group(code: FunctionBuilder, role: _Reader) -> Iterator[str]:
    """Write a loop over the groups of which a move can be chosen in the phase of the lanes."""
    present, _ = present_phases(code)
    for group in code.repeat(role.number(_Role.GROUPS)):
        mask = role.entry(_Role.PHASES, group)
        needed = code.let(f"icmp ne i64 {code.let(f'and i64 {present}, {mask}')}, 0")
        with code.when(needed):
            yield group


def _each_move(code: FunctionBuilder, role: _Reader, group: str) -> Iterator[tuple[str, str]]:
    """Write a loop over the moves of a group; yield the number of one in there and among all."""
    first = code.let(f"shl i64 {group}, {GROUP.bit_length() - 1}")
    for index in code.repeat(_group_size(code, role, first)):
        yield index, code.let(f"add i64 {first}, {index}")


def _count_role() -> str:
    """Count the legal moves of a role."""
    code = FunctionBuilder("count_role", parameters=["i64 %role"])
    role = _Reader(code)
    planes = role.number(_Role.COUNT_PLANES)
    total = role.row(_Role.COUNT)
    for weight in code.repeat(planes):
        code.write(_behind(code, total, weight), ZERO)
    own = [code.variable() for _ in range(_GROUP_PLANES)]
    carry = code.variable()
    for group in _each_group(code, role):
        for plane in own:
            code.write(plane, ZERO)
        for _, move in _each_move(code, role, group):
            value = value_of(code, role.entry(_Role.LEGAL, move))
            for plane in own:
                value = _add_to(code, plane, value)
        kept = role.row(_Role.COUNTS, code.let(f"mul i64 {group}, {_GROUP_PLANES}"))
        for number_of_plane, plane in enumerate(own):
            code.write(_behind(code, kept, number_of_plane), code.read(plane))
        code.write(carry, ZERO)
        for weight in code.repeat(planes):
            pointer = _behind(code, total, weight)
            old, before = code.read(pointer), code.read(carry)
            more = code.read(_if_below(code, weight, _GROUP_PLANES, _behind(code, kept, weight)))
            code.write(pointer, code.parity(old, more, before))
            code.write(carry, code.majority(old, more, before))
    return code.text()


def _find_masks() -> str:
    """Find planes that hold at and below the highest bit of the count less one."""
    code = FunctionBuilder("find_masks", parameters=["i64 %role"])
    role = _Reader(code)
    planes = role.number(_Role.PLANES)
    borrow = code.variable(ONES)
    for weight in code.repeat(planes):
        value, before = code.read(role.row(_Role.COUNT, weight)), code.read(borrow)
        code.write(role.row(_Role.MASKS, weight), code.xor(value, before))
        code.write(borrow, code.and_(code.not_(value), before))
    above = code.variable()
    for index in code.repeat(planes):
        weight = code.let(f"sub i64 {code.let(f'sub i64 {planes}, 1')}, {index}")
        pointer = role.row(_Role.MASKS, weight)
        value = code.or_(code.read(pointer), code.read(above))
        code.write(pointer, value)
        code.write(above, value)
    return code.text()


def _draw() -> str:
    """Draw a number below the count in the active lanes; those without one join the failed ones."""
    code = FunctionBuilder("draw", parameters=["i64 %role"])
    role = _Reader(code)
    generator = Xoshiro(code)
    planes = role.number(_Role.PLANES)
    with code.either(code.let(f"icmp ne i64 {role.number(_Role.EXACT)}, 0")) as otherwise:
        for weight in code.repeat(planes):
            value = code.and_(generator.row(), code.read(role.row(_Role.MASKS, weight)))
            code.write(role.row(_Role.NUMBER, weight), value)
        otherwise()
        before, left = code.variable(code.load(FAILED)), code.variable(code.load(ACTIVE))
        for weight in code.repeat(planes):
            code.write(role.row(_Role.NUMBER, weight), ZERO)
        rounds = code.word_variable(field(code, Field.ROUNDS))
        _draw_rounds(code, role, generator, left, rounds)
        code.store(FAILED, code.or_(code.read(before), code.read(left)))
    generator.save()
    return code.text()


def _draw_rounds(code: FunctionBuilder, role: _Reader, generator: Xoshiro, left: str, rounds: str) -> None:
    """Draw in rounds, until few lanes are left without a number or no round is."""
    planes = role.number(_Role.PLANES)
    again, behind = code.new_label(), code.new_label()
    code.jump(again)
    code.label(again)
    for weight in code.repeat(planes):
        mask = code.read(role.row(_Role.MASKS, weight))
        low = code.let(f"icmp ult i64 {weight}, {ALWAYS_DRAWN}")
        wanted = code.let(f"or i1 {low}, {code.any_lane(code.and_(mask, code.load(ACTIVE)))}")
        with code.when(wanted):
            pointer = role.row(_Role.NUMBER, weight)
            value = code.and_(generator.row(), code.read(role.row(_Role.MASKS, weight)))
            code.write(pointer, code.mux(code.read(left), value, code.read(pointer)))
    borrow = code.variable()
    code.write(borrow, ZERO)
    for weight in code.repeat(role.number(_Role.COUNT_PLANES)):
        drawn = code.read(_if_below(code, weight, planes, role.row(_Role.NUMBER, weight)))
        count, before = code.read(role.row(_Role.COUNT, weight)), code.read(borrow)
        code.write(borrow, code.majority(code.not_(drawn), count, before))
    code.write(left, code.and_(code.read(left), code.not_(code.read(borrow))))
    many = code.let(f"icmp ugt i64 {code.popcount(code.read(left))}, {role.number(_Role.BEARABLE)}")
    code.set_word(rounds, code.let(f"sub i64 {code.word(rounds)}, 1"))
    more = code.let(f"icmp ne i64 {code.word(rounds)}, 0")
    code.branch(code.let(f"and i1 {many}, {more}"), again, behind)
    code.label(behind)


def _each_draw(code: FunctionBuilder) -> Iterator[_Reader]:
    """Write a loop over the roles that can have a choice."""
    first = field(code, Field.DRAWS)
    for index in code.repeat(field(code, Field.DRAW_COUNT)):
        yield _Reader(code, number(code, code.let(f"add i64 {first}, {index}")))


def _draw_together() -> str:
    """Draw one number for all roles, no two of which have a choice in a lane."""
    code = FunctionBuilder("draw_together")
    shared = _Reader(code, field(code, Field.SHARED))
    planes, count_planes = shared.number(_Role.PLANES), shared.number(_Role.COUNT_PLANES)
    for name, count in ((_Role.COUNT, count_planes), (_Role.MASKS, planes)):
        for weight in code.repeat(count):
            code.write(shared.row(name, weight), ZERO)
    seen = code.variable()
    for role in _each_draw(code):
        choosing = code.variable()
        code.write(choosing, code.read(role.row(_Role.MASKS)))
        code.write(seen, code.or_(code.read(seen), code.read(choosing)))
        for weight in code.repeat(role.number(_Role.COUNT_PLANES)):
            pointer = shared.row(_Role.COUNT, weight)
            own = code.and_(code.read(role.row(_Role.COUNT, weight)), code.read(choosing))
            code.write(pointer, code.or_(code.read(pointer), own))
        for weight in code.repeat(role.number(_Role.PLANES)):
            pointer = shared.row(_Role.MASKS, weight)
            code.write(pointer, code.or_(code.read(pointer), code.read(role.row(_Role.MASKS, weight))))
    lowest = shared.row(_Role.COUNT)
    code.write(lowest, code.or_(code.read(lowest), code.not_(code.read(seen))))
    _call(code, "draw", field(code, Field.SHARED))
    for role in _each_draw(code):
        for weight in code.repeat(role.number(_Role.PLANES)):
            drawn = code.read(shared.row(_Role.NUMBER, weight))
            mask = code.read(role.row(_Role.MASKS, weight))
            code.write(role.row(_Role.NUMBER, weight), code.and_(drawn, mask))
    return code.text()


def _account_choice() -> str:
    """Count how many moves were legal where one is made."""
    code = FunctionBuilder("account_choice", parameters=["i64 %role"])
    role = _Reader(code)
    for weight in code.repeat(role.number(_Role.COUNT_PLANES)):
        counter = row_at(code, role.entry(_Role.COUNTERS, weight))
        value = code.and_(code.read(role.row(_Role.COUNT, weight)), code.load(GO))
        code.write(counter, code.add(code.read(counter), code.lanes_by_word(value)))
    return code.text()


def _select_role() -> str:
    """Set the row of each action of a role: where it is the one that the number points to."""
    code = FunctionBuilder("select_role", parameters=["i64 %role"])
    role = _Reader(code)
    planes = role.number(_Role.PLANES)
    common = row_at(code, field(code, Field.SCRATCH))
    inside = _behind(code, common, GROUP)
    for row in code.loop(GROUP + _NUMBER_PLANES):
        code.write(_behind(code, common, row), ZERO)
    borrow = code.variable()
    for group in _each_group(code, role):
        counts = role.row(_Role.COUNTS, code.let(f"mul i64 {group}, {_GROUP_PLANES}"))
        most = code.let(f"icmp ugt i64 {planes}, {_GROUP_PLANES}")
        longest = code.let(f"select i1 {most}, i64 {planes}, i64 {_GROUP_PLANES}")
        kept = row_at(code, field(code, Field.SCRATCH))
        code.write(borrow, ZERO)
        for weight in code.repeat(longest):
            rest = code.read(_if_below(code, weight, planes, role.row(_Role.NUMBER, weight)))
            count = code.read(_if_below(code, weight, _GROUP_PLANES, _behind(code, counts, weight)))
            before = code.read(borrow)
            code.write(borrow, code.majority(code.not_(rest), count, before))
        here = code.variable()
        code.write(here, code.read(borrow))
        code.write(role.row(_Role.FOUND, group), code.read(here))
        code.write(borrow, ZERO)
        for weight in code.repeat(planes):
            pointer = role.row(_Role.NUMBER, weight)
            rest, before = code.read(pointer), code.read(borrow)
            count = code.read(_if_below(code, weight, _GROUP_PLANES, _behind(code, counts, weight)))
            code.write(pointer, code.parity(rest, count, before))
            code.write(borrow, code.majority(code.not_(rest), count, before))
            with code.when(code.let(f"icmp ult i64 {weight}, {_NUMBER_PLANES}")):
                own = _behind(code, code.offset(kept, 8 * GROUP), weight)
                code.write(own, code.or_(code.read(own), code.and_(code.read(here), rest)))
    for group in _each_group(code, role):
        here = code.variable()
        code.write(here, code.read(role.row(_Role.FOUND, group)))
        for index, move in _each_move(code, role, group):
            pointer = _behind(code, common, index)
            value = code.and_(code.read(here), value_of(code, role.entry(_Role.LEGAL, move)))
            code.write(pointer, code.or_(code.read(pointer), value))
    inner = [code.variable(code.read(_behind(code, inside, weight))) for weight in range(_NUMBER_PLANES)]
    for index in code.loop(GROUP):
        pointer = _behind(code, common, index)
        taken = code.read(pointer)
        for plane in inner:
            old = code.read(plane)
            code.write(plane, code.xor(old, taken))
            taken = code.and_(code.not_(old), taken)
        code.write(pointer, taken)
    for group in _each_group(code, role):
        here = code.variable()
        code.write(here, code.read(role.row(_Role.FOUND, group)))
        for index, move in _each_move(code, role, group):
            value = code.and_(code.read(here), code.read(_behind(code, common, index)))
            code.write(row_at(code, role.entry(_Role.DOES, move)), value)
    return code.text()


def _call(code: FunctionBuilder, name: str, role: str) -> None:
    code.line(f"call void @{name}(ptr %rows, ptr %data, i64 {role})")


def _choose() -> str:
    """Choose moves; see ``uniform_choice.choose_function``."""
    code = FunctionBuilder("choose", "i1")
    some, any_move = code.variable(ONES), code.variable()
    for place in _each_role(code):
        _call(code, "count_role", place)
        _call(code, "find_masks", place)
        role = _Reader(code, place)
        code.write(any_move, ZERO)
        for weight in code.repeat(role.number(_Role.COUNT_PLANES)):
            value = code.or_(code.read(any_move), code.read(role.row(_Role.COUNT, weight)))
            code.write(any_move, value)
        code.write(some, code.and_(code.read(some), code.read(any_move)))
    refuse, accept = code.new_label(), code.new_label()
    missing = code.and_(code.load(ACTIVE), code.not_(code.read(some)))
    code.branch(code.any_lane(missing), refuse, accept)
    code.label(refuse)
    code.store(STUCK, missing)
    code.line("ret i1 true")
    code.label(accept)
    code.store(FAILED, ZERO)
    _draw_all(code)
    code.store(GO, code.and_(code.load(ACTIVE), code.not_(code.load(FAILED))))
    for place in _each_role(code):
        _call(code, "account_choice", place)
        _call(code, "select_role", place)
    return code.text("ret i1 false")


def _each_role(code: FunctionBuilder) -> Iterator[str]:
    """Write a loop over the roles; yield the place of one in the table."""
    first = field(code, Field.ROLES)
    for index in code.repeat(field(code, Field.ROLE_COUNT)):
        yield code.let(f"add i64 {first}, {code.let(f'mul i64 {index}, {len(_Role)}')}")


def _draw_all(code: FunctionBuilder) -> None:
    """Draw a number for each role; one serves all where no lane has two roles with a choice."""
    seen, twice = code.variable(), code.variable()
    for role in _each_draw(code):
        value = code.read(role.row(_Role.MASKS))
        code.write(twice, code.or_(code.read(twice), code.and_(code.read(seen), value)))
        code.write(seen, code.or_(code.read(seen), value))
    several = code.any_lane(code.and_(code.read(twice), code.load(ACTIVE)))
    alone = code.let(f"icmp ult i64 {field(code, Field.DRAW_COUNT)}, 2")
    with code.either(code.let(f"or i1 {several}, {alone}")) as otherwise:
        for role in _each_draw(code):
            _call(code, "draw", role.place)
        otherwise()
        code.line("call void @draw_together(ptr %rows, ptr %data)")
