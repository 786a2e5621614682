"""Gates as straight-line code: one or two vector instructions each, values in registers.

The code is cut into functions of a size that compiles in a time linear in the network; ``segments`` says
which values go from one to another, and where. A gate whose inputs are all inverted is computed as a
disjunction, whose inverse it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import GateCode, copy_order, no_data, set_fluent
from anygame.network.kernels.segments import Allocation, Segment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.network.kernels.schedule import Schedule
    from anygame.network.network import Network

__all__ = ["BLOCK_GATES", "FUNCTION_FLUENTS", "FUNCTION_INPUTS", "straight_gates"]

#: Gate inputs per function. Smaller functions run a little faster, since less is spilled from registers, but
#: take longer to compile: a quarter longer at 500. Larger ones gain nothing.
FUNCTION_INPUTS = 2000
#: Gates per basic block. A new block makes the code generator forget what it has read, which otherwise it
#: tries to have in registers all along: compiling takes half as long again, and the code is slower.
BLOCK_GATES = 100
#: Fluents per function that does nothing but set them, at about four instructions each: as large as the
#: others.
FUNCTION_FLUENTS = 500


def straight_gates(network: Network, order: Schedule, function_inputs: int | None = None) -> GateCode:
    """Write the gates of a network as straight-line code."""
    return _Writer(network, Allocation(network, order, function_inputs or FUNCTION_INPUTS)).write()


class _Writer:
    def __init__(self, network: Network, rows: Allocation) -> None:
        self._network = network
        self._rows = rows
        self._base = network.first_gate
        self._next: list[int] = network.next.tolist()
        self._code: list[str] = []
        self._written = 0

    def write(self) -> GateCode:
        network, rows = self._network, self._rows
        calls: dict[bool, list[str]] = {False: [], True: []}
        for segment in rows.segments:
            moves, behind = segment.position > rows.choice, segment.position + 1
            calls[moves] += self._write_segment(segment, rows.settings.get(segment.position, ()))
            calls[moves] += self._write_settings(behind, rows.settings.get(behind, ()))
        calls[False] += self._write_copies()
        first = rows.choice + 1
        calls[True][:0] = self._write_settings(first, rows.settings.get(first, ()))
        for name, lines in (("evaluate_state", calls[False]), ("evaluate_moves", calls[True])):
            driver = FunctionBuilder(name)
            for line in lines:
                driver.line(line)
            self._code.append(driver.text())
        return GateCode(
            code="".join(self._code),
            data=no_data(),
            rows=rows.end,
            legal=tuple(map(rows.legal_bit, range(len(network.legal)))),
            terminal=rows.bit(network.terminal),
            goals=tuple(tuple((v, rows.bit(literal)) for v, literal in role) for role in network.goals),
            functions=self._written,
        )

    def _write_segment(self, segment: Segment, setting: Iterable[int]) -> list[str]:
        name = f"gates{self._written}"
        self._written += 1
        code = FunctionBuilder(name, "i1" if segment.cycle else "void")
        values: dict[int, str] = {}
        changes = []
        for number, gate in enumerate(segment.gates):
            if number % BLOCK_GATES == BLOCK_GATES - 1:
                code.begin_block()
            node = self._base + gate
            values[node] = self._gate(code, values, node)
            live = self._rows.live.get(node)
            if live is not None:
                if live.feedback:
                    changes.append(code.xor(values[node], code.load(live.row)))
                code.store(live.row, values[node])
        for fluent in sorted(setting):
            value = self._value(code, values, self._next[fluent])
            set_fluent(code, self._rows.layout.fluents + fluent, value, bool(self._network.initial[fluent]))
        if not segment.cycle:
            self._code.append(code.text())
            return [f"call void @{name}(ptr %rows, ptr %data)"]
        changed = code.any(changes)
        self._code.append(code.text(f"ret i1 {'false' if changed == ZERO else code.any_lane(changed)}"))
        return self._write_cycle(segment) if segment.position == segment.cycle[-1] else []

    def _gate(self, code: FunctionBuilder, values: dict[int, str], node: int) -> str:
        literals = self._rows.literals(node - self._base)
        if node in self._rows.inverted:
            return code.any(self._value(code, values, literal ^ 1) for literal in literals)
        return code.all(self._value(code, values, literal) for literal in literals)

    def _value(self, code: FunctionBuilder, values: dict[int, str], literal: int) -> str:
        node = literal >> 1
        if node < self._base:
            value = code.load(self._rows.layout.input(node))
        else:
            value = values.get(node) or code.load(self._rows.live[node].row)
        return code.not_(value) if self._rows.is_inverted(literal) else value

    def _write_cycle(self, segment: Segment) -> list[str]:
        """Write the loop over the segments of a cycle, which end with this one."""
        assert segment.cycle
        gates = [b for b in self._rows.segments if b.cycle == segment.cycle]
        name = f"cycle{self._written}"
        code = FunctionBuilder(name)
        for gate in (gate for b in gates for gate in b.gates):
            live = self._rows.live.get(self._base + gate)
            if live is not None:
                code.store(live.row, ONES if self._network.initially[gate] else ZERO)
        bound = sum(len(b.gates) for b in gates) + 1
        loop, done = code.new_label(), code.new_label()
        code.jump(loop)
        code.label(loop)
        code.line(f"%round = phi i64 [ 0, %entry ], [ %next.round, %{loop} ]")
        changed = "false"
        for number in range(len(gates)):
            call = f"call i1 @gates{self._written - len(gates) + number}(ptr %rows, ptr %data)"
            changed = code.let(f"or i1 {changed}, {code.let(call)}")
        code.line("%next.round = add i64 %round, 1")
        within = code.let(f"icmp ult i64 %next.round, {bound}")
        code.branch(code.let(f"and i1 {changed}, {within}"), loop, done)
        code.label(done)
        self._code.append(code.text())
        return [f"call void @{name}(ptr %rows, ptr %data)"]

    def _write_settings(self, position: int, fluents: Sequence[int]) -> list[str]:
        """Write functions that do nothing but set fluents."""
        sources: dict[int, int | None] = {}
        for fluent in fluents:
            source = (self._next[fluent] >> 1) - 1
            sources[fluent] = source if 0 <= source < self._network.fluents else None
        calls: list[str] = []
        for batch in _batches(copy_order(sources), FUNCTION_FLUENTS):
            name = f"set{position}_{len(calls)}"
            code = FunctionBuilder(name)
            for ring in batch:
                values = [self._value(code, {}, self._next[fluent]) for fluent in ring]
                for fluent, value in zip(ring, values, strict=True):
                    initial = bool(self._network.initial[fluent])
                    set_fluent(code, self._rows.layout.fluents + fluent, value, initial)
            self._code.append(code.text())
            calls.append(f"call void @{name}(ptr %rows, ptr %data)")
        return calls

    def _write_copies(self) -> list[str]:
        calls: list[str] = []
        for start in range(0, len(self._rows.copies), FUNCTION_FLUENTS):
            code = FunctionBuilder(f"copy{start}")
            for action in self._rows.copies[start : start + FUNCTION_FLUENTS]:
                value = self._value(code, {}, int(self._network.legal[action]))
                code.store(self._rows.layout.legal[action], value)
            self._code.append(code.text())
            calls.append(f"call void @copy{start}(ptr %rows, ptr %data)")
        return calls


def _batches(rings: Iterable[list[int]], size: int) -> Iterator[list[list[int]]]:
    batch: list[list[int]] = []
    for ring in rings:
        batch.append(ring)
        if sum(map(len, batch)) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
