"""Gates as straight-line code: one or two vector instructions each, values in registers.

The code is cut into functions of a size that compiles in a time linear in the network. Values that cross
from one function to another get a row for their live range, by linear scan (Poletto and Sarkar, "Linear
Scan Register Allocation", 1999). A gate whose inputs are all inverted is computed as a disjunction, whose
inverse it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import GateCode, copy_order, no_data, set_fluent
from anygame.network.kernels.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.network.kernels.schedule import Schedule, Unit
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
    return _Writer(network, order, function_inputs or FUNCTION_INPUTS).write()


@dataclass
class _Segment:
    """The gates of one function. Segments of one cycle share their ``cycle``, its range of positions."""

    gates: list[int]
    position: int
    cycle: range | None = None


@dataclass
class _LiveRange:
    """From where to where a value needs a row."""

    row: int = -1
    first: int = -1
    last: int = -1
    feedback: bool = False


@dataclass
class _Plan:
    """Segments in order; a segment has an even position, fluents may be set at the odd one behind it."""

    segments: list[_Segment] = field(default_factory=list)
    choice: int = 0


class _Writer:
    def __init__(self, network: Network, order: Schedule, function_inputs: int) -> None:
        self._network = network
        self._layout = RowLayout(network)
        self._base = network.first_gate
        self._starts: list[int] = network.starts.tolist()
        self._inputs: list[int] = network.inputs.tolist()
        self._next: list[int] = network.next.tolist()
        self._size = function_inputs
        self._plan = self._segments(order)
        self._segment_of = {gate: segment for segment in self._plan.segments for gate in segment.gates}
        self._live: dict[int, _LiveRange] = {}
        self._last_use: dict[int, int] = {}
        self._inverted: set[int] = set()
        self._code: list[str] = []
        self._written = 0

    def write(self) -> GateCode:
        self._find_uses()
        self._find_inverted()
        self._place_legal()
        setting = self._find_settings()
        rows = self._allocate()
        calls: dict[bool, list[str]] = {False: [], True: []}
        for segment in self._plan.segments:
            moves = segment.position > self._plan.choice
            here = setting.get(segment.position, ())
            calls[moves] += self._write_segment(segment, here)
            calls[moves] += self._write_settings(segment.position + 1, setting.get(segment.position + 1, []))
        calls[False] += self._write_copies()
        last = self._plan.choice + 1
        calls[True][:0] = self._write_settings(last, setting.get(last, []))
        for name, lines in (("evaluate_state", calls[False]), ("evaluate_moves", calls[True])):
            driver = FunctionBuilder(name)
            for line in lines:
                driver.line(line)
            self._code.append(driver.text())
        network = self._network
        goals = tuple(tuple((v, self._bit(literal)) for v, literal in role) for role in network.goals)
        legal = tuple(map(self._legal_bit, range(len(network.legal))))
        return GateCode(
            "".join(self._code), no_data(), rows, legal, self._bit(network.terminal), goals, self._written
        )

    # Segments.

    def _segments(self, order: Schedule) -> _Plan:
        plan = _Plan()
        self._cut(plan, order.state, order.cyclic)
        plan.choice = 2 * len(plan.segments)
        self._cut(plan, order.moves, order.cyclic, after=1)
        return plan

    def _cut(self, plan: _Plan, units: Sequence[Unit], cyclic: frozenset[int], after: int = 0) -> None:
        """Cut gates into segments; ``after`` positions are left free for the choice of moves."""
        gates: list[int] = []
        size = 0

        def close(cycle: list[_Segment] | None = None) -> None:
            nonlocal gates, size
            if gates:
                plan.segments.append(_Segment(gates, 2 * (len(plan.segments) + after)))
                if cycle is not None:
                    cycle.append(plan.segments[-1])
            gates, size = [], 0

        for unit in units:
            cycle: list[_Segment] | None = None
            if unit.start in cyclic:
                close()
                cycle = []
            for gate in unit:
                gates.append(gate)
                size += self._starts[gate + 1] - self._starts[gate]
                if size >= self._size:
                    close(cycle)
            if cycle is not None:
                close(cycle)
                for segment in cycle:
                    segment.cycle = range(cycle[0].position, cycle[-1].position + 2, 2)
        close()

    # Live ranges.

    def _literals(self, gate: int) -> list[int]:
        return self._inputs[self._starts[gate] : self._starts[gate + 1]]

    def _find_uses(self) -> None:
        for segment in self._plan.segments:
            defined: set[int] = set()
            at = segment.cycle[-1] if segment.cycle else segment.position
            for gate in segment.gates:
                for literal in self._literals(gate):
                    node = literal >> 1
                    self._use(node, at)
                    source = self._segment_of.get(node - self._base)
                    if source is None or (source is segment and node - self._base in defined):
                        continue
                    live = self._extend(node, at)
                    if source.cycle and source.cycle == segment.cycle and source.position >= segment.position:
                        live.feedback = True
                defined.add(gate)
        network = self._network
        goals = (literal for role in network.goals for _, literal in role)
        for literal in (*network.legal.tolist(), network.terminal, *goals):
            self._extend_to(literal, self._plan.choice)

    def _use(self, node: int, position: int) -> None:
        self._last_use[node] = max(self._last_use.get(node, -1), position)

    def _extend_to(self, literal: int, position: int) -> None:
        node = literal >> 1
        self._use(node, position)
        if node >= self._base:
            self._extend(node, position)

    def _extend(self, node: int, position: int) -> _LiveRange:
        live = self._live.get(node)
        if live is None:
            segment = self._segment_of[node - self._base]
            cycle = segment.cycle
            live = self._live[node] = _LiveRange(
                first=cycle[0] if cycle else segment.position, last=cycle[-1] if cycle else segment.position
            )
        live.last = max(live.last, position)
        return live

    def _place_legal(self) -> None:
        """Compute legal actions that are read side by side in their place; copy only those that cannot be."""
        self._copies: list[int] = []
        for action, row in self._layout.legal.items():
            literal = int(self._network.legal[action])
            live = self._live.get(literal >> 1)
            if live is None or self._is_inverted(literal) or live.row >= 0:
                self._copies.append(action)
            else:
                live.row = row

    def _find_inverted(self) -> None:
        for segment in self._plan.segments:
            for gate in segment.gates:
                if not segment.cycle and all(self._is_inverted(literal) for literal in self._literals(gate)):
                    self._inverted.add(self._base + gate)

    def _is_inverted(self, literal: int) -> bool:
        return bool(literal & 1) != (literal >> 1 in self._inverted)

    def _allocate(self) -> int:
        """Give rows to live ranges and return the first row that is never used."""
        end = self._layout.end
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        by_start: dict[int, list[_LiveRange]] = {}
        for live in self._live.values():
            by_start.setdefault(live.first, []).append(live)
        for position in sorted({*by_start, *(live.last + 1 for live in self._live.values())}):
            for past in [p for p in ending if p < position]:
                free += ending.pop(past)
            for live in by_start.get(position, ()):
                if live.row >= 0:
                    continue
                if free:
                    live.row = free.pop()
                else:
                    live.row, end = end, end + 1
                ending.setdefault(live.last, []).append(live.row)
        return end

    # Fluents.

    def _find_settings(self) -> dict[int, list[int]]:
        """Return, by position, the fluents to be set there: as soon as nobody reads the old value."""
        first = self._plan.choice + 1
        last_segment = max((b.position for b in self._plan.segments if b.position > first), default=0)
        at = {}
        for fluent, literal in enumerate(self._next):
            use = self._last_use.get(1 + fluent, -1)
            at[fluent] = max(first, use | 1)
            node = literal >> 1
            if node >= self._base:
                segment = self._segment_of[node - self._base]
                made = segment.cycle[-1] if segment.cycle else segment.position
                if made > first and not segment.cycle and use <= made:
                    at[fluent] = made
                else:
                    at[fluent] = max(at[fluent], made | 1)
        pending = list(at)
        while pending:
            fluent = pending.pop()
            source = (self._next[fluent] >> 1) - 1
            if 0 <= source < self._network.fluents and source != fluent and at[source] < at[fluent] | 1:
                at[source] = at[fluent] | 1
                pending.append(source)
        setting: dict[int, list[int]] = {}
        for fluent, position in at.items():
            setting.setdefault(position, []).append(fluent)
            if self._next[fluent] >> 1 >= self._base and position & 1:
                self._extend(self._next[fluent] >> 1, position)
        assert all(position <= last_segment + 1 or position == first for position in setting)
        return setting

    # Text.

    def _write_segment(self, segment: _Segment, setting: Iterable[int]) -> list[str]:
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
            live = self._live.get(node)
            if live is not None:
                if live.feedback:
                    changes.append(code.xor(values[node], code.load(live.row)))
                code.store(live.row, values[node])
        for fluent in sorted(setting):
            value = self._value(code, values, self._next[fluent])
            set_fluent(code, self._layout.fluents + fluent, value, bool(self._network.initial[fluent]))
        if not segment.cycle:
            self._code.append(code.text())
            return [f"call void @{name}(ptr %rows, ptr %data)"]
        changed = code.any(changes)
        self._code.append(code.text(f"ret i1 {'false' if changed == ZERO else code.any_lane(changed)}"))
        return self._write_cycle(segment) if segment.position == segment.cycle[-1] else []

    def _gate(self, code: FunctionBuilder, values: dict[int, str], node: int) -> str:
        literals = self._literals(node - self._base)
        if node in self._inverted:
            return code.any(self._value(code, values, literal ^ 1) for literal in literals)
        return code.all(self._value(code, values, literal) for literal in literals)

    def _value(self, code: FunctionBuilder, values: dict[int, str], literal: int) -> str:
        node = literal >> 1
        if node < self._base:
            value = code.load(self._layout.input(node))
        else:
            value = values.get(node) or code.load(self._live[node].row)
        return code.not_(value) if self._is_inverted(literal) else value

    def _write_cycle(self, segment: _Segment) -> list[str]:
        """Write the loop over the segments of a cycle, which end with this one."""
        assert segment.cycle
        gates = [b for b in self._plan.segments if b.cycle == segment.cycle]
        name = f"cycle{self._written}"
        code = FunctionBuilder(name)
        for gate in (gate for b in gates for gate in b.gates):
            live = self._live.get(self._base + gate)
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
                    set_fluent(code, self._layout.fluents + fluent, value, initial)
            self._code.append(code.text())
            calls.append(f"call void @{name}(ptr %rows, ptr %data)")
        return calls

    def _write_copies(self) -> list[str]:
        calls: list[str] = []
        for start in range(0, len(self._copies), FUNCTION_FLUENTS):
            code = FunctionBuilder(f"copy{start}")
            for action in self._copies[start : start + FUNCTION_FLUENTS]:
                value = self._value(code, {}, int(self._network.legal[action]))
                code.store(self._layout.legal[action], value)
            self._code.append(code.text())
            calls.append(f"call void @copy{start}(ptr %rows, ptr %data)")
        return calls

    def _legal_bit(self, action: int) -> int:
        row = self._layout.legal.get(action)
        return self._bit(int(self._network.legal[action])) if row is None else 2 * row

    def _bit(self, literal: int) -> int:
        node = literal >> 1
        row = self._live[node].row if node >= self._base else self._layout.input(node)
        return 2 * row + self._is_inverted(literal)


def _batches(rings: Iterable[list[int]], size: int) -> Iterator[list[list[int]]]:
    batch: list[list[int]] = []
    for ring in rings:
        batch.append(ring)
        if sum(map(len, batch)) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
