"""The order in which the gates are evaluated: what the state alone decides first, depth first."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

__all__ = ["Schedule", "Unit", "by_phase", "keep_apart", "schedule"]

#: So many units are sorted by phases. More would have to be kept longer, in more rows; with fewer, the
#: functions that they become would be small, and branches many.
_STRETCH = 500
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


def schedule(network: Network, phases: Phases) -> Schedule:
    """Order the gates of a network.

    Depth first from the outputs: what is computed is used soon, while it is in a register or near. But what
    is left out in the same phases stands together.
    """
    order = _Order(network)
    goals = (literal for values in network.goals for _, literal in values)
    state = by_phase(network, order.reach([*network.legal.tolist(), network.terminal, *goals]), phases.gates)
    moves = by_phase(network, order.reach(network.next.tolist()), phases.gates)
    return Schedule(tuple(state), tuple(moves), frozenset(cycle.first for cycle in network.cycles))


def by_phase(network: Network, units: Sequence[Unit], masks: Sequence[int]) -> list[Unit]:
    """Reorder units such that those which are needed in the same phases stand together.

    It is done in stretches, so that what is computed is still used soon.

    Args:
        network: the game.
        units: in order.
        masks: per gate the phases in which it is needed.
    """
    stretches = (units[start : start + _STRETCH] for start in range(0, len(units), _STRETCH))
    return [unit for stretch in stretches for unit in _in_runs(network, stretch, masks)]


def _in_runs(network: Network, units: Sequence[Unit], masks: Sequence[int]) -> list[Unit]:
    mask_of = [masks[unit.start] for unit in units]
    if len(set(mask_of)) < 2:
        return list(units)
    waiting, readers = _dependences(network, units)
    ready: dict[int, list[int]] = {mask: [] for mask in mask_of}
    for number, count in enumerate(waiting):
        if not count:
            heappush(ready[mask_of[number]], number)
    result: list[Unit] = []
    while len(result) < len(units):
        run = min((heap for heap in ready.values() if heap), key=lambda heap: heap[0])
        while run:
            number = heappop(run)
            result.append(units[number])
            for reader in readers[number]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heappush(ready[mask_of[reader]], reader)
    return result


def keep_apart(network: Network, units: Sequence[Unit], distance: int) -> list[Unit]:
    """Reorder units such that, where it can be, a gate is read only ``distance`` inputs after it was written.

    A processor reads ahead of writes, on the guess that they are to other addresses. One that has guessed
    wrong waits from then on, at that instruction, for all that is to be written; and a loop over gates has
    only one. Otherwise the order stays as it is.
    """
    starts = network.starts
    waiting, readers = _dependences(network, units)
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
            clock += int(starts[units[number].stop] - starts[units[number].start])
            resting.append((clock + distance, number))
    return result


def _dependences(network: Network, units: Sequence[Unit]) -> tuple[list[int], list[list[int]]]:
    """Return, per unit, on how many of the others it depends, and the numbers of those that read it."""
    starts = network.starts  # not as a list: there are hundreds of stretches
    unit_of = {gate: number for number, unit in enumerate(units) for gate in unit}
    waiting: list[int] = []
    readers: list[list[int]] = [[] for _ in units]
    for number, unit in enumerate(units):
        literals = network.inputs[starts[unit.start] : starts[unit.stop]].tolist()
        below = {unit_of.get((literal >> 1) - network.first_gate, number) for literal in literals} - {number}
        waiting.append(len(below))
        for other in below:
            readers[other].append(number)
    return waiting, readers


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
