"""Gates as data: one loop reads them, for networks that would take too long to compile.

An entry is two numbers: the row to read, and the row of the gate that reads it, both times 64 (the bytes of
a row). The lowest bit says of the first that it is inverted, and of the second that this was the last input
of the gate. So there is no branch to be guessed wrong. A gate writes its row after each of its inputs,
which therefore is never the row of an input.

What is done with runs of entries, and in which phases, is a list of operations: data, too. So the functions
are small, and compiled in a tenth of a second, however large the game.

A loop can stand in for straight code that is not there yet. What that reads behind the choice of moves is
then brought to where it looks for it, the rest lies behind all its rows.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import GO, ONES, RESTART, ROW_BYTES, ZERO, FunctionBuilder, linear_scan
from anygame.network.kernels.gate_code import GateCode, Presence, copy_order, outputs_of, state_function
from anygame.network.kernels.schedule import Dependences, keep_apart
from anygame.network.logic.ragged import places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.function import RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.schedule import Schedule, Unit
    from anygame.network.kernels.segments import Allocation
    from anygame.network.network import Network

#: Inputs between the writing and the reading of a row: each is about ten instructions, and processors have
#: some hundreds under way.
_DISTANCE = 100
_MASKS = "@masks = private unnamed_addr constant [2 x i64] [i64 0, i64 -1], align 16\n"
_PARAMETERS = ["i64 %from", "i64 %until"]
_OPERATION_WORDS = 8


def loop_gates(
    network: Network,
    order: Schedule,
    phases: Phases,
    layout: RowLayout,
    straight: Allocation | None = None,
    first_row: int = 0,
) -> GateCode:
    """Write the gates of a network as data for a loop.

    Args:
        network: the game.
        order: in which its gates are evaluated.
        phases: of the game.
        layout: the rows of the inputs.
        straight: where the values of the straight code live that the loop is to stand in for, if it is.
        first_row: then the first row that is free for values of the loop alone.
    """
    return _Writer(network, order, phases, layout, straight, first_row).write()


class Kind(IntEnum):
    """What an operation does with its entries: evaluate them once, evaluate a cycle, or set fluents."""

    RUN = 0
    SET = 1
    CYCLE = 2


class _Writer:
    def __init__(
        self,
        network: Network,
        order: Schedule,
        phases: Phases,
        layout: RowLayout,
        straight: Allocation | None,
        first_row: int,
    ) -> None:
        self._network = network
        self._phases = phases
        self._dependences = Dependences(network)
        self._state_runs = self._runs_apart(order.state)
        self._goal_runs = self._runs_apart(order.goals)
        self._move_runs = self._runs_apart(order.moves)
        self._order = order
        self._straight = straight
        self._layout = layout
        self._base = network.first_gate
        self._starts = network.starts.astype(np.int64)
        self._next: list[int] = network.next.tolist()
        #: Per node the bit literal of where it lies, -1 for gates that have no place yet.
        self._place = np.full(network.nodes, -1, np.int64)
        self._place[: self._base] = [2 * layout.input(node) for node in range(self._base)]
        #: Per gate the bit literal of where it is brought before moves are chosen.
        self._later: dict[int, int] = {}
        self._end = first_row or self._layout.end
        self._entries: list[NDArray[np.int64]] = []
        self._written = 0
        self._copies: list[int] = []
        self._operations: list[list[int]] = []

    def _runs_apart(self, units: Sequence[Unit]) -> list[tuple[int, list[Unit]]]:
        """Return the units in runs that are needed in the same phases, with these."""
        runs = groupby(units, key=lambda unit: self._phases.gates[unit.start])
        return [(mask, keep_apart(self._dependences, list(run), _DISTANCE)) for mask, run in runs]

    def write(self) -> GateCode:
        if self._straight is None:
            self._place_legal()
        else:
            self._place_as(self._straight)
        self._allocate()
        self._find_known()
        self._write_runs(self._state_runs)
        self._write_copies()
        of_goals = {self._base + gate for unit in self._order.goals for gate in unit}
        self._bring([node for node in self._later if node not in of_goals])
        ends = [len(self._operations)]
        self._write_runs(self._goal_runs)
        self._bring([node for node in self._later if node in of_goals])
        ends.append(len(self._operations))
        self._place[list(self._later)] = list(self._later.values())
        self._write_known(np.arange(self._network.first_action, self._base))
        self._write_runs(self._move_runs)
        self._write_settings()
        ends.append(len(self._operations))
        first = 2 * self._written
        places_of = [first + _OPERATION_WORDS * end for end in (0, *ends)]
        words = np.array([word for each in self._operations for word in each], np.int64)
        return GateCode(
            code=_loop_functions(self._phases, places_of),
            data=np.concatenate([*self._entries, words, [0]]).astype(np.int32),
            outputs=self._straight.outputs()
            if self._straight
            else outputs_of(self._network, self._layout, self._bit, self._end),
            end=self._end,
        )

    def _bring(self, nodes: Sequence[int]) -> None:
        """Bring values to where straight code has them."""
        begin = self._here()
        for node in nodes:
            bit = self._later[node]
            self._add(self._source(2 * node ^ bit & 1), (bit >> 1) * ROW_BYTES | 1)
        self._operate(Kind.RUN, begin, during=self._phases.every)

    def _literals(self, gates: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the inputs of some gates, gate after gate, and how many each has."""
        lengths = self._starts[gates + 1] - self._starts[gates]
        return self._network.inputs[places(self._starts[gates], lengths)], lengths

    # Where values lie.

    def _place_legal(self) -> None:
        """Compute legal actions that loops read where those look for them; copy only those that cannot be."""
        for action, row in self._layout.legal.items():
            literal = int(self._network.legal[action])
            if literal & 1 or literal >> 1 < self._base or self._place[literal >> 1] >= 0:
                self._copies.append(action)
            else:
                self._place[literal >> 1] = 2 * row

    def _place_as(self, straight: Allocation) -> None:
        """Have what is read behind the choice of moves where straight code has it; copy what is inverted."""
        self._copies = straight.copies
        for node, bit in straight.crossing().items():
            (self._later if bit & 1 else self._place)[node] = bit

    def _allocate(self) -> None:
        """Give each gate a row, from its unit to its last use."""
        network = self._network
        state = [unit for _, units in (*self._state_runs, *self._goal_runs) for unit in units]
        units = [*state, *(unit for _, units in self._move_runs for unit in units)]
        choice = len(state)  # everything that is read there is needed up to the first unit behind it
        gates = np.fromiter(chain.from_iterable(units), np.int64)
        times = np.repeat(np.arange(len(units)), np.fromiter(map(len, units), np.int64, len(units)))
        read, lengths = self._literals(gates)
        last = np.full(network.nodes, -1, np.int64)
        last[read >> 1] = np.repeat(times, lengths)  # of several, the last one stays
        goals = [literal for role in network.goals for _, literal in role]
        outputs = [literal >> 1 for literal in (*network.legal.tolist(), network.terminal, *goals)]
        last[outputs] = np.maximum(last[outputs], choice)
        last[network.next >> 1] = len(units)
        last[list(self._later)] = choice
        waiting = self._place[self._base + gates] < 0
        gates, times = gates[waiting], times[waiting]
        ends = np.maximum(last[self._base + gates], times)
        rows, self._end = linear_scan(zip(times.tolist(), ends.tolist(), strict=True), self._end)
        self._place[self._base + gates] = 2 * np.array(rows, np.int64)

    def _bit(self, literal: int) -> int:
        return int(self._place[literal >> 1]) ^ (literal & 1)

    def _source(self, literal: int) -> int:
        bit = self._bit(literal)
        return (bit >> 1) * ROW_BYTES | bit & 1

    # Phases.

    def _find_known(self) -> None:
        """Find rows that are read in phases in which they are not written, since they are always the same."""
        network, phases = self._network, self._phases
        self._known = np.zeros(network.nodes, np.int64)
        if not phases.patterns:
            return
        written = np.array([*[-1] * network.first_action, *self._layout.chosen, *phases.gates], np.int64)
        for mask, units in (*self._state_runs, *self._goal_runs, *self._move_runs):
            read, _ = self._literals(np.fromiter(chain.from_iterable(units), np.int64))
            self._known[read >> 1] |= mask & ~written[read >> 1]
        goals = [literal >> 1 for role in network.goals for _, literal in role]
        asked = np.array([network.terminal >> 1, *goals], np.int64)
        for nodes, masks in (
            (asked, np.full(len(asked), phases.every)),
            (network.legal >> 1, np.array(self._layout.chosen, np.int64)),
            (network.next >> 1, np.array(phases.changes, np.int64)),
        ):
            np.bitwise_or.at(self._known, nodes, masks & ~written[nodes])

    def _write_known(self, nodes: NDArray[np.int64]) -> None:
        """Write what is known of nodes in phases in which they are left out."""
        nodes = nodes[self._known[nodes] != 0]
        left_out = dict(zip(nodes.tolist(), self._known[nodes].tolist(), strict=True))
        for (mask, value), known in self._phases.known_values(left_out).items():
            begin = self._here()
            for node in known:
                self._add(int(value), (self._bit(2 * node) >> 1) * ROW_BYTES | 1)
            self._operate(Kind.RUN, begin, only=mask)

    # Gates.

    def _write_runs(self, runs: Sequence[tuple[int, list[Unit]]]) -> None:
        for mask, units in runs:
            gates = np.fromiter(chain.from_iterable(units), np.int64)
            self._write_known(self._base + gates)
            self._write_units(units, mask)

    def _write_copies(self) -> None:
        """Copy to where loops read it whether actions are legal."""
        for mask, actions in self._layout.by_phases(self._copies).items():
            begin = self._here()
            for action in actions:
                target = self._layout.legal[action] * ROW_BYTES
                self._add(self._source(int(self._network.legal[action])), target | 1)
            self._operate(Kind.RUN, begin, during=mask)

    def _write_units(self, units: Sequence[Unit], mask: int) -> None:
        for is_cycle, run in groupby(units, key=lambda unit: unit.start in self._order.cyclic):
            if is_cycle:
                for unit in run:
                    self._write_cycle(unit, mask)
            else:
                begin = self._here()
                self._add_gates(np.fromiter(chain.from_iterable(run), np.int64))
                self._operate(Kind.RUN, begin, during=mask)

    def _write_cycle(self, unit: Unit, mask: int) -> None:
        begin = self._here()
        for gate in unit:
            target = (self._bit(2 * (self._base + gate)) >> 1) * ROW_BYTES
            self._add(int(self._network.initially[gate]), target | 1)
        self._operate(Kind.RUN, begin, during=mask)
        begin = self._here()
        self._add_gates(np.arange(unit.start, unit.stop))
        self._operate(Kind.CYCLE, begin, during=mask, rounds=len(unit) + 1)

    def _add_gates(self, gates: NDArray[np.int64]) -> None:
        """Add the entries of some gates: one for each input."""
        literals, lengths = self._literals(gates)
        bits = self._place[literals >> 1] ^ (literals & 1)
        entries = np.empty((len(literals), 2), np.int64)
        entries[:, 0] = (bits >> 1) * ROW_BYTES | bits & 1
        entries[:, 1] = np.repeat((self._place[self._base + gates] >> 1) * ROW_BYTES, lengths)
        entries[np.cumsum(lengths) - 1, 1] |= 1
        self._entries.append(entries.reshape(-1))
        self._written += len(literals)

    def _add(self, source: int, target: int) -> None:
        """Add one entry."""
        self._entries.append(np.array([source, target], np.int64))
        self._written += 1

    def _here(self) -> int:
        return self._written

    def _operate(
        self,
        kind: Kind,
        begin: int,
        *,
        during: int = 0,
        only: int = 0,
        restarting: bool = False,
        rounds: int = 0,
    ) -> None:
        """Add an operation with the entries from ``begin`` on, as words.

        Args:
            kind: what is done with them.
            begin: the first of them.
            during: the phases in which it is done, and where there is no common one.
            only: the phases in which it is done, but not where there is no common one.
            restarting: whether it is only done where a lane starts anew.
            rounds: of a cycle, how many there are at most.
        """
        if self._here() > begin:
            self._operations.append([kind, during, only, restarting, begin, self._here(), rounds, 0])

    # Fluents.

    def _write_settings(self) -> None:
        sources: dict[int, int | None] = {}
        for fluent, literal in enumerate(self._next):
            source = (literal >> 1) - 1
            sources[fluent] = source if 0 <= source < self._network.fluents else None
        rings = list(copy_order(sources))
        begin, copies = self._here(), {}
        for fluent in (fluent for ring in rings if len(ring) > 1 for fluent in ring):
            copies[fluent] = self._end * ROW_BYTES
            self._add(self._source(self._next[fluent]), copies[fluent] | 1)
            self._end += 1
        self._operate(Kind.RUN, begin, during=self._phases.every)
        fluents = [fluent for ring in rings for fluent in ring]
        changes = self._phases.changes
        for mask, run in groupby(fluents, key=changes.__getitem__):
            begin = self._here()
            for fluent in run:
                self._set(fluent, copies.get(fluent, self._source(self._next[fluent])))
            self._operate(Kind.SET, begin, during=mask)
        for mask in sorted({self._phases.every & ~mask for mask in changes}):
            begin = self._here()
            for fluent in fluents:
                if self._phases.every & ~changes[fluent] == mask:
                    self._set(fluent, self._source(2 * (1 + fluent)))
            if mask:
                self._operate(Kind.SET, begin, only=mask, restarting=True)

    def _set(self, fluent: int, source: int) -> None:
        target = (self._layout.fluents + fluent) * ROW_BYTES | bool(self._network.initial[fluent])
        self._add(source, target)


def _loop_functions(phases: Phases, places_of: Sequence[int]) -> str:
    """Write the functions that read gates as data.

    Args:
        phases: of the game.
        places_of: where the operations begin for what depends on the state, for late goals, and for moves,
            and where the last ones end; in words of the data.
    """
    names = ("evaluate_options", "evaluate_goals", "evaluate_moves")
    parts = [_run(), _run_cycle(), _set(), _operate_function(phases)]
    for name, (begin, end) in zip(names, pairwise(places_of), strict=True):
        code = FunctionBuilder(name)
        code.line(f"call void @operate(ptr %rows, ptr %data, i64 {begin}, i64 {end})")
        parts.append(code.text())
    return "".join([_MASKS, *parts, state_function()])


def _operate_function(phases: Phases) -> str:
    """Do the operations in some words of the table that the lanes need in their phase.

    ::

        for each operation:
            if (during & present or only & alone) and (not restarting or a lane restarts):
                RUN: run(entries)  SET: set(entries)  CYCLE: run_cycle(entries) until nothing changes
    """
    code = FunctionBuilder("operate", parameters=["i64 %first", "i64 %end"])
    presence = Presence(code, phases)
    steady = code.let(f"xor i1 {code.any_lane(code.load(RESTART))}, true")
    count = code.let(f"sdiv i64 {code.let('sub i64 %end, %first')}, {_OPERATION_WORDS}")
    for index in code.repeat(count):
        place = code.let(f"add i64 %first, {code.let(f'mul i64 {index}, {_OPERATION_WORDS}')}")
        words = [_number(code, code.let(f"add i64 {place}, {offset}")) for offset in range(7)]
        kind, during, only, restarting, begin, end, rounds = words
        needed = code.let(
            f"or i64 {code.let(f'and i64 {presence.present}, {during}')}, "
            f"{code.let(f'and i64 {presence.alone}, {only}')}"
        )
        skipped = code.let(f"and i1 {steady}, {code.let(f'trunc i64 {restarting} to i1')}")
        done = code.let(f"or i1 {skipped}, {code.let(f'icmp eq i64 {needed}, 0')}")
        entries = f"ptr %rows, ptr %data, i64 {begin}, i64 {end}"
        with code.when(code.let(f"xor i1 {done}, true")):
            for each, name in ((Kind.RUN, "run"), (Kind.SET, "set")):
                with code.when(code.let(f"icmp eq i64 {kind}, {int(each)}")):
                    code.line(f"call void @{name}({entries})")
            with code.when(code.let(f"icmp eq i64 {kind}, {int(Kind.CYCLE)}")):
                left = code.word_variable(rounds)
                again, behind = code.new_label(), code.new_label()
                code.jump(again)
                code.label(again)
                changed = code.let(f"call i1 @run_cycle({entries})")
                code.set_word(left, code.let(f"sub i64 {code.word(left)}, 1"))
                within = code.let(f"icmp ne i64 {code.word(left)}, 0")
                code.branch(code.let(f"and i1 {changed}, {within}"), again, behind)
                code.label(behind)
    return code.text()


def _entry(code: FunctionBuilder, index: str) -> tuple[str, str, str, str]:
    """Read an entry: what it reads, as a row, where it writes, and the two bits as words."""
    first = code.let(f"shl i64 {index}, 1")
    source, target = _number(code, first), _number(code, code.let(f"or i64 {first}, 1"))
    value = code.read(_row_at(code, source))
    inverted = _spread(code, source)
    return code.xor(value, inverted), _row_at(code, target), _spread(code, target), target


def _number(code: FunctionBuilder, index: str) -> str:
    """Return a word of the data."""
    word = code.let(f"getelementptr inbounds i32, ptr %data, i64 {index}")
    return code.let(f"zext i32 {code.let(f'load i32, ptr {word}, align 4')} to i64")


def _row_at(code: FunctionBuilder, place: str) -> str:
    """Return a pointer to a row, given its bytes from the first one on, with any lowest bit."""
    start = code.let(f"and i64 {place}, -{ROW_BYTES}")
    return code.let(f"getelementptr inbounds i8, ptr %rows, i64 {start}")


def _spread(code: FunctionBuilder, place: str) -> str:
    """Return a row that holds everywhere if the lowest bit of a number does: read, since that is cheapest."""
    bit = code.let(f"and i64 {place}, 1")
    return code.broadcast(code.word("@masks", bit))


def _loop(
    code: FunctionBuilder, state: Sequence[tuple[str, str]], body: Callable[[str, list[str]], list[str]]
) -> None:
    """Write a loop over the entries; ``state``: type and first value of what is handed on."""
    code.jump("loop")
    code.label("loop")
    names = [f"%state{number}" for number in range(len(state))]
    code.line("%index = phi i64 [ %from, %entry ], [ %next.index, %last ]")
    for name, (kind, first) in zip(names, state, strict=True):
        code.line(f"{name} = phi {kind} [ {first}, %entry ], [ {name}.next, %last ]")
    results = body("%index", names)
    code.jump("last")
    code.label("last")
    for name, (kind, _), result in zip(names, state, results, strict=True):
        code.line(f"{name}.next = select i1 true, {kind} {result}, {kind} {result}")
    code.line("%next.index = add nuw i64 %index, 1")
    code.branch(code.let("icmp ult i64 %next.index, %until"), "loop", "done")
    code.label("done")


_ROW = "<8 x i64>"


def _run() -> str:
    """Evaluate gates once.

    ::

        value = ones
        for each entry (source, target):
            value &= row[source] ^ inverted
            row[target] = value
            value |= last  # ones behind the last input of a gate
    """
    code = FunctionBuilder("run", parameters=_PARAMETERS)

    def body(index: str, state: list[str]) -> list[str]:
        value, target, last, _ = _entry(code, index)
        value = code.and_(state[0], value)
        code.write(target, value)
        return [code.or_(value, last)]

    _loop(code, [(_ROW, ONES)], body)
    return code.text()


def _run_cycle() -> str:
    """One round over a cycle; returns whether a gate changed. A gate is written once, whole."""
    code = FunctionBuilder("run_cycle", "i1", _PARAMETERS)

    def body(index: str, state: list[str]) -> list[str]:
        value, target, last, number = _entry(code, index)
        value = code.and_(state[0], value)
        old = code.read(target)
        changed = code.or_(state[1], code.and_(last, code.xor(old, value)))
        with code.when(code.let(f"trunc i64 {number} to i1")):
            code.write(target, value)
        return [code.or_(value, last), changed]

    _loop(code, [(_ROW, ONES), (_ROW, ZERO)], body)
    return code.text(f"ret i1 {code.any_lane('%state1.next')}")


def _set() -> str:
    """Set fluents; the lowest bit of the second number is the initial value.

    ::

        for each entry (source, target):
            value = go ? row[source] ^ inverted : row[target]
            row[target] = restart ? initial : value
    """
    code = FunctionBuilder("set", parameters=_PARAMETERS)
    go, restart = code.load(GO), code.load(RESTART)

    def body(index: str, _state: list[str]) -> list[str]:
        value, target, initial, _number = _entry(code, index)
        value = code.mux(go, value, code.read(target))
        code.write(target, code.mux(restart, initial, value))
        return []

    _loop(code, [], body)
    return code.text()
