"""What functions of all games need to know of one: written into them, or read from a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from anygame.network.kernels.game_table import Field, field, number, row_at
from anygame.network.kernels.gate_code import answer_bits
from anygame.network.kernels.presence import find_presence
from anygame.network.kernels.rows import ABSENT, END

if TYPE_CHECKING:
    from anygame.network.kernels.counters import Counters
    from anygame.network.kernels.function import FunctionBuilder
    from anygame.network.kernels.gate_code import GateOutputs
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.rows import RowLayout


class GameNumbers(ABC):
    """What is known of a game while its functions are written; numbers as constants or names of values.

    Attributes:
        terminal: bit literal of the end.
        has_phases: whether the game has phases.
        has_late_goals: whether what goals alone need is evaluated where games have ended, for several at a
            time.
        has_factors: whether moves go from the choice to the gates as ``factors`` says.
        constants: definitions that ``answer`` needs.
    """

    terminal: int
    has_phases: bool
    has_late_goals: bool
    has_factors = False
    constants = ""

    @abstractmethod
    def number(self, code: FunctionBuilder, name: Field) -> str:
        """Return a number of the game: of fluents, actions, phases, answers, or the patience."""

    @abstractmethod
    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer."""

    @abstractmethod
    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""

    @abstractmethod
    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT: all but the phase of some lanes."""


class WrittenNumbers(GameNumbers):
    """The numbers of one game, written into its code.

    Args:
        layout: the rows.
        gates: where outputs are found.
        counters: where a playing block counts.
        phases: of the game.
        has_factors: see ``GameNumbers``.
        patience: how many steps lanes may wait, together, before late goals are evaluated; 0 for no late
            goals.
    """

    def __init__(
        self,
        layout: RowLayout,
        gates: GateOutputs,
        counters: Counters,
        phases: Phases,
        has_factors: bool,
        patience: int,
    ) -> None:
        self.terminal = gates.terminal
        self.has_phases = bool(phases.patterns)
        self.has_late_goals = patience > 0
        self.has_factors = has_factors
        bits = answer_bits(gates)
        table = ", ".join(f"i32 {bit}" for bit in bits)
        self.constants = f"@answers = private unnamed_addr constant [{len(bits)} x i32] [{table}]\n"
        self._layout = layout
        self._counters = counters
        self._phases = phases
        self._numbers = {
            Field.FLUENTS: layout.actions - layout.fluents,
            Field.ACTIONS: layout.action_rows.stop - layout.action_rows.start,
            Field.PATTERNS: len(phases.patterns),
            Field.PATIENCE: patience,
            Field.ANSWER_COUNT: len(bits),
        }

    def number(self, code: FunctionBuilder, name: Field) -> str:
        """Return a constant."""
        return str(self._numbers[name])

    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer, which is read from a constant."""
        slot = code.let(f"getelementptr inbounds i32, ptr @answers, i64 {index}")
        return code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")

    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""
        return code.address(self._counters.moves)

    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT, without loops."""
        find_presence(code, self._phases, self._layout.fluents, lanes)


class TableNumbers(GameNumbers):
    """The numbers of whatever game is in the table; whether it has phases or late goals is known before."""

    terminal = 2 * END

    def __init__(self, has_phases: bool, has_late_goals: bool) -> None:
        self.has_phases = has_phases
        self.has_late_goals = has_late_goals

    def number(self, code: FunctionBuilder, name: Field) -> str:
        """Return what is read from the table."""
        return field(code, name)

    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer, as it stands in the table."""
        return number(code, code.let(f"add i64 {field(code, Field.ANSWERS)}, {index}"))

    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""
        return row_at(code, field(code, Field.MOVES_COUNTER))

    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT, phase by phase, fluent by fluent of the clock."""
        absent, matching = code.word_variable(0), code.variable()
        clock, length = field(code, Field.CLOCK), field(code, Field.CLOCK_COUNT)
        every = field(code, Field.EVERY)
        for phase in code.repeat(field(code, Field.PATTERNS)):
            code.write(matching, lanes)
            for place in code.repeat(length):
                entry = code.let(f"add i64 {clock}, {code.let(f'shl i64 {place}, 1')}")
                row = code.read(row_at(code, number(code, entry)))
                holding = number(code, code.let(f"add i64 {entry}, 1"))
                holds = code.let(f"and i64 {code.let(f'lshr i64 {holding}, {phase}')}, 1")
                fails = code.broadcast(code.let(f"sub i64 {holds}, 1"))
                code.write(matching, code.and_(code.read(matching), code.xor(row, fails)))
            others = code.any_lane(code.and_(lanes, code.not_(code.read(matching))))
            rest = code.let(f"xor i64 {every}, {code.let(f'shl i64 1, {phase}')}")
            code.set_word(absent, code.let(f"select i1 {others}, i64 {code.word(absent)}, i64 {rest}"))
        code.set_word(code.address(ABSENT), code.word(absent))
