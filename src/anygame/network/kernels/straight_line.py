"""Gates as straight-line code: one or two vector instructions each, with values in registers.

Functions have a limited size, so that compile time is linear in the size of the network. ``segments``
allocates rows for values that several functions use.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from operator import or_
from typing import TYPE_CHECKING, TypeVar

from anygame.network.kernels import gate_code, segments
from anygame.network.kernels import layout as layouts
from anygame.network.kernels.function import ONES, ZERO, FunctionBuilder
from anygame.network.kernels.gate_code import NO_DATA, GateCode, Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from anygame.network.kernels.segments import Allocation, Segment
    from anygame.network.kernels.target import Target
    from anygame.network.network import Network

_Item = TypeVar("_Item")

#: Number of gates per basic block. With all gates in a single block, compiling takes 50 % longer and the code
#: is slower, because LLVM tries to keep all values in registers.
BLOCK_GATES = 100
#: Number of fluents per function that only sets fluents. With about four instructions per fluent, these
#: functions are as large as functions of gates.
FUNCTION_FLUENTS = 500


def sizes() -> tuple[int, ...]:
    """Return the constants on which straight-line code depends."""
    return segments.FUNCTION_INPUTS, BLOCK_GATES, FUNCTION_FLUENTS, layouts.MOST_UNROLLED, layouts.GROUP


@dataclass(frozen=True)
class _Call:
    """A call of a function. ``condition`` is the method of ``Presence`` that makes the call conditional."""

    name: str
    phases: int
    condition: Callable[[Presence, int], AbstractContextManager[None]] = Presence.during


class StraightWriter:
    """Writes the gates of a network as straight-line code."""

    def __init__(self, network: Network, allocation: Allocation, target: Target) -> None:
        self._network = network
        self._target = target
        self._rows = allocation
        self._base = network.first_gate
        self._next: list[int] = network.next.tolist()
        self._code: list[str] = []
        self._written = 0
        self._factors = allocation.layout.factors
        #: Number of actions per group, by the row of the group.
        self._sizes = Counter(group for group, _ in self._factors.values())

    def write(self) -> GateCode:
        """Return the functions that evaluate the gates."""
        placed = self._rows
        calls: dict[bool, list[_Call]] = {False: [], True: []}
        goals: list[_Call] = []
        for segment in placed.segments:
            moves, behind = segment.position > placed.choice, segment.position + 1
            if placed.goals <= segment.position < placed.choice:
                goals += self._write_segment(segment, ())
                continue
            calls[moves] += self._write_known(f"known{segment.position}", segment.gates)
            calls[moves] += self._write_segment(segment, placed.settings.get(segment.position, ()))
            calls[moves] += self._write_settings(behind, placed.settings.get(behind, ()))
        calls[False] += self._write_copies()
        first = placed.choice + 1
        calls[True][:0] = self._write_settings(first, placed.settings.get(first, ()))
        actions = range(self._network.first_action - self._base, 0)
        calls[True][:0] = self._write_known("unchosen", actions)
        calls[True] += self._write_restarts()
        self._write_driver("evaluate_options" if goals else "evaluate_state", calls[False])
        if goals:
            self._write_driver("evaluate_goals", goals)
            self._code.append(gate_code.state_function(self._target))
        self._write_driver("evaluate_factors" if self._factors else "evaluate_moves", calls[True])
        return GateCode(code="".join(self._code), data=NO_DATA, end=placed.end, factors=bool(self._factors))

    def _write_driver(self, name: str, calls: Sequence[_Call]) -> None:
        code = FunctionBuilder(name, self._target)
        presence = Presence(code, self._rows.phases)
        for call in calls:
            with call.condition(presence, call.phases):
                code.line(f"call void @{call.name}(ptr %rows, ptr %data)")
        self._code.append(code.text())

    def _write_known(self, name: str, gates: Iterable[int]) -> list[_Call]:
        """Write functions that store the constants of gates in the phases in which the gates are skipped."""
        rows = self._rows
        left_out = {self._base + gate: rows.known.get(self._base + gate, 0) for gate in gates}
        calls: list[_Call] = []
        for (mask, holds), nodes in rows.phases.known_values(left_out).items():
            values: dict[tuple[int, bool], None] = {}
            for node in nodes:
                # The constant of an action with factors goes to the row of the action's group.
                factors = self._factors.get(node - self._network.first_action)
                row = factors[0] if factors else rows.bit(2 * node) >> 1
                values[row, holds != (node in rows.inverted)] = None
            call = _Call(f"{name}_{len(calls)}_", mask, Presence.only_during)
            calls += self._write_each(
                call, list(values), lambda code, item: code.store(item[0], ONES if item[1] else ZERO)
            )
        return calls

    def _write_each(
        self, call: _Call, items: Sequence[_Item], write: Callable[[FunctionBuilder, _Item], None]
    ) -> list[_Call]:
        """Write functions of limited size that apply ``write`` to each item; return their calls."""
        calls = []
        for start in range(0, len(items), FUNCTION_FLUENTS):
            name = f"{call.name}{start}"
            code = FunctionBuilder(name, self._target)
            for item in items[start : start + FUNCTION_FLUENTS]:
                write(code, item)
            self._code.append(code.text())
            calls.append(replace(call, name=name))
        return calls

    def _write_restarts(self) -> list[_Call]:
        rows, by_phases = self._rows, dict[int, list[int]]()
        for fluent, mask in enumerate(rows.set_during):
            by_phases.setdefault(rows.phases.every & ~mask, []).append(fluent)

        def restart(code: FunctionBuilder, fluent: int) -> None:
            row = rows.layout.fluents + fluent
            gate_code.restart_fluent(code, row, code.load(row), bool(self._network.initial[fluent]))

        calls = []
        for left_out, fluents in by_phases.items():
            if left_out:
                call = _Call(f"restart{left_out}_", left_out, Presence.restarting_during)
                calls += self._write_each(call, fluents, restart)
        return calls

    def _write_segment(self, segment: Segment, setting: Iterable[int]) -> list[_Call]:
        name = f"gates{self._written}"
        self._written += 1
        code = FunctionBuilder(name, self._target, "i1" if segment.cycle else "void")
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
            gate_code.set_fluent(
                code, self._rows.layout.fluents + fluent, value, bool(self._network.initial[fluent])
            )
        if not segment.cycle:
            self._code.append(code.text())
            return [_Call(name, segment.phases)]
        changed = code.any(changes)
        self._code.append(code.text(f"ret i1 {'false' if changed == ZERO else code.any_lane(changed)}"))
        return self._write_cycle(segment) if segment.position == segment.cycle[-1] else []

    def _gate(self, code: FunctionBuilder, values: dict[int, str], node: int) -> str:
        literals = self._rows.literals(node - self._base)
        if node in self._rows.disjunctions:
            some = code.any(self._terms(code, values, [literal ^ 1 for literal in literals]))
            return some if node in self._rows.inverted else code.not_(some)
        refused = [literal ^ 1 for literal in literals if literal & 1 and self._factors_of(literal)]
        if len(refused) < 2:
            return code.all(self._value(code, values, literal) for literal in literals)
        others = [literal for literal in literals if not (literal & 1 and self._factors_of(literal))]
        none = code.not_(code.any(self._terms(code, values, refused)))
        return code.all([*(self._value(code, values, literal) for literal in others), none])

    def _terms(self, code: FunctionBuilder, values: dict[int, str], literals: Sequence[int]) -> list[str]:
        """Return the terms of a disjunction of literals; all actions of a group are one term."""
        terms: list[str] = []
        groups: dict[int, set[int]] = {}
        for literal in literals:
            factors = self._factors_of(literal)
            if factors and not literal & 1:
                groups.setdefault(factors[0], set()).add(factors[1])
            else:
                terms.append(self._value(code, values, literal))
        for group, members in groups.items():
            some = ONES if len(members) == self._sizes[group] else code.any(map(code.load, sorted(members)))
            terms.append(code.and_(code.load(group), some))
        return terms

    def _factors_of(self, literal: int) -> tuple[int, int] | None:
        return self._factors.get((literal >> 1) - self._network.first_action)

    def _value(self, code: FunctionBuilder, values: dict[int, str], literal: int) -> str:
        node = literal >> 1
        factors = self._factors_of(literal)
        if factors:
            value = code.and_(code.load(factors[0]), code.load(factors[1]))
        elif node < self._base:
            value = code.load(self._rows.layout.input(node))
        else:
            value = values.get(node) or code.load(self._rows.live[node].row)
        return code.not_(value) if self._rows.is_inverted(literal) else value

    def _write_cycle(self, segment: Segment) -> list[_Call]:
        assert segment.cycle
        gates = [b for b in self._rows.segments if b.cycle == segment.cycle]
        name = f"cycle{self._written}"
        code = FunctionBuilder(name, self._target)
        for gate in (gate for b in gates for gate in b.gates):
            live = self._rows.live.get(self._base + gate)
            if live is not None:
                code.store(live.row, ONES if self._network.initially[gate] else ZERO)
        bound = sum(len(b.gates) for b in gates) + 1
        loop, done = code.begin_block(), code.new_label()
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
        return [_Call(name, segment.phases)]

    def _write_settings(self, position: int, fluents: Sequence[int]) -> list[_Call]:
        sources = {fluent: (self._next[fluent] >> 1) - 1 for fluent in fluents}
        during = self._rows.set_during

        def set_ring(code: FunctionBuilder, ring: list[int]) -> None:
            values = [self._value(code, {}, self._next[fluent]) for fluent in ring]
            for fluent, value in zip(ring, values, strict=True):
                initial = bool(self._network.initial[fluent])
                gate_code.set_fluent(code, self._rows.layout.fluents + fluent, value, initial)

        calls: list[_Call] = []
        rings = gate_code.copy_order(sources)
        for mask, run in groupby(rings, key=lambda ring: reduce(or_, [during[fluent] for fluent in ring])):
            calls += self._write_each(_Call(f"set{position}_{len(calls)}_", mask), list(run), set_ring)
        return calls

    def _write_copies(self) -> list[_Call]:
        layout = self._rows.layout

        def copy(code: FunctionBuilder, action: int) -> None:
            code.store(layout.legal[action], self._value(code, {}, int(self._network.legal[action])))

        calls: list[_Call] = []
        for mask, actions in layout.by_phases(layout.copies).items():
            calls += self._write_each(_Call(f"copy{mask}_", mask), actions, copy)
        return calls
