"""What a block counts: joint moves and legal moves where one is made, goals where a playout ends.

A counter is a row of eight 64-bit words, to which the number of lanes that hold in each word is added: one
population count of a vector for 512 games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.network.kernels.function import ZERO, FunctionBuilder
from anygame.network.kernels.rows import RUNNING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.gate_code import GateOutputs


@dataclass(frozen=True)
class Counters:
    """Rows of eight 64-bit counters; the sum of a row is the count.

    Attributes:
        first: the first row of all.
        end: the row behind the last.
        moves: joint moves made.
        options: per role and plane, in how many joint moves that bit of the number of legal moves was set.
        goals: per row that a goal reads, in how many ends it held.
        missing: per role, ends without a goal value.
        double: per role, ends with several.
        overlaps: per role and value, ends with this value and another.
    """

    first: int
    end: int
    moves: int
    options: tuple[tuple[int, ...], ...]
    goals: dict[int, int]
    missing: tuple[int, ...]
    double: tuple[int, ...]
    overlaps: tuple[tuple[int, ...], ...]

    @classmethod
    def after(cls, gates: GateOutputs, candidates: Sequence[int]) -> Counters:
        """Lay out the counters behind the gates; ``candidates``: per role the moves that can be legal."""
        rows = iter(range(gates.rows, 1 << 40))
        first = next(rows)
        options = tuple(tuple(next(rows) for _ in range(count.bit_length())) for count in candidates)
        read = dict.fromkeys(bit >> 1 for role in gates.goals for _, bit in role if bit > 1)
        goals = {row: next(rows) for row in read}
        missing = tuple(next(rows) for _ in gates.goals)
        double = tuple(next(rows) for _ in gates.goals)
        overlaps = tuple(tuple(next(rows) for _ in role) for role in gates.goals)
        return cls(first, next(rows), first, options, goals, missing, double, overlaps)


def ended_lanes(code: FunctionBuilder, terminal: int) -> str:
    """Return where a playout is at its end by the rules, given the bit literal of that."""
    return code.and_(code.load(RUNNING), code.bits(terminal))


def account_function(gates: GateOutputs, counters: Counters) -> str:
    """Write ``@account``: count the goals of the lanes that end.

    That a role has no goal there or several should not be: it is looked for, and counted only if it is so.
    """
    code = FunctionBuilder("account")
    ended = ended_lanes(code, gates.terminal)
    for row, counter in counters.goals.items():
        code.count(counter, code.and_(code.load(row), ended))
    wrong = ZERO
    for role in gates.goals:
        seen, twice = _unique(code, [bit for _, bit in role])
        wrong = code.or_(wrong, code.or_(code.not_(seen), twice))
    wrong = code.and_(wrong, ended)
    if wrong == ZERO:
        return code.text()
    with code.when(code.any_lane(wrong)):
        for number, role in enumerate(gates.goals):
            seen, twice = _unique(code, [bit for _, bit in role])
            code.count(counters.missing[number], code.and_(ended, code.not_(seen)))
            twice = code.and_(ended, twice)
            code.count(counters.double[number], twice)
            for (_, bit), counter in zip(role, counters.overlaps[number], strict=True):
                code.count(counter, code.and_(code.bits(bit), twice))
    return code.text()


def _unique(code: FunctionBuilder, bits: Sequence[int]) -> tuple[str, str]:
    """Return where at least one of the bits holds, and where several do."""
    seen, twice = ZERO, ZERO
    for bit in bits:
        value = code.bits(bit)
        twice = code.or_(twice, code.and_(seen, value))
        seen = code.or_(seen, value)
    return seen, twice
