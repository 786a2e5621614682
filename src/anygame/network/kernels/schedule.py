"""The order in which the gates are evaluated: what the state alone decides first, depth first.

Of the inputs of a gate, the one with the most below it is computed first, so that few values wait for others
(Sethi and Ullman, "The Generation of Optimal Code for Arithmetic Expressions", 1970).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.ragged import distinct, places, starts_of
from anygame.network.network import gates_by_level, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

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
        goals: those of them that nothing but goals need, if they are evaluated where a game ends alone.
        moves: what the next state needs besides.
        cyclic: the first gates of the units that are cycles.
    """

    state: tuple[Unit, ...]
    goals: tuple[Unit, ...]
    moves: tuple[Unit, ...]
    cyclic: frozenset[int]


def schedule(
    network: Network, phases: Phases, roots: Sequence[int] = (), late: int | None = None
) -> Schedule:
    """Order the gates of a network.

    Depth first from the outputs: what is computed is used soon, while it is in a register or near. But what
    is left out in the same phases stands together.

    Args:
        network: the game.
        phases: of the game.
        roots: literals to be computed before others, in their order; see ``clusters``.
        late: if what goals alone need has more inputs, it is evaluated apart; None if it never is.
    """
    order = Order(network)
    state = order.reach([*roots, *network.legal.tolist(), network.terminal])
    of_goals = [literal for values in network.goals for _, literal in values]
    goals: list[Unit] = []
    if late is not None and len(network.inputs) > late:
        both, goals = _late_goals(network, order, of_goals, late)
        state += both
    else:
        state += order.reach(of_goals)
    state = by_phase(network, state, phases.gates)
    moves = by_phase(network, order.reach(network.next.tolist()), phases.gates)
    cyclic = frozenset(cycle.first for cycle in network.cycles)
    return Schedule(tuple(state), tuple(goals), tuple(moves), cyclic)


def _late_goals(
    network: Network, order: Order, of_goals: Sequence[int], late: int
) -> tuple[list[Unit], list[Unit]]:
    """Return what goals and others need, and what goals need alone: none if that is little.

    Args:
        network: the game.
        order: what says which moves are legal, and whether the game is over, has been reached.
        of_goals: literals.
        late: what is little, in inputs.
    """
    needed = Order(network).reach(network.next.tolist())
    shared = {unit.start for unit in needed}
    reached = order.copy().reach(of_goals)
    both = order.reach([2 * (network.first_gate + unit.start) for unit in reached if unit.start in shared])
    goals = order.reach(of_goals)
    inputs = sum(int(network.starts[unit.stop] - network.starts[unit.start]) for unit in goals)
    return (both, goals) if inputs > late else ([*both, *goals], [])


def by_phase(network: Network, units: Sequence[Unit], masks: Sequence[int]) -> list[Unit]:
    """Reorder units such that those which are needed in the same phases stand together.

    It is done in stretches, so that what is computed is still used soon.

    Args:
        network: the game.
        units: in order.
        masks: per gate the phases in which it is needed.
    """
    dependences = Dependences(network)
    stretches = (units[start : start + _STRETCH] for start in range(0, len(units), _STRETCH))
    return [unit for stretch in stretches for unit in _in_runs(dependences, stretch, masks)]


def _in_runs(dependences: Dependences, units: Sequence[Unit], masks: Sequence[int]) -> list[Unit]:
    mask_of = [masks[unit.start] for unit in units]
    if len(set(mask_of)) < 2:
        return list(units)
    waiting, readers = dependences.of(units)
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


def runs_of_shapes(
    dependences: Dependences, units: Sequence[Unit], shapes: Sequence[int], window: int
) -> list[list[Unit]]:
    """Reorder units into runs of one shape, none of which reads another one of its run.

    What has waited longest says which shape is next, so that what is computed is still used soon.

    Args:
        dependences: of the network.
        units: in order.
        shapes: of each unit; one of a negative shape is a run by itself.
        window: no unit comes before another one that was so many places before it, unless that waits for it.
    """
    waiting, readers = dependences.of(units)
    ready: dict[int, list[int]] = {shape: [] for shape in shapes}
    for number, count in enumerate(waiting):
        if not count:
            heappush(ready[shapes[number]], number)
    result = []
    for _ in units:
        heap = min(filter(None, ready.values()), key=itemgetter(0), default=None)
        if heap is None:
            break
        end = heap[0] + (window if shapes[heap[0]] >= 0 else 1)
        run = []
        while heap and heap[0] < end:
            run.append(heappop(heap))
        for number in run:
            for reader in readers[number]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heappush(ready[shapes[reader]], reader)
        result.append([units[number] for number in run])
    return result


class Dependences:
    """Which of some units read which others.

    Args:
        network: the game.
    """

    def __init__(self, network: Network) -> None:
        self._starts = network.starts.astype(np.int64)
        self._read = np.maximum((network.inputs >> 1).astype(np.int64) - network.first_gate, -1)
        #: The number of the unit that each gate is in, only while these units are looked at; the last entry
        #: stands for all that are no gates.
        self._unit_of = np.full(network.gates + 1, -1, np.int64)

    def sizes(self, units: Sequence[Unit]) -> list[int]:
        """Return how many inputs the gates of each unit have."""
        begins, ends = _bounds(units)
        found: list[int] = (self._starts[ends] - self._starts[begins]).tolist()
        return found

    def of(self, units: Sequence[Unit]) -> tuple[list[int], list[list[int]]]:
        """Return, per unit, on how many of the others it depends, and the numbers of those that read it."""
        begins, ends = _bounds(units)
        sizes = ends - begins
        gates = places(begins, sizes)
        self._unit_of[gates] = np.repeat(np.arange(len(units)), sizes)
        firsts = self._starts[begins]
        lengths = self._starts[ends] - firsts
        readers = np.repeat(np.arange(len(units)), lengths)
        below = self._unit_of[self._read[places(firsts, lengths)]]
        self._unit_of[gates] = -1
        others = (below >= 0) & (below != readers)
        pairs = distinct(below[others] * len(units) + readers[others])
        below, readers = pairs // len(units), pairs % len(units)
        waiting: list[int] = np.bincount(readers, minlength=len(units)).tolist()
        listed: list[int] = readers.tolist()
        ends = np.searchsorted(below, np.arange(len(units) + 1)).tolist()
        return waiting, [listed[low:high] for low, high in pairwise(ends)]


def _bounds(units: Sequence[Unit]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first gate of each unit, and the one behind its last."""
    begins = np.fromiter(map(attrgetter("start"), units), np.int64, len(units))
    return begins, np.fromiter(map(attrgetter("stop"), units), np.int64, len(units))


#: Counts of gates end here: greater ones, with gates counted once on each way to them, say nothing more.
_MOST_BELOW = 1 << 40


def _sizes(network: Network, reader: NDArray[np.int64], read: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many gates each gate is made of: int64 [gates].

    Args:
        network: the game.
        reader: who reads a gate, ascending; a cycle by the first of its gates, as below.
        read: the gate.
    """
    sizes = np.ones(network.gates, np.int64)
    starts = np.searchsorted(reader, np.arange(network.gates + 1))
    for gates in gates_by_level(network):
        lengths = starts[gates + 1] - starts[gates]
        below = sizes[read[places(starts[gates], lengths)]]
        np.add.at(sizes, np.repeat(gates, lengths), below)
        sizes[gates] = np.minimum(sizes[gates], _MOST_BELOW)
    return sizes


class Order:
    """Depth first: what is computed is used soon.

    Args:
        network: the game.
    """

    def __init__(self, network: Network) -> None:
        read = (network.inputs >> 1).astype(np.int64) - network.first_gate
        between = read >= 0
        self._base = network.first_gate
        self._starts: list[int] = starts_of(between.astype(np.int64))[network.starts].tolist()
        units = units_of(network)
        owners = np.repeat(np.arange(network.gates), np.diff(network.starts))[between]
        read = units[read[between]]
        order = np.lexsort((-_sizes(network, units[owners], read)[read], owners))
        #: The gates that each gate reads, a cycle by the first of its gates; those with most below first.
        self._read: list[int] = read[order].tolist()
        self._units: list[int] = units.tolist()
        self._ends = {cycle.first: cycle.end for cycle in network.cycles}
        self._seen = bytearray(network.gates)

    def copy(self) -> Order:
        """Return another one that has returned the same."""
        made = object.__new__(Order)
        made.__dict__.update(self.__dict__)
        made._seen = self._seen[:]
        return made

    def reach(self, literals: Sequence[int]) -> list[Unit]:
        """Return the units that these literals need and that were not returned before, inputs first."""
        found: list[int] = []
        seen, starts, read, ends = self._seen, self._starts, self._read, self._ends
        stack: list[int] = []
        rests: list[Iterator[int]] = []
        for literal in literals:
            root = (literal >> 1) - self._base
            if root < 0 or seen[root := self._units[root]]:
                continue
            seen[root] = True
            stack.append(root)
            rests.append(iter(read[starts[root] : starts[ends.get(root, root + 1)]]))
            while stack:
                for unit in rests[-1]:
                    if not seen[unit]:
                        seen[unit] = True
                        stack.append(unit)
                        rests.append(iter(read[starts[unit] : starts[ends.get(unit, unit + 1)]]))
                        break
                else:
                    rests.pop()
                    found.append(stack.pop())
        return [range(unit, ends.get(unit, unit + 1)) for unit in found]
