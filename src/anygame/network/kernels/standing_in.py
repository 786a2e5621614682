"""What plays while straight code is compiled: functions that are the same for all games, and a game as data.

They are compiled once on a machine: one set for games with phases, one for games with late goals, and one for
the others; a game adds nothing but its table. So a game that is seen for the first time plays as soon as its
gates are there.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from anygame.network.kernels.counters import ended_lanes
from anygame.network.kernels.function import PREAMBLE, ZERO, FunctionBuilder
from anygame.network.kernels.game_numbers import TableNumbers
from anygame.network.kernels.game_table import (
    Field,
    GameTable,
    field,
    literal_number,
    number,
    row_at,
    row_number,
    value_of,
)
from anygame.network.kernels.gate_code import answer_bits
from anygame.network.kernels.gate_loop import loop_functions, standing_in_gates
from anygame.network.kernels.playout_loop import play_functions
from anygame.network.kernels.single_state import single_state_functions
from anygame.network.kernels.table_choice import set_choices, table_choice_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.kernels.counters import Counters
    from anygame.network.kernels.gate_code import GateOutputs
    from anygame.network.kernels.nth_set_bit import Candidates
    from anygame.network.kernels.schedule import Schedule
    from anygame.network.kernels.segments import Allocation
    from anygame.network.network import Network

#: Words of a role of which goals are counted: where its values begin and how many there are, the rows that
#: count ends without a goal and with several.
_GOAL_WORDS = 4


def standing_in_table(
    network: Network,
    order: Schedule,
    straight: Allocation,
    counters: Counters,
    candidates: Sequence[Candidates],
    step_cost: int,
    patience: int,
    first_row: int,
) -> tuple[NDArray[np.int32], int]:
    """Return a game as data, and how many rows of a block it needs.

    Args:
        network: the game.
        order: in which its gates are evaluated.
        straight: where the values of the straight code live.
        counters: where a playing block counts.
        candidates: per role the moves that can be legal.
        step_cost: row operations of a step, without the choice of moves.
        patience: how many steps lanes may wait, together, before late goals are evaluated.
        first_row: the first row that is free for values of these functions alone.
    """
    gates = standing_in_gates(network, order, straight, first_row)
    table = GameTable(gates.data)
    table.set(Field.PATIENCE, patience)
    table.set(Field.FLUENTS, network.fluents)
    table.set(Field.ACTIONS, sum(network.actions))
    table.set_list(Field.ANSWERS, Field.ANSWER_COUNT, answer_bits(gates.outputs))
    table.set(Field.MOVES_COUNTER, row_number(counters.moves))
    _set_goals(table, gates.outputs, counters)
    end = set_choices(table, candidates, step_cost, straight.phases, gates.end)
    return table.words(), end


def _set_goals(table: GameTable, gates: GateOutputs, counters: Counters) -> None:
    counted = [row_number(row) for pair in counters.goals.items() for row in pair]
    table.set_list(Field.COUNTED, Field.COUNTED_COUNT, counted, width=2)
    roles: list[int] = []
    for role, missing, double, overlaps in zip(
        gates.goals, counters.missing, counters.double, counters.overlaps, strict=True
    ):
        values = [literal_number(bit) for _, bit in role]
        pairs = [word for pair in zip(values, map(row_number, overlaps), strict=True) for word in pair]
        roles += (table.add(pairs), len(role), row_number(missing), row_number(double))
    table.set_list(Field.GOALS, Field.GOAL_COUNT, roles, width=_GOAL_WORDS)


@cache
def standing_in_code(has_phases: bool, has_late_goals: bool) -> str:
    """Write all functions of a game that is data."""
    game = TableNumbers(has_phases, has_late_goals)
    parts = (
        PREAMBLE,
        loop_functions(),
        table_choice_functions(),
        _account(game.terminal),
        play_functions(game),
        single_state_functions(game),
    )
    return "".join(parts)


def _account(terminal: int) -> str:
    """Count the goals of the lanes that end; see ``counters.account_function``."""
    code = FunctionBuilder("account")
    ended = code.variable(ended_lanes(code, terminal))
    first = field(code, Field.COUNTED)
    for index in code.repeat(field(code, Field.COUNTED_COUNT)):
        entry = code.let(f"add i64 {first}, {code.let(f'shl i64 {index}, 1')}")
        held = code.read(row_at(code, number(code, entry)))
        _add(code, number(code, code.let(f"add i64 {entry}, 1")), code.and_(held, code.read(ended)))
    seen, twice, wrong = code.variable(), code.variable(), code.variable()
    for role in _each_role(code):
        _find_unique(code, role, seen, twice)
        bad = code.or_(code.not_(code.read(seen)), code.read(twice))
        code.write(wrong, code.or_(code.read(wrong), bad))
    with code.when(code.any_lane(code.and_(code.read(wrong), code.read(ended)))):
        for role in _each_role(code):
            _find_unique(code, role, seen, twice)
            now = code.read(ended)
            _add(code, role(2), code.and_(now, code.not_(code.read(seen))))
            code.write(twice, code.and_(now, code.read(twice)))
            _add(code, role(3), code.read(twice))
            for literal, counter in _each_value(code, role):
                _add(code, counter, code.and_(value_of(code, literal), code.read(twice)))
    return code.text()


def _each_role(code: FunctionBuilder) -> Iterator[Callable[[int], str]]:
    """Write a loop over the roles; yield how to read the words of one."""
    for index in code.repeat(field(code, Field.GOAL_COUNT)):
        offset = code.let(f"mul i64 {index}, {_GOAL_WORDS}")
        place = code.let(f"add i64 {field(code, Field.GOALS)}, {offset}")
        yield partial(_word, code, place)


def _word(code: FunctionBuilder, place: str, word: int) -> str:
    return number(code, code.let(f"add i64 {place}, {word}"))


def _each_value(code: FunctionBuilder, role: Callable[[int], str]) -> Iterator[tuple[str, str]]:
    """Write a loop over the goal values of a role; yield literal and counter of one."""
    for index in code.repeat(role(1)):
        entry = code.let(f"add i64 {role(0)}, {code.let(f'shl i64 {index}, 1')}")
        yield number(code, entry), number(code, code.let(f"add i64 {entry}, 1"))


def _find_unique(code: FunctionBuilder, role: Callable[[int], str], seen: str, twice: str) -> None:
    """Find where a role has at least one goal value, and where several."""
    code.write(seen, ZERO)
    code.write(twice, ZERO)
    for literal, _ in _each_value(code, role):
        value, before = value_of(code, literal), code.read(seen)
        code.write(twice, code.or_(code.read(twice), code.and_(before, value)))
        code.write(seen, code.or_(before, value))


def _add(code: FunctionBuilder, counter: str, value: str) -> None:
    pointer = row_at(code, counter)
    code.write(pointer, code.add(code.read(pointer), code.lanes_by_word(value)))
