"""The order of evaluation: depth first, with the gates that depend on the state alone before all other gates.

Of the inputs of a gate, the input with the most gates below it comes first, so that few values are live at a
time (Sethi and Ullman, "The Generation of Optimal Code for Arithmetic Expressions", 1970).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.kernels.phases import cyclic_gates
from anygame.network.network import gates_by_level, units_of
from anygame.network.ragged import distinct, places, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network
    from anygame.network.ragged import Numbers


#: Number of units that are sorted by phases together. With more units, values live longer and need more rows.
#: With fewer units, functions are smaller, and the code has more branches.
_STRETCH: Final = 500


@dataclass(frozen=True, eq=False)
class Schedule:
    """An order of units. A unit is a gate or a whole cycle, and is represented by its first gate.

    Attributes:
        state: the units that legal moves, the end and goals need.
        goals: the units that only goals need, if they are evaluated only when games end; else empty.
        moves: the units that only the next state needs.
        ends: int64 [gates]; for the first gate of a unit, the gate after the unit's last gate.
        is_cyclic: bool [gates]; whether a gate is in a cycle.
    """

    state: Numbers
    goals: Numbers
    moves: Numbers
    ends: Numbers
    is_cyclic: NDArray[np.bool_]

    def gates(self, units: Numbers) -> Numbers:
        """Return the gates of units, unit after unit."""
        return places(units, self.ends[units] - units)


def schedule(
    network: Network, phases: Phases, roots: Sequence[int] = (), late: int | None = None
) -> Schedule:
    """Order the gates of a network depth first from the outputs.

    Units that are needed in the same phases are often adjacent. ``roots`` are literals to compute first; see
    ``clusters``. Units that only goals need are evaluated separately if they have more than ``late`` inputs.
    """
    order = Order(network)
    state = order.reach([*roots, *network.legal.tolist(), network.terminal])
    of_goals = [literal for values in network.goals for _, literal in values]
    goals: list[int] = []
    if late is not None and len(network.inputs) > late:
        # Units that both goals and the next state need are evaluated in each step.
        needed = set(Order(network).reach(network.next.tolist())).difference(state)
        reached = Order(network).reach(of_goals)
        state += order.reach([2 * (network.first_gate + unit) for unit in reached if unit in needed])
        goals = order.reach(of_goals)
        if int((network.starts[ends_of(network)[goals]] - network.starts[goals]).sum()) <= late:
            state, goals = state + goals, []
    else:
        state += order.reach(of_goals)
    moves = order.reach(network.next.tolist())
    return Schedule(
        by_phase(network, np.array(state, np.int64), phases.gates),
        np.array(goals, np.int64),
        by_phase(network, np.array(moves, np.int64), phases.gates),
        ends_of(network),
        cyclic_gates(network),
    )


def ends_of(network: Network) -> Numbers:
    """Return per gate the next gate; for the first gate of a cycle, the gate after the cycle."""
    ends = np.arange(1, network.gates + 1)
    for cycle in network.cycles:
        ends[cycle.first] = cycle.end
    return ends


def by_phase(network: Network, units: Numbers, masks: Sequence[int]) -> Numbers:
    """Place units that are needed in the same phases next to each other, given the phases of all gates.

    The function sorts the units of each stretch separately, so that values do not live too long.
    """
    mask_of = np.array(masks, np.int64)[units].tolist()
    if len(set(mask_of)) < 2:
        return units
    order: list[int] = []
    unread, starts, readers = (column.tolist() for column in _dependences(network, units))
    for first in range(0, len(units), _STRETCH):
        pending = list(range(first, min(first + _STRETCH, len(units))))
        while pending:
            # No unit reads a later unit, so the first unit is ready.
            mask, postponed = mask_of[pending[0]], []
            for number in pending:
                if unread[number] or mask_of[number] != mask:
                    postponed.append(number)
                    continue
                order.append(number)
                for reader in readers[starts[number] : starts[number + 1]]:
                    unread[reader] -= 1
            pending = postponed
    return units[order]


def runs_of_shapes(network: Network, units: Numbers, shapes: Numbers, window: int) -> list[Numbers]:
    """Reorder units into runs: units of the same shape that do not read each other.

    The first unit without a run determines the shape of the next run. A unit with a negative shape is a run
    by itself. A unit moves forward by less than ``window`` places.
    """
    waiting, starts, readers = _dependences(network, units)
    lengths = np.diff(starts)
    order = np.argsort(shapes, kind="stable")
    kinds, begins = np.unique(shapes[order], return_index=True)
    unscheduled = dict(zip(kinds.tolist(), np.split(order, begins[1:]), strict=False))
    runs, first = [], 0
    while first < len(units):
        # No unit reads a later unit, so the first unit is ready.
        shape = int(shapes[first])
        members = unscheduled[shape][np.searchsorted(unscheduled[shape], first) :]
        near = members[: np.searchsorted(members, first + window if shape >= 0 else first + 1)]
        unscheduled[shape] = members
        run = near[waiting[near] == 0]
        runs.append(units[run])
        waiting[run] = -1
        np.subtract.at(waiting, readers[places(starts[run], lengths[run])], 1)
        first += int(np.argmin(waiting[first : first + window + 1] < 0))
    return runs


def _dependences(network: Network, units: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the dependences among units, which are numbered by their positions.

    The first array has the number of units that each unit reads, and a final 0. The third array lists the
    readers of all units. The second array has the index at which each unit's readers begin.
    """
    count, gate_starts, ends = len(units), network.starts.astype(np.int64), ends_of(network)
    sizes = ends[units] - units
    # The last entry is for all nodes that are not gates.
    unit_of = np.full(network.gates + 1, -1, np.int64)
    unit_of[places(units, sizes)] = np.repeat(np.arange(count), sizes)
    lengths = gate_starts[ends[units]] - gate_starts[units]
    readers = np.repeat(np.arange(count), lengths)
    read = (network.inputs[places(gate_starts[units], lengths)] >> 1).astype(np.int64) - network.first_gate
    below = unit_of[np.maximum(read, -1)]
    crosses = (below >= 0) & (below != readers)
    below, readers = np.divmod(distinct(below[crosses] * count + readers[crosses]), max(count, 1))
    return np.bincount(readers, minlength=count + 1), starts_of(np.bincount(below, minlength=count)), readers


#: Maximum value in ``_sizes``. A gate counts once for each path to it, so numbers can grow exponentially.
_MOST_BELOW = 1 << 40


def _sizes(network: Network, reader: NDArray[np.int64], read: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of gates below each gate, including the gate itself: int64 [gates].

    Gate ``reader[n]`` reads unit ``read[n]``, and ``reader`` is sorted.
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
    """Depth-first search for the units that literals need."""

    def __init__(self, network: Network) -> None:
        read = (network.inputs >> 1).astype(np.int64) - network.first_gate
        between = read >= 0
        self._base = network.first_gate
        self._starts: list[int] = starts_of(between.astype(np.int64))[network.starts].tolist()
        units = units_of(network)
        owners = np.repeat(np.arange(network.gates), np.diff(network.starts))[between]
        read = units[read[between]]
        order = np.lexsort((-_sizes(network, units[owners], read)[read], owners))
        #: The units that each gate reads; units with the most gates below come first.
        self._read: list[int] = read[order].tolist()
        self._units: list[int] = units.tolist()
        self._ends: list[int] = ends_of(network).tolist()
        self._seen = bytearray(network.gates)

    def reach(self, literals: Sequence[int]) -> list[int]:
        """Return the unvisited units that literals need, inputs first, and mark them as visited."""
        order: list[int] = []
        seen, starts, read, ends = self._seen, self._starts, self._read, self._ends
        stack: list[int] = []
        unvisited: list[Iterator[int]] = []
        for literal in literals:
            root = (literal >> 1) - self._base
            if root < 0 or seen[root := self._units[root]]:
                continue
            seen[root] = True
            stack.append(root)
            unvisited.append(iter(read[starts[root] : starts[ends[root]]]))
            while stack:
                for unit in unvisited[-1]:
                    if seen[unit]:
                        continue
                    seen[unit] = True
                    first, last = starts[unit], starts[ends[unit]]
                    if first == last:
                        order.append(unit)
                        continue
                    stack.append(unit)
                    unvisited.append(iter(read[first:last]))
                    break
                else:
                    unvisited.pop()
                    order.append(stack.pop())
        return order
