"""Gates as data: one loop reads them, for networks that would take too long to compile.

An entry is two numbers: the row to read, and the row of the gate that reads it, both times 64 (the bytes of
a row). The lowest bit says of the first that it is inverted, and of the second that this was the last input
of the gate. So there is no branch to be guessed wrong. A gate writes its row after each of its inputs,
which therefore is never the row of an input.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.function import ONES, ROW_BYTES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import GateCode, copy_order
from anygame.network.kernels.rows import GO, RESTART, RowLayout
from anygame.network.kernels.schedule import keep_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.network.kernels.schedule import Schedule, Unit
    from anygame.network.network import Network

__all__ = ["loop_gates"]

#: Inputs between the writing and the reading of a row: each is about ten instructions, and processors have
#: some hundreds under way.
_DISTANCE = 100
_MASKS = "@masks = private unnamed_addr constant [2 x i64] [i64 0, i64 -1], align 16\n"
_PARAMETERS = ["i64 %from", "i64 %until"]


def loop_gates(network: Network, order: Schedule) -> GateCode:
    """Write the gates of a network as data for a loop."""
    return _Writer(network, order).write()


class _Writer:
    def __init__(self, network: Network, order: Schedule) -> None:
        self._network = network
        self._order = replace(
            order,
            state=tuple(keep_apart(network, order.state, _DISTANCE)),
            moves=tuple(keep_apart(network, order.moves, _DISTANCE)),
        )
        self._layout = RowLayout(network)
        self._base = network.first_gate
        self._starts: list[int] = network.starts.tolist()
        self._inputs: list[int] = network.inputs.tolist()
        self._next: list[int] = network.next.tolist()
        self._row: dict[int, int] = {}
        self._end = self._layout.end
        self._entries: list[int] = []
        self._copies: list[int] = []

    def write(self) -> GateCode:
        network, order = self._network, self._order
        self._allocate()
        state, moves = FunctionBuilder("evaluate_state"), FunctionBuilder("evaluate_moves")
        self._write_units(state, order.state)
        begin = self._here()
        for action in self._copies:
            target = self._layout.legal[action] * ROW_BYTES
            self._entries += (self._source(int(network.legal[action])), target | 1)
        self._call(state, "run", begin)
        self._write_units(moves, order.moves)
        self._write_settings(moves)
        goals = tuple(tuple((v, self._bit(literal)) for v, literal in role) for role in network.goals)
        return GateCode(
            code="".join((_MASKS, _run(), _run_cycle(), _set(), state.text(), moves.text())),
            data=np.array(self._entries or [0], np.int32),
            rows=self._end,
            legal=tuple(map(self._legal_bit, range(len(network.legal)))),
            terminal=self._bit(network.terminal),
            goals=goals,
            functions=3,
        )

    def _literals(self, gate: int) -> list[int]:
        return self._inputs[self._starts[gate] : self._starts[gate + 1]]

    def _allocate(self) -> None:
        """Give each gate a row, from its unit to its last use."""
        network, order = self._network, self._order
        units = [*order.state, *order.moves]
        choice = len(order.state)  # everything that is read there is needed up to the first unit behind it
        last: dict[int, int] = {}
        for time, unit in enumerate(units):
            for literal in self._inputs[self._starts[unit.start] : self._starts[unit.stop]]:
                last[literal >> 1] = time
        goals = (literal for role in network.goals for _, literal in role)
        for literal in (*network.legal.tolist(), network.terminal, *goals):
            last[literal >> 1] = max(last.get(literal >> 1, -1), choice)
        for literal in self._next:
            last[literal >> 1] = len(units)
        for action, row in self._layout.legal.items():
            literal = int(network.legal[action])
            if literal & 1 or literal >> 1 < self._base or literal >> 1 in self._row:
                self._copies.append(action)
            else:
                self._row[literal >> 1] = row
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for time, unit in enumerate(units):
            free += ending.pop(time - 1, ())
            for gate in unit:
                node = self._base + gate
                if node in self._row:
                    continue
                if free:
                    self._row[node] = free.pop()
                else:
                    self._row[node], self._end = self._end, self._end + 1
                ending.setdefault(max(last.get(node, time), time), []).append(self._row[node])

    def _bit(self, literal: int) -> int:
        node = literal >> 1
        return 2 * (self._row[node] if node >= self._base else self._layout.input(node)) + (literal & 1)

    def _legal_bit(self, action: int) -> int:
        row = self._layout.legal.get(action)
        return self._bit(int(self._network.legal[action])) if row is None else 2 * row

    def _source(self, literal: int) -> int:
        bit = self._bit(literal)
        return (bit >> 1) * ROW_BYTES | bit & 1

    # Gates.

    def _write_units(self, code: FunctionBuilder, units: Sequence[Unit]) -> None:
        begin = self._here()
        for unit in units:
            if unit.start in self._order.cyclic:
                self._call(code, "run", begin)
                self._write_cycle(code, unit)
                begin = self._here()
            else:
                self._add_gate(unit.start)
        self._call(code, "run", begin)

    def _write_cycle(self, code: FunctionBuilder, unit: Unit) -> None:
        begin = self._here()
        for gate in unit:
            self._add_gate(gate)
            code.store(self._row[self._base + gate], ONES if self._network.initially[gate] else ZERO)
        loop, done = code.new_label(), code.new_label()
        before = code.new_label()
        code.jump(before)
        code.label(before)
        code.jump(loop)
        code.label(loop)
        code.line(f"%round.{loop} = phi i64 [ 0, %{before} ], [ %next.{loop}, %{loop} ]")
        changed = code.let(f"call i1 @run_cycle(ptr %rows, ptr %data, i64 {begin}, i64 {self._here()})")
        code.line(f"%next.{loop} = add i64 %round.{loop}, 1")
        within = code.let(f"icmp ult i64 %next.{loop}, {len(unit) + 1}")
        code.branch(code.let(f"and i1 {changed}, {within}"), loop, done)
        code.label(done)

    def _add_gate(self, gate: int) -> None:
        target = self._row[self._base + gate] * ROW_BYTES
        for literal in self._literals(gate):
            self._entries += (self._source(literal), target)
        self._entries[-1] |= 1

    def _here(self) -> int:
        return len(self._entries) // 2

    def _call(self, code: FunctionBuilder, name: str, begin: int) -> None:
        if self._here() > begin:
            code.line(f"call void @{name}(ptr %rows, ptr %data, i64 {begin}, i64 {self._here()})")

    # Fluents.

    def _write_settings(self, code: FunctionBuilder) -> None:
        sources: dict[int, int | None] = {}
        for fluent, literal in enumerate(self._next):
            source = (literal >> 1) - 1
            sources[fluent] = source if 0 <= source < self._network.fluents else None
        rings = list(copy_order(sources))
        begin, copies = self._here(), {}
        for fluent in (fluent for ring in rings if len(ring) > 1 for fluent in ring):
            copies[fluent] = self._end * ROW_BYTES
            self._entries += (self._source(self._next[fluent]), copies[fluent] | 1)
            self._end += 1
        self._call(code, "run", begin)
        begin = self._here()
        for fluent in (fluent for ring in rings for fluent in ring):
            target = (self._layout.fluents + fluent) * ROW_BYTES | bool(self._network.initial[fluent])
            self._entries += (copies.get(fluent, self._source(self._next[fluent])), target)
        self._call(code, "set", begin)


def _entry(code: FunctionBuilder, index: str) -> tuple[str, str, str, str]:
    """Read an entry: what it reads, as a row, where it writes, and the two bits as words."""
    pair = code.let(f"getelementptr inbounds i32, ptr %data, i64 {code.let(f'shl i64 {index}, 1')}")
    source = code.let(f"zext i32 {code.let(f'load i32, ptr {pair}, align 4')} to i64")
    behind = code.let(f"getelementptr inbounds i8, ptr {pair}, i64 4")
    target = code.let(f"zext i32 {code.let(f'load i32, ptr {behind}, align 4')} to i64")
    value = code.read(_row(code, source))
    inverted = _spread(code, source)
    return code.xor(value, inverted), _row(code, target), _spread(code, target), target


def _row(code: FunctionBuilder, number: str) -> str:
    start = code.let(f"and i64 {number}, -{ROW_BYTES}")
    return code.let(f"getelementptr inbounds i8, ptr %rows, i64 {start}")


def _spread(code: FunctionBuilder, number: str) -> str:
    """Return a row that holds everywhere if the lowest bit of a number does: read, since that is cheapest."""
    bit = code.let(f"and i64 {number}, 1")
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
        whole, going = code.new_label(), code.new_label()
        code.branch(code.let(f"trunc i64 {number} to i1"), whole, going)
        code.label(whole)
        code.write(target, value)
        code.jump(going)
        code.label(going)
        return [code.or_(value, last), changed]

    _loop(code, [(_ROW, ONES), (_ROW, ZERO)], body)
    return code.text(f"ret i1 {code.any_lane('%state1.next')}")


def _set() -> str:
    """Set fluents; the lowest bit of the second number is the initial value."""
    code = FunctionBuilder("set", parameters=_PARAMETERS)
    go, restart = code.load(GO), code.load(RESTART)

    def body(index: str, _state: list[str]) -> list[str]:
        value, target, initial, _number = _entry(code, index)
        value = code.mux(go, value, code.read(target))
        code.write(target, code.mux(restart, initial, value))
        return []

    _loop(code, [], body)
    return code.text()
