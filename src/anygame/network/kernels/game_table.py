"""A game as numbers that code reads through ``%data``: what is written once then plays every game.

The first words are the fields, single numbers; behind them stand lists, which fields and lists point to by
the number of the first word. Rows stand there by their bytes from the first row on.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import ROW_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.function import FunctionBuilder
    from anygame.network.kernels.phases import Phases


class Field(IntEnum):
    """The fields of a table, by the number of their word.

    Of phases: the masks of ``phases.Phases``, how many patterns there are, and where the rows of the clock
    and the masks of the phases in which each of them holds begin. Of gates: where the operations begin and
    end that each function does, and for how many steps lanes may wait for late goals. Then what the game is
    made of, as ``gate_code.GateOutputs`` and ``counters.Counters`` have it: lists have a beginning, and a
    number of entries.
    """

    EVERY = 0
    WHOLE = auto()
    PATTERNS = auto()
    CLOCK = auto()
    CLOCK_COUNT = auto()
    STATE_BEGIN = auto()
    STATE_END = auto()
    LATE_BEGIN = auto()
    LATE_END = auto()
    PATIENCE = auto()
    MOVES_BEGIN = auto()
    MOVES_END = auto()
    TERMINAL = auto()
    FLUENTS = auto()
    ACTIONS = auto()
    ANSWERS = auto()
    ANSWER_COUNT = auto()
    MOVES_COUNTER = auto()
    COUNTED = auto()
    COUNTED_COUNT = auto()
    GOALS = auto()
    GOAL_COUNT = auto()
    ROLE_COUNT = auto()
    ROLES = auto()
    DRAWS = auto()
    DRAW_COUNT = auto()
    SHARED = auto()
    SCRATCH = auto()
    ROUNDS = auto()


#: The fields take so many words; an even number, since entries of gates are pairs.
_FIRST = (len(Field) + 1) // 2 * 2


class GameTable:
    """A table under construction.

    Args:
        words: a whole table to go on with.
    """

    def __init__(self, words: NDArray[np.int32] | None = None) -> None:
        self._fields = [0] * _FIRST if words is None else words[:_FIRST].tolist()
        self._lists: list[NDArray[np.int32]] = [] if words is None else [words[_FIRST:]]
        self._end = _FIRST if words is None else len(words)

    def set(self, name: Field, value: int) -> None:
        """Set a field."""
        self._fields[name] = value

    def add(self, numbers: Sequence[int] | NDArray[np.int64]) -> int:
        """Add a list, and return the number of its first word, which is even."""
        first = self._end
        words = np.zeros((len(numbers) + 1) // 2 * 2, np.int32)
        words[: len(numbers)] = numbers
        self._lists.append(words)
        self._end += len(words)
        return first

    def set_list(self, begin: Field, count: Field, numbers: Sequence[int], width: int = 1) -> None:
        """Add a list whose entries have so many words each, and set the fields that describe it."""
        self.set(begin, self.add(numbers))
        self.set(count, len(numbers) // width)

    def set_phases(self, phases: Phases, first_fluent: int) -> None:
        """Set the fields of the phases."""
        self.set(Field.EVERY, phases.every)
        self.set(Field.WHOLE, phases.whole)
        self.set(Field.PATTERNS, len(phases.patterns))
        clock: list[int] = []
        for place, fluent in enumerate(phases.clock):
            holding = sum(pattern[place] << phase for phase, pattern in enumerate(phases.patterns))
            clock += (row_number(first_fluent + fluent), holding)
        self.set_list(Field.CLOCK, Field.CLOCK_COUNT, clock, width=2)

    def words(self) -> NDArray[np.int32]:
        """Return the whole table."""
        return np.concatenate([np.array(self._fields, np.int32), *self._lists])


def row_number(row: int) -> int:
    """Return what stands for a row."""
    return row * ROW_BYTES


def literal_number(literal: int) -> int:
    """Return what stands for a bit literal: the row, and in the lowest bit whether it is inverted."""
    return (literal >> 1) * ROW_BYTES | literal & 1


# How code reads it.


def number(code: FunctionBuilder, index: str | int) -> str:
    """Return the number in a word of the table."""
    word = code.let(f"getelementptr inbounds i32, ptr %data, i64 {index}")
    return code.let(f"zext i32 {code.let(f'load i32, ptr {word}, align 4')} to i64")


def field(code: FunctionBuilder, name: Field) -> str:
    """Return a field."""
    return number(code, int(name))


def row_at(code: FunctionBuilder, place: str) -> str:
    """Return a pointer to a row, given the number that stands for it or for a literal of it."""
    start = code.let(f"and i64 {place}, -{ROW_BYTES}")
    return code.let(f"getelementptr inbounds i8, ptr %rows, i64 {start}")


def value_of(code: FunctionBuilder, literal: str) -> str:
    """Return the value of a literal, given the number that stands for it."""
    bit = code.let(f"sub i64 0, {code.let(f'and i64 {literal}, 1')}")
    return code.xor(code.read(row_at(code, literal)), code.broadcast(bit))
