"""Where the values of straight-line code live: the function that computes them, the row that holds them.

Gates in order are cut into segments, each to become a function. A value that crosses from one segment to
another has a live range, and a row for that time, by linear scan (Poletto and Sarkar, "Linear Scan Register
Allocation", 1999). A fluent is set as soon as its new value is there and nobody reads the old one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.network.kernels.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.schedule import Schedule, Unit
    from anygame.network.network import Network

__all__ = ["Allocation", "LiveRange", "Segment"]


@dataclass
class Segment:
    """The gates of one function. Segments of one cycle share their ``cycle``, its range of positions."""

    gates: list[int]
    position: int
    cycle: range | None = None


@dataclass
class LiveRange:
    """From where to where a value needs a row."""

    row: int = -1
    first: int = -1
    last: int = -1
    feedback: bool = False


class Allocation:
    """The segments of a network, and the rows of the values that cross between them.

    A segment has an even position; fluents may also be set at the odd one behind it.

    Args:
        network: the game.
        order: in which its gates are evaluated.
        size: gate inputs per segment, nearly.

    Attributes:
        layout: the rows of the inputs.
        segments: in order.
        choice: the position at which moves are chosen: segments before it are about the state alone.
        live: per node that crosses between segments its live range.
        inverted: nodes whose inverse is computed in their stead.
        copies: actions whose legality must be copied to where loops read it.
        settings: per position the fluents to be set there.
        end: the first row that is never used.
    """

    def __init__(self, network: Network, order: Schedule, size: int) -> None:
        self.layout = RowLayout(network)
        self._network = network
        self._base = network.first_gate
        self._starts: list[int] = network.starts.tolist()
        self._inputs: list[int] = network.inputs.tolist()
        self._next: list[int] = network.next.tolist()
        self.segments: list[Segment] = []
        self._cut(order.state, order.cyclic, size)
        self.choice = 2 * len(self.segments)
        self._cut(order.moves, order.cyclic, size, after=1)
        self._segment_of = {gate: segment for segment in self.segments for gate in segment.gates}
        self.live: dict[int, LiveRange] = {}
        self._last_use: dict[int, int] = {}
        self.inverted: set[int] = set()
        self.copies: list[int] = []
        self._find_uses()
        self._find_inverted()
        self._place_legal()
        self.settings = self._find_settings()
        self.end = self._allocate()

    def legal_bit(self, action: int) -> int:
        """Return the bit literal that says whether an action is legal."""
        row = self.layout.legal.get(action)
        return self.bit(int(self._network.legal[action])) if row is None else 2 * row

    def bit(self, literal: int) -> int:
        """Return the bit literal of a literal of the network."""
        node = literal >> 1
        row = self.live[node].row if node >= self._base else self.layout.input(node)
        return 2 * row + self.is_inverted(literal)

    # Segments.

    def _cut(self, units: Sequence[Unit], cyclic: frozenset[int], size: int, after: int = 0) -> None:
        """Cut gates into segments; ``after`` positions are left free for the choice of moves."""
        gates: list[int] = []
        inputs = 0

        def close(cycle: list[Segment] | None = None) -> None:
            nonlocal gates, inputs
            if gates:
                self.segments.append(Segment(gates, 2 * (len(self.segments) + after)))
                if cycle is not None:
                    cycle.append(self.segments[-1])
            gates, inputs = [], 0

        for unit in units:
            cycle: list[Segment] | None = None
            if unit.start in cyclic:
                close()
                cycle = []
            for gate in unit:
                gates.append(gate)
                inputs += self._starts[gate + 1] - self._starts[gate]
                if inputs >= size:
                    close(cycle)
            if cycle is not None:
                close(cycle)
                for segment in cycle:
                    segment.cycle = range(cycle[0].position, cycle[-1].position + 2, 2)
        close()

    # Live ranges.

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
            self._extend_to(literal, self.choice)

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

    def _place_legal(self) -> None:
        """Compute legal actions that loops read where those look for them; copy only those that cannot be."""
        for action, row in self.layout.legal.items():
            literal = int(self._network.legal[action])
            live = self.live.get(literal >> 1)
            if live is None or self.is_inverted(literal) or live.row >= 0:
                self.copies.append(action)
            else:
                live.row = row

    def _find_inverted(self) -> None:
        for segment in self.segments:
            for gate in segment.gates:
                if not segment.cycle and all(self.is_inverted(literal) for literal in self.literals(gate)):
                    self.inverted.add(self._base + gate)

    def is_inverted(self, literal: int) -> bool:
        """Return whether a literal is the inverse of the value that its node has in the code."""
        return bool(literal & 1) != (literal >> 1 in self.inverted)

    def _allocate(self) -> int:
        """Give rows to live ranges and return the first row that is never used."""
        end = self.layout.end
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        by_start: dict[int, list[LiveRange]] = {}
        for live in self.live.values():
            by_start.setdefault(live.first, []).append(live)
        for position in sorted({*by_start, *(live.last + 1 for live in self.live.values())}):
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
