"""The functions that evaluate gates, ``@evaluate_state`` and ``@evaluate_moves``, and code to set fluents.

``straight_line`` and ``gate_loop`` are two ways to write these functions. Both ways use the same rows for
inputs and outputs, and later rows for other values. So a kernel can switch between the two ways after a move.
However, the code that evaluates a state must also make the moves from this state.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import (
    ABSENT,
    FIRST_FLUENT,
    GO,
    RESTART,
    FunctionBuilder,
    SharedFunctions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from anygame.network.kernels.layout import GateOutputs, RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target

#: Data for code that reads no data.
NO_DATA = np.zeros(1, np.int32)


def state_function(target: Target) -> str:
    """Write ``@evaluate_state``, which calls ``@evaluate_options`` and ``@evaluate_goals``."""
    code = FunctionBuilder("evaluate_state", target)
    for name in ("evaluate_options", "evaluate_goals"):
        code.line(f"call void @{name}(ptr %rows, ptr %data)")
    return code.text()


@dataclass(frozen=True, eq=False)
class GateCode:
    """The gates of a network as code: functions ``@evaluate_state`` and ``@evaluate_moves``.

    ``@evaluate_state`` evaluates the gates that depend on the state alone. If goals take long to evaluate,
    ``@evaluate_goals`` evaluates the gates that only goals need, and ``@evaluate_options`` the other gates.
    ``@evaluate_moves`` then reads the actions and computes the next state in the lanes of row ``GO``. Lanes
    of row ``RESTART`` get the initial state.

    Attributes:
        code: definitions of these functions.
        data: the data that the functions read through ``%data``.
        end: the first unused row.
        factors: whether there is ``@evaluate_factors`` instead of ``@evaluate_moves``; see ``nth_set_bit``.
        shared: the called functions that do not depend on the game.
    """

    code: str
    data: NDArray[np.int32]
    end: int
    factors: bool = False
    shared: SharedFunctions = field(default_factory=SharedFunctions)


def answer_bits(gates: GateOutputs) -> list[int]:
    """Return the bit literals of the answers: the end, the legal actions, the goals role by role."""
    return [gates.terminal, *gates.legal, *(bit for role in gates.goals for _, bit in role)]


def set_fluent(code: FunctionBuilder, row: int, value: str, initial: bool) -> None:
    """Set a fluent to ``value`` in lanes that move, and to its initial value in lanes that restart."""
    restart_fluent(code, row, code.mux(code.load(GO), value, code.load(row)), initial)


def restart_fluent(code: FunctionBuilder, row: int, value: str, initial: bool) -> None:
    """Set a fluent to its initial value in lanes that restart, and to ``value`` in the other lanes."""
    restart = code.load(RESTART)
    code.store(row, code.or_(value, restart) if initial else code.and_(value, code.not_(restart)))


def copy_order(sources: dict[int, int]) -> Iterator[list[int]]:
    """Yield fluents in an order in which each fluent is read before it is overwritten.

    ``sources`` has the fluent that each fluent copies, or a number that is not a fluent. Fluents that copy
    each other in a ring must all be read before any of them is set, so the function yields them together.
    """
    readers = dict.fromkeys(sources, 0)
    for fluent, source in sources.items():
        if source != fluent and source in readers:
            readers[source] += 1
    ready = [fluent for fluent, count in readers.items() if not count]
    while ready:
        fluent = ready.pop()
        yield [fluent]
        source = sources[fluent]
        if source != fluent and source in readers:
            readers[source] -= 1
            if not readers[source]:
                ready.append(source)
    in_rings = {fluent for fluent, count in readers.items() if count}
    while in_rings:
        ring = [in_rings.pop()]
        while (source := sources[ring[-1]]) in in_rings:
            ring.append(source)
            in_rings.discard(source)
        yield ring


def single_state_functions(layout: RowLayout, gates: GateOutputs, target: Target) -> str:
    """Write ``@query`` and ``@advance``, which evaluate single states in the first word of each row.

    ``@query`` takes a state, a byte per fluent, and returns a byte for each of ``answer_bits``. A call of
    ``@advance`` must follow: it takes the numbers of the chosen actions, and returns the next state.
    """
    bits = answer_bits(gates)
    words = ", ".join(f"i32 {bit}" for bit in bits)
    table = f"@answers = private unnamed_addr constant [{len(bits)} x i32] [{words}]\n"
    fluents, actions = str(layout.actions - layout.fluents), str(len(layout.chosen))
    return "".join((table, _query(fluents, str(len(bits)), target), _advance(fluents, actions, target)))


def _query(fluents: str, answers: str, target: Target) -> str:
    code = FunctionBuilder("query", target, parameters=["ptr noalias %state", "ptr noalias %out"])
    first = code.address(FIRST_FLUENT)
    for index in code.repeat(fluents):
        byte = code.let(f"load i8, ptr {_byte(code, '%state', index)}")
        code.set_word(code.row_at(first, index), code.let(f"sub i64 0, {code.let(f'zext i8 {byte} to i64')}"))
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    for index in code.repeat(answers):
        slot = code.let(f"getelementptr inbounds i32, ptr @answers, i64 {index}")
        bit = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        row = code.let(f"lshr i64 {bit}, 1")
        _give(code, code.let(f"xor i64 {code.word(code.row_at('%rows', row))}, {bit}"), index)
    return code.text()


def _advance(fluents: str, actions: str, target: Target) -> str:
    code = FunctionBuilder(
        "advance", target, parameters=["ptr noalias %taken", "i64 %roles", "ptr noalias %out"]
    )
    state = code.address(FIRST_FLUENT)
    moves = code.row_at(state, fluents)
    for index in code.repeat(actions):
        code.set_word(code.row_at(moves, index), 0)
    for role in code.repeat("%roles"):
        slot = code.let(f"getelementptr inbounds i32, ptr %taken, i64 {role}")
        action = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        code.set_word(code.row_at(moves, action), -1)
    code.set_word(code.address(GO), -1)
    code.set_word(code.address(RESTART), 0)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    for index in code.repeat(fluents):
        _give(code, code.word(code.row_at(state, index)), index)
    return code.text()


def _byte(code: FunctionBuilder, pointer: str, index: str) -> str:
    return code.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {index}")


def _give(code: FunctionBuilder, word: str, index: str) -> None:
    byte = code.let(f"trunc i64 {code.let(f'and i64 {word}, 1')} to i8")
    code.line(f"store i8 {byte}, ptr {_byte(code, '%out', index)}")


class Presence:
    """Branches of a function on the common phase of the lanes.

    The first word of row ``ABSENT`` is the mask of all phases except the common phase. The word is 0 if the
    lanes have no common phase, or if the caller does not know the phase. Then the code computes all gates.

    Attributes:
        present: mask of the common phase, or of all phases if there is no common phase.
        alone: mask of the common phase, or 0 if there is no common phase.
    """

    def __init__(self, code: FunctionBuilder, phases: Phases) -> None:
        self._code = code
        self._every = phases.every
        self.present, self.alone = str(phases.every), "0"
        if phases.patterns:
            self.present = code.let(f"xor i64 {code.word(code.address(ABSENT))}, {phases.every}")
            alone = code.let(f"icmp ult i64 {self.present}, {phases.whole}")
            self.alone = code.let(f"select i1 {alone}, i64 {self.present}, i64 0")

    def during(self, mask: int) -> AbstractContextManager[None]:
        """Write code that runs if the mask contains the lanes' common phase, or without a common phase."""
        return nullcontext() if mask == self._every else self._code.when(self._any(self.present, mask))

    def only_during(self, mask: int) -> AbstractContextManager[None]:
        """Write code that runs if the lanes have a common phase and the mask contains this phase."""
        return self._code.when(self._any(self.alone, mask))

    @contextmanager
    def restarting_during(self, mask: int) -> Iterator[None]:
        """Write code that runs if a lane restarts and the mask contains the common phase of the lanes."""
        with self.only_during(mask), self._code.when(self._code.any_lane(self._code.load(RESTART))):
            yield

    def _any(self, present: str, mask: int) -> str:
        return self._code.let(f"icmp ne i64 {self._code.let(f'and i64 {present}, {mask}')}, 0")


def find_presence(code: FunctionBuilder, phases: Phases, first_fluent: int, lanes: str) -> None:
    """Write code that sets row ABSENT for the common phase of ``lanes``, or to 0 without a common phase."""
    if not phases.patterns:
        return
    clock = [code.load(first_fluent + fluent) for fluent in phases.clock]
    rows = []
    for pattern in phases.patterns:
        values = zip(pattern, clock, strict=True)
        rows.append(code.all([lanes, *(row if holds else code.not_(row) for holds, row in values)]))
    absent = "0"
    for phase, row in enumerate(rows):
        others = code.any_lane(code.and_(lanes, code.not_(row)))
        absent = code.let(f"select i1 {others}, i64 {absent}, i64 {phases.every & ~(1 << phase)}")
    code.set_word(code.address(ABSENT), absent)
