"""What functions of all games need to know of one: written into them, or read from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

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


class GameNumbers(Protocol):
    """The numbers of a game, each as a constant or as the name of a value."""

    @property
    def terminal(self) -> int:
        """Bit literal of the end."""

    @property
    def has_phases(self) -> bool:
        """Whether the game has phases."""

    @property
    def has_late_goals(self) -> bool:
        """Whether what goals alone need is evaluated where games have ended, for several at a time."""

    @property
    def has_factors(self) -> bool:
        """Whether moves go from the choice to the gates as ``factors`` says."""

    @property
    def constants(self) -> str:
        """Definitions that ``answer`` needs."""

    def fluents(self, code: FunctionBuilder) -> str:
        """Return how many fluents there are."""

    def actions(self, code: FunctionBuilder) -> str:
        """Return how many actions there are."""

    def phases(self, code: FunctionBuilder) -> str:
        """Return how many phases there are."""

    def patience(self, code: FunctionBuilder) -> str:
        """Return how many steps lanes may wait, together, before late goals are evaluated."""

    def answers(self, code: FunctionBuilder) -> str:
        """Return how many answers there are about a state."""

    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer."""

    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""

    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT: all but the phase of some lanes."""


@dataclass(frozen=True, eq=False)
class WrittenNumbers:
    """The numbers of one game, written into its code."""

    layout: RowLayout
    gates: GateOutputs
    counters: Counters
    of_phases: Phases
    has_factors: bool
    steps_to_wait: int

    @property
    def has_late_goals(self) -> bool:
        """Whether what goals alone need is evaluated where games have ended, for several at a time."""
        return self.steps_to_wait > 0

    @property
    def terminal(self) -> int:
        """Bit literal of the end."""
        return self.gates.terminal

    @property
    def has_phases(self) -> bool:
        """Whether the game has phases."""
        return bool(self.of_phases.patterns)

    @property
    def constants(self) -> str:
        """Definitions that ``answer`` needs."""
        bits = answer_bits(self.gates)
        table = ", ".join(f"i32 {bit}" for bit in bits)
        return f"@answers = private unnamed_addr constant [{len(bits)} x i32] [{table}]\n"

    def fluents(self, code: FunctionBuilder) -> str:
        """Return how many fluents there are."""
        return str(self.layout.actions - self.layout.fluents)

    def actions(self, code: FunctionBuilder) -> str:
        """Return how many actions there are."""
        rows = self.layout.action_rows
        return str(rows.stop - rows.start)

    def phases(self, code: FunctionBuilder) -> str:
        """Return how many phases there are."""
        return str(len(self.of_phases.patterns))

    def patience(self, code: FunctionBuilder) -> str:
        """Return how many steps lanes may wait, together, before late goals are evaluated."""
        return str(self.steps_to_wait)

    def answers(self, code: FunctionBuilder) -> str:
        """Return how many answers there are about a state."""
        return str(len(answer_bits(self.gates)))

    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer."""
        slot = code.let(f"getelementptr inbounds i32, ptr @answers, i64 {index}")
        return code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")

    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""
        return code.address(self.counters.moves)

    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT: all but the phase of some lanes."""
        find_presence(code, self.of_phases, self.layout.fluents, lanes)


@dataclass(frozen=True)
class TableNumbers:
    """The numbers of whatever game is in the table; whether it has phases or late goals is known before."""

    has_phases: bool
    has_late_goals: bool
    has_factors: Final[bool] = False
    terminal: Final[int] = 2 * END
    constants: Final[str] = ""

    def fluents(self, code: FunctionBuilder) -> str:
        """Return how many fluents there are."""
        return field(code, Field.FLUENTS)

    def actions(self, code: FunctionBuilder) -> str:
        """Return how many actions there are."""
        return field(code, Field.ACTIONS)

    def phases(self, code: FunctionBuilder) -> str:
        """Return how many phases there are."""
        return field(code, Field.PATTERNS)

    def patience(self, code: FunctionBuilder) -> str:
        """Return how many steps lanes may wait, together, before late goals are evaluated."""
        return field(code, Field.PATIENCE)

    def answers(self, code: FunctionBuilder) -> str:
        """Return how many answers there are about a state."""
        return field(code, Field.ANSWER_COUNT)

    def answer(self, code: FunctionBuilder, index: str) -> str:
        """Return the bit literal of an answer."""
        return number(code, code.let(f"add i64 {field(code, Field.ANSWERS)}, {index}"))

    def moves_counter(self, code: FunctionBuilder) -> str:
        """Return a pointer to the row that counts joint moves."""
        return row_at(code, field(code, Field.MOVES_COUNTER))

    def find_presence(self, code: FunctionBuilder, lanes: str) -> None:
        """Write what sets row ABSENT, phase by phase, fluent by fluent of the clock."""
        absent, matching = code.word_variable(0), code.variable()
        clock, length = field(code, Field.CLOCK), field(code, Field.CLOCK_COUNT)
        every = field(code, Field.EVERY)

        def look(phase: str) -> None:
            code.write(matching, lanes)

            def compare(place: str) -> None:
                entry = code.let(f"add i64 {clock}, {code.let(f'shl i64 {place}, 1')}")
                row = code.read(row_at(code, number(code, entry)))
                holding = number(code, code.let(f"add i64 {entry}, 1"))
                holds = code.let(f"and i64 {code.let(f'lshr i64 {holding}, {phase}')}, 1")
                fails = code.broadcast(code.let(f"sub i64 {holds}, 1"))
                code.write(matching, code.and_(code.read(matching), code.xor(row, fails)))

            code.repeat(length, compare)
            others = code.any_lane(code.and_(lanes, code.not_(code.read(matching))))
            rest = code.let(f"xor i64 {every}, {code.let(f'shl i64 1, {phase}')}")
            code.set_word(absent, code.let(f"select i1 {others}, i64 {code.word(absent)}, i64 {rest}"))

        code.repeat(field(code, Field.PATTERNS), look)
        code.set_word(code.address(ABSENT), code.word(absent))
