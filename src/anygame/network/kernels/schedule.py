"""The order in which the gates are evaluated: what the state alone decides first, depth first."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.network.network import Network

__all__ = ["Schedule", "Unit", "keep_apart", "schedule"]

#: Gates that are evaluated together: one gate, or a whole cycle.
Unit = range


@dataclass(frozen=True)
class Schedule:
    """An order of computation.

    Attributes:
        state: units that legal moves, end and goals need.
        moves: what the next state needs besides.
        cyclic: the first gates of the units that are cycles.
    """

    state: tuple[Unit, ...]
    moves: tuple[Unit, ...]
    cyclic: frozenset[int]


def schedule(network: Network) -> Schedule:
    """Order the gates of a network.

    Depth first from the outputs: what is computed is used soon, while it is in a register or near.
    """
    order = _Order(network)
    goals = (literal for values in network.goals for _, literal in values)
    state = order.reach([*network.legal.tolist(), network.terminal, *goals])
    moves = order.reach(network.next.tolist())
    return Schedule(tuple(state), tuple(moves), frozenset(cycle.first for cycle in network.cycles))


def keep_apart(network: Network, units: Sequence[Unit], distance: int) -> list[Unit]:
    """Reorder units such that, where it can be, a gate is read only ``distance`` inputs after it was written.

    A processor reads ahead of writes, on the guess that they are to other addresses. One that has guessed
    wrong waits from then on, at that instruction, for all that is to be written; and a loop over gates has
    only one. Otherwise the order stays as it is.
    """
    starts = network.starts.tolist()
    unit_of = {gate: number for number, unit in enumerate(units) for gate in unit}
    waiting: list[int] = []
    readers: list[list[int]] = [[] for _ in units]
    for number, unit in enumerate(units):
        literals = network.inputs[starts[unit.start] : starts[unit.stop]].tolist()
        below = {unit_of.get((literal >> 1) - network.first_gate, number) for literal in literals} - {number}
        waiting.append(len(below))
        for other in below:
            readers[other].append(number)
    ready = [number for number, count in enumerate(waiting) if not count]
    resting: deque[tuple[int, int]] = deque()  # when it can be read, and what
    result = []
    clock = 0
    while ready or resting:
        while resting and (resting[0][0] <= clock or not ready):
            for number in readers[resting.popleft()[1]]:
                waiting[number] -= 1
                if not waiting[number]:
                    heappush(ready, number)
        if ready:
            number = heappop(ready)
            result.append(units[number])
            clock += starts[units[number].stop] - starts[units[number].start]
            resting.append((clock + distance, number))
    return result


class _Order:
    def __init__(self, network: Network) -> None:
        self._base = network.first_gate
        self._starts: list[int] = network.starts.tolist()
        self._inputs: list[int] = network.inputs.tolist()
        self._cycle_of: dict[int, Unit] = {}
        for cycle in network.cycles:
            gates = range(cycle.first, cycle.end)
            self._cycle_of.update(dict.fromkeys(gates, gates))
        self._seen = np.zeros(network.gates, np.bool_)

    def reach(self, literals: Sequence[int]) -> list[Unit]:
        """Return the units that these literals need and that were not returned before, inputs first."""
        found: list[Unit] = []
        stack: list[tuple[Unit, Iterator[Unit]]] = []
        for root in self._units(literals):
            if self._enter(root):
                stack.append((root, self._below(root)))
            while stack:
                unit, rest = stack[-1]
                below = next(rest, None)
                if below is None:
                    found.append(unit)
                    stack.pop()
                elif self._enter(below):
                    stack.append((below, self._below(below)))
        return found

    def _enter(self, unit: Unit) -> bool:
        if self._seen[unit.start]:
            return False
        self._seen[unit.start] = True
        return True

    def _below(self, unit: Unit) -> Iterator[Unit]:
        return self._units(self._inputs[self._starts[unit.start] : self._starts[unit.stop]])

    def _units(self, literals: Iterable[int]) -> Iterator[Unit]:
        for literal in literals:
            gate = (literal >> 1) - self._base
            if gate >= 0:
                yield self._cycle_of.get(gate) or range(gate, gate + 1)
