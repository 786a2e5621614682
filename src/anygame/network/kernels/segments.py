"""Allocation of values in straight-line code: the function that computes a value, and the row that holds it.

The schedule is cut into segments, and each segment becomes a function. A value that several functions use has
a live range, and a row during this range. A fluent is set as soon as its new value is computed, and no later
gate reads its old value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.network.kernels.layout import linear_scan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.kernels.layout import RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.schedule import Schedule
    from anygame.network.network import Network


#: Number of gate inputs per function. With 500 inputs, functions run slightly faster, since fewer registers
#: are spilled, but compiling takes 25 % longer. Larger functions are no improvement.
FUNCTION_INPUTS = 2000


@dataclass
class Segment:
    """The gates of a function, all needed in the same phases; ``cycle`` has all positions of their cycle."""

    gates: list[int]
    position: int
    phases: int
    cycle: range | None = None


@dataclass
class LiveRange:
    """The first and the last position at which a value needs a row.

    ``feedback`` says whether a gate of the same cycle reads the value of the previous round.
    """

    row: int = -1
    first: int = -1
    last: int = -1
    feedback: bool = False


class Allocation:
    """The segments of a network, and the rows of the values that several segments use.

    The position of a segment is an even number. The next odd number is the position after the segment, at
    which fluents can be set, too.

    Attributes:
        goals: the first position of segments that only goals need, which are skipped while no game ends.
        choice: the position at which moves are chosen; earlier segments depend on the state alone.
        live: the live range of each node that several segments use.
        disjunctions: nodes whose inputs are all inverted, so that the code computes a disjunction.
        inverted: nodes of ``disjunctions`` whose rows hold the disjunction, which is the inverse of the node.
        settings: per position the fluents to set there.
        set_during: per fluent the phases in which it is set.
        known: per node the phases in which its row is read, but its segment is skipped since the node is
            constant.
        end: the first unused row.
    """

    def __init__(
        self, network: Network, order: Schedule, phases: Phases, layout: RowLayout, first_row: int
    ) -> None:
        self.layout = layout
        self.phases = phases
        self._network = network
        self._base = network.first_gate
        self._starts: list[int] = network.starts.tolist()
        self._inputs: list[int] = network.inputs.tolist()
        self._next: list[int] = network.next.tolist()
        self.segments: list[Segment] = []
        self._cut(order, order.state)
        self.goals = 2 * len(self.segments)
        self._cut(order, order.goals)
        self.choice = 2 * len(self.segments)
        self._cut(order, order.moves, after=1)
        self._segment_of = {gate: segment for segment in self.segments for gate in segment.gates}
        self.live: dict[int, LiveRange] = {}
        self.known: dict[int, int] = {}
        self.set_during: list[int] = list(phases.changes)
        self._last_use: dict[int, int] = {}
        self.disjunctions: set[int] = set()
        self.inverted: set[int] = set()
        self._find_uses()
        self._find_inverted()
        self.settings = self._find_settings()
        self.end = self._allocate(first_row)

    def bit(self, literal: int) -> int:
        """Return the bit literal of a literal of the network."""
        node = literal >> 1
        row = self.live[node].row if node >= self._base else self.layout.input(node)
        return 2 * row + self.is_inverted(literal)

    def _cut(self, order: Schedule, units: NDArray[np.int64], after: int = 0) -> None:
        gates: list[int] = []
        inputs = 0

        def close(cycle: list[Segment] | None = None) -> None:
            nonlocal gates, inputs
            if gates:
                during = self.phases.gates[gates[0]]
                self.segments.append(Segment(gates, 2 * (len(self.segments) + after), during))
                if cycle is not None:
                    cycle.append(self.segments[-1])
            gates, inputs = [], 0

        for unit, end in zip(units.tolist(), order.ends[units].tolist(), strict=True):
            cycle: list[Segment] | None = None
            if gates and self.phases.gates[gates[0]] != self.phases.gates[unit]:
                close()
            if order.is_cyclic[unit]:
                close()
                cycle = []
            for gate in range(unit, end):
                gates.append(gate)
                inputs += self._starts[gate + 1] - self._starts[gate]
                if inputs >= FUNCTION_INPUTS:
                    close(cycle)
            if cycle is not None:
                close(cycle)
                for segment in cycle:
                    segment.cycle = range(cycle[0].position, cycle[-1].position + 2, 2)
        close()

    def literals(self, gate: int) -> list[int]:
        """Return the input literals of a gate."""
        return self._inputs[self._starts[gate] : self._starts[gate + 1]]

    def _find_uses(self) -> None:
        for segment in self.segments:
            defined: set[int] = set()
            at = segment.cycle[-1] if segment.cycle else segment.position
            for gate in segment.gates:
                for literal in self.literals(gate):
                    node = literal >> 1
                    self._use(node, at)
                    self._read(node, segment.phases)
                    source = self._segment_of.get(node - self._base)
                    if source is None or (source is segment and node - self._base in defined):
                        continue
                    live = self._extend(node, at)
                    if source.cycle and source.cycle == segment.cycle and source.position >= segment.position:
                        live.feedback = True
                defined.add(gate)
        network = self._network
        goals = (literal for role in network.goals for _, literal in role)
        for literal in (network.terminal, *goals):
            self._extend_to(literal, self.choice)
            self._read(literal >> 1, self.phases.every)
        for action, literal in enumerate(network.legal.tolist()):
            self._extend_to(literal, self.choice)
            self._read(literal >> 1, self.layout.chosen[action])

    def _read(self, node: int, during: int) -> None:
        # Record the phases of ``during`` in which no segment writes the row of the node.
        if node >= self._base:
            written = self._segment_of[node - self._base].phases
        elif node >= self._network.first_action:
            written = self.layout.chosen[node - self._network.first_action]
        else:
            return
        left_out = during & ~written
        if left_out:
            self.known[node] = self.known.get(node, 0) | left_out

    def _use(self, node: int, position: int) -> None:
        self._last_use[node] = max(self._last_use.get(node, -1), position)

    def _extend_to(self, literal: int, position: int) -> None:
        node = literal >> 1
        self._use(node, position)
        if node >= self._base:
            self._extend(node, position)

    def _extend(self, node: int, position: int) -> LiveRange:
        live = self.live.get(node)
        if live is None:
            segment = self._segment_of[node - self._base]
            cycle = segment.cycle
            live = self.live[node] = LiveRange(
                first=cycle[0] if cycle else segment.position, last=cycle[-1] if cycle else segment.position
            )
        live.last = max(live.last, position)
        return live

    def _find_inverted(self) -> None:
        for segment in self.segments:
            for gate in segment.gates:
                if not segment.cycle and all(self.is_inverted(literal) for literal in self.literals(gate)):
                    self.disjunctions.add(self._base + gate)
                    if self._base + gate not in self.layout.answers:
                        self.inverted.add(self._base + gate)

    def is_inverted(self, literal: int) -> bool:
        """Return whether a literal is the inverse of the value that the code computes for its node."""
        return bool(literal & 1) != (literal >> 1 in self.inverted)

    def _allocate(self, first_row: int) -> int:
        for node, row in self.layout.answers.items():
            self.live[node].row = row
        waiting = [live for live in self.live.values() if live.row < 0]
        waiting.sort(key=lambda live: live.first)
        rows, end = linear_scan([(live.first, live.last) for live in waiting], first_row)
        for live, row in zip(waiting, rows, strict=True):
            live.row = row
        return end

    def _find_settings(self) -> dict[int, list[int]]:
        first = self.choice + 1
        last_segment = max((b.position for b in self.segments if b.position > first), default=0)
        at = {}
        for fluent, literal in enumerate(self._next):
            use = self._last_use.get(1 + fluent, -1)
            at[fluent] = max(first, use | 1)
            node = literal >> 1
            if node >= self._base:
                segment = self._segment_of[node - self._base]
                made = segment.cycle[-1] if segment.cycle else segment.position
                fits = not self.phases.changes[fluent] & ~segment.phases
                if made > first and not segment.cycle and use <= made and fits:
                    at[fluent] = made
                    self.set_during[fluent] = segment.phases
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
            if position & 1:
                self._read(self._next[fluent] >> 1, self.phases.changes[fluent])
                if self._next[fluent] >> 1 >= self._base:
                    self._extend(self._next[fluent] >> 1, position)
        assert all(position <= last_segment + 1 or position == first for position in setting)
        return setting
