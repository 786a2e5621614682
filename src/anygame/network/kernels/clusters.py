"""An order of gates in which gates with common inputs are close, so that these inputs are still in the cache.

By default, the code computes the legality of actions in the order of their names. In this order, actions with
common conditions are far apart, for example equal moves of two roles. A gate such as "some move is possible"
reads gates of every action. So this module also splits gates with very many inputs into parts, each with
inputs that are computed at about the same time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.phases import cyclic_gates
from anygame.network.kernels.schedule import Order, ends_of
from anygame.network.network import Cycle
from anygame.network.ragged import starts_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network
    from anygame.network.ragged import Numbers


#: A gate with more inputs than this is split.
_WIDE = 32
#: The readers of a gate are grouped only if the gate has at most this many readers.
_MOST_READERS = 8
#: Number of consecutive gates whose rows and inputs fit into the first-level cache.
_NEAR = 200


def cluster(network: Network) -> tuple[Network, list[int]]:
    """Split wide gates; return the network, and the literals to compute first, in computation order."""
    if not network.gates:
        return network, []
    actions = np.array(_Neighbours(network).grouped(), np.int64)
    places, wide = _places(network, actions)
    read = (network.inputs >> 1).astype(np.int64) - network.first_gate
    of_inputs = np.where(read >= 0, places[np.maximum(read, 0)], -1)
    is_wide = np.repeat(wide, np.diff(network.starts))
    into = np.unique(read[is_wide & (of_inputs >= 0)])
    parted, number = take_apart(network, np.where(is_wide, of_inputs // _NEAR + 1, 0))
    parts = np.setdiff1d(np.arange(parted.gates), number)
    new_places = np.full(parted.gates, -1, np.int64)
    new_places[number] = places
    for part in parts.tolist():
        inside = parted.inputs[parted.starts[part] : parted.starts[part + 1]] >> 1
        new_places[part] = new_places[inside - parted.first_gate].max()
    first = np.concatenate([number[actions], parts, number[into]])
    first = first[np.argsort(new_places[first], kind="stable")]
    return parted, (2 * (parted.first_gate + first)).tolist()


def _places(network: Network, actions: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return per gate the place in the order of computation, or -1, and whether to split the gate.

    A gate on which the end of the game depends gets the highest place among its inputs.
    """
    starts, read = network.starts, (network.inputs >> 1).astype(np.int64) - network.first_gate
    places = np.full(network.gates, -1, np.int64)
    order = Order(network)
    ends = ends_of(network).tolist()
    for place, unit in enumerate(order.reach((2 * (network.first_gate + actions)).tolist())):
        places[unit : ends[unit]] = place
    end = sorted(gate for unit in order.reach([network.terminal]) for gate in range(unit, ends[unit]))
    for gate in end:  # a gate reads gates with lower numbers
        below = read[starts[gate] : starts[gate + 1]]
        places[gate] = places[below[below >= 0]].max(initial=-1)
    wide = np.zeros(network.gates, np.bool_)
    wide[end] = np.diff(starts)[end] > _WIDE
    return places, wide & ~cyclic_gates(network)


class _Neighbours:
    """Sorts the gates of legal actions such that gates that share inputs are close."""

    def __init__(self, network: Network) -> None:
        base, gates = network.first_gate, network.gates
        owners = np.repeat(np.arange(gates), np.diff(network.starts))
        read = (network.inputs >> 1).astype(np.int64) - base
        between = read >= 0
        self._starts: list[int] = np.concatenate([[0], np.cumsum(between)])[network.starts].tolist()
        self._read: list[int] = read[between].tolist()
        order = np.argsort(read[between], kind="stable")
        self._readers: list[int] = owners[between][order].tolist()
        self._first: list[int] = np.searchsorted(read[between][order], np.arange(gates + 1)).tolist()
        legal = (network.legal >> 1).astype(np.int64) - base
        #: The gates of legal actions, in the order of the actions' names.
        self._legal = dict.fromkeys(legal[legal >= 0].tolist())
        self._seen = bytearray(gates)

    def grouped(self) -> list[int]:
        order: dict[int, None] = {}
        for first in self._legal:
            near = [first]
            while near:
                gate = near.pop()
                if gate not in order:
                    order[gate] = None
                    near += self._near(gate)
        return list(order)

    def _near(self, gate: int) -> list[int]:
        """Return the actions that share unvisited gates with a gate.

        Actions whose shared gates have the fewest readers come last.
        """
        shared = []
        pending = [gate]
        while pending:
            gate = pending.pop()
            if not self._seen[gate]:
                self._seen[gate] = True
                pending += self._read[self._starts[gate] : self._starts[gate + 1]]
                readers = self._first[gate + 1] - self._first[gate]
                if 1 < readers <= _MOST_READERS:
                    shared.append((readers, gate))
        shared.sort(reverse=True)
        return [near for _, gate in shared for near in reversed(self._above(gate))]

    def _above(self, gate: int) -> list[int]:
        actions: list[int] = []
        pending = [gate]
        steps = 0
        while pending and steps < _MOST_READERS:
            gate = pending.pop()
            readers = self._readers[self._first[gate] : self._first[gate + 1]]
            steps += len(readers)
            if len(readers) <= _MOST_READERS:
                for reader in readers:
                    (actions if reader in self._legal else pending).append(reader)
        return actions


def take_apart(network: Network, kinds: Numbers) -> tuple[Network, Numbers]:
    """Return the same network with split gates, and the new number of each gate.

    ``kinds``, int64 [inputs], has a number for each input. A gate's inputs with the same number become a
    separate gate, unless the number is 0, or the gate has no other inputs. All inputs of gates in cycles must
    have the number 0.
    """
    base, gates = network.first_gate, network.gates
    owners = np.repeat(np.arange(gates), np.diff(network.starts))
    order = np.lexsort((kinds, owners))  # a stable sort: equal kinds keep their order
    owners, kinds, literals = owners[order], kinds[order], network.inputs[order]
    begins = np.ones(len(owners), np.bool_)
    begins[1:] = (owners[1:] != owners[:-1]) | (kinds[1:] != kinds[:-1])
    group = np.cumsum(begins) - 1
    firsts = np.flatnonzero(begins)
    sizes = np.diff(np.append(firsts, len(owners)))
    several = np.bincount(owners[firsts], minlength=gates) > 1
    # Parts have lower numbers than the gate that reads them.
    apart = (kinds[firsts] != 0) & (sizes > 1) & several[owners[firsts]]
    number = np.arange(gates) + np.cumsum(np.bincount(owners[firsts[apart]], minlength=gates))
    part = owners[firsts] + np.cumsum(apart) - 1

    def moved(literals: ArrayLike) -> NDArray[np.int32]:
        old = np.asarray(literals, np.int64)
        of_gate = old >> 1 >= base
        new = old.copy()
        new[of_gate] = 2 * (base + number[(old[of_gate] >> 1) - base]) + (old[of_gate] & 1)
        return new.astype(np.int32)

    # A part is a new input of its gate.
    readers = np.where(apart[group], part[group], number[owners])
    readers = np.concatenate([readers, number[owners[firsts[apart]]]])
    inputs = np.concatenate([moved(literals), 2 * (base + part[apart])])
    places_in_gate = np.concatenate([np.arange(len(owners)), firsts[apart]])
    lengths = np.bincount(readers, minlength=gates + int(apart.sum()))
    initially = np.zeros(len(lengths), np.bool_)
    initially[number] = network.initially
    new_network = replace(
        network,
        starts=starts_of(lengths).astype(np.int32),
        inputs=inputs[np.lexsort((places_in_gate, readers))].astype(np.int32),
        # Parts of the first move gate follow the last state gate.
        state_gates=int(number[network.state_gates - 1]) + 1 if network.state_gates else 0,
        cycles=tuple(Cycle(int(number[c.first]), int(number[c.end - 1]) + 1) for c in network.cycles),
        initially=initially,
        legal=moved(network.legal),
        terminal=int(moved(network.terminal)),
        goals=tuple(tuple((value, int(moved(bit))) for value, bit in role) for role in network.goals),
        next=moved(network.next),
    )
    return new_network, number


def part_by_phase(network: Network, phases: Phases) -> Network:
    """Return the same network with split gates, so that the gates of a phase have fewer inputs."""
    owners = np.repeat(np.arange(network.gates), np.diff(network.starts))
    holds, fails = np.zeros((2, network.nodes), np.int64)
    holds[list(phases.holds)] = list(phases.holds.values())
    fails[list(phases.fails)] = list(phases.fails.values())
    nodes = network.inputs >> 1
    # The number of an input is a mask of the phases in which its gate is needed and the input is constant.
    kinds = np.where(network.inputs & 1, fails[nodes], holds[nodes])
    kinds &= np.array(phases.gates, np.int64)[owners]
    kinds[cyclic_gates(network)[owners]] = 0
    return take_apart(network, kinds)[0]
