"""Gates with common inputs are computed together, so that these inputs are still in the cache.

By default, the legality of actions is computed in the order of their names. There, conditions that several
actions share are far apart: the same move of another piece, or of another role. A gate such as "some move is
left" reads something of every action. So this module groups actions that share gates, splits gates that read
very many others by the places of their inputs, and computes the inputs of these gates early.
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
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

    Numbers = NDArray[np.int64]

#: Number of inputs above which a gate is wide.
_WIDE = 32
#: Gates with more readers group nothing.
_MOST_READERS = 8
#: Number of consecutive gates whose rows fit into the first cache, together with the other rows read.
_NEAR = 200


def cluster(network: Network) -> tuple[Network, list[int]]:
    """Return the same network with wide gates split, and literals in the order in which to compute them."""
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
    found = np.concatenate([number[actions], parts, number[into]])
    found = found[np.argsort(new_places[found], kind="stable")]
    return parted, (2 * (parted.first_gate + found)).tolist()


def _places(network: Network, actions: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return per gate how many are computed before it, given the gates of actions, -1 where that is open.

    What says whether the game is over has its place as soon as what it shares with the actions is there.

    Returns:
        The places, and which of the gates that say whether the game is over are wide: bool [gates].
    """
    starts, read = network.starts, (network.inputs >> 1).astype(np.int64) - network.first_gate
    places = np.full(network.gates, -1, np.int64)
    order = Order(network)
    ends = ends_of(network).tolist()
    for place, unit in enumerate(order.reach((2 * (network.first_gate + actions)).tolist())):
        places[unit : ends[unit]] = place
    end = sorted(gate for unit in order.reach([network.terminal]) for gate in range(unit, ends[unit]))
    for gate in end:  # what it reads has a lower number
        below = read[starts[gate] : starts[gate + 1]]
        places[gate] = places[below[below >= 0]].max(initial=-1)
    wide = np.zeros(network.gates, np.bool_)
    wide[end] = np.diff(starts)[end] > _WIDE
    return places, wide & ~cyclic_gates(network)


class _Neighbours:
    """The gates of legal actions, those that share gates with few others one after the other."""

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
        #: In the order of their names.
        self._legal = dict.fromkeys(legal[legal >= 0].tolist())
        self._seen = bytearray(gates)

    def grouped(self) -> Sequence[int]:
        """Return the gates."""
        found: dict[int, None] = {}
        for first in self._legal:
            near = [first]
            while near:
                gate = near.pop()
                if gate not in found:
                    found[gate] = None
                    near += self._near(gate)
        return list(found)

    def _near(self, gate: int) -> list[int]:
        """Return the actions that share gates, not visited before, with one; the fewest readers last."""
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
        """Return gates of actions that read a gate, themselves or through a few others."""
        found: list[int] = []
        pending = [gate]
        steps = 0
        while pending and steps < _MOST_READERS:
            gate = pending.pop()
            readers = self._readers[self._first[gate] : self._first[gate + 1]]
            steps += len(readers)
            if len(readers) <= _MOST_READERS:
                for reader in readers:
                    (found if reader in self._legal else pending).append(reader)
        return found


def take_apart(network: Network, kinds: Numbers) -> tuple[Network, Numbers]:
    """Return the same network with more gates, and the new number of each gate.

    A conjunction is the same however it is grouped. A gate of all moves that lead to a cell, which reads
    those of all roles, is taken apart by the phases in which they matter: inputs that always hold in some
    phase become a gate of their own, which is left out in that phase.

    Args:
        network: the game.
        kinds: int64 [inputs]; several inputs of a gate that are of the same kind become a gate of their own,
            unless they are all of its inputs, or the kind is 0. In cycles it is: their gates stay together.
    """
    parts = _Parts(network, kinds)
    return parts.network(), parts.number


class _Parts:
    def __init__(self, network: Network, kinds: Numbers) -> None:
        self._network = network
        self._base = network.first_gate
        self.number = np.arange(network.gates)
        owners = np.repeat(np.arange(network.gates), np.diff(network.starts))
        order = np.lexsort((kinds, owners))  # stable: inputs stay in order
        self._owners, self._kinds_of, self._literals = owners[order], kinds[order], network.inputs[order]

    def network(self) -> Network:
        old, owners, kinds = self._network, self._owners, self._kinds_of
        begins = np.ones(len(owners), np.bool_)
        begins[1:] = (owners[1:] != owners[:-1]) | (kinds[1:] != kinds[:-1])
        group = np.cumsum(begins) - 1
        firsts = np.flatnonzero(begins)
        sizes = np.diff(np.append(firsts, len(owners)))
        several = np.bincount(owners[firsts], minlength=old.gates) > 1
        # A part stands before its gate.
        apart = (kinds[firsts] != 0) & (sizes > 1) & several[owners[firsts]]
        made_before = np.cumsum(apart)
        number = np.arange(old.gates) + np.cumsum(np.bincount(owners[firsts[apart]], minlength=old.gates))
        self.number = number
        part = owners[firsts] + made_before - 1
        position = self._base + number
        moved = self._moved(self._literals, position)
        # Inputs of parts, inputs that stay, and the parts as inputs.
        stays = ~apart[group]
        readers = np.concatenate(
            [np.where(stays, number[owners], part[group]), number[owners[firsts[apart]]]]
        )
        inputs = np.concatenate([moved, 2 * (self._base + part[apart])])
        places_in_gate = np.concatenate([np.arange(len(owners)), firsts[apart]])
        order = np.lexsort((places_in_gate, readers))
        lengths = np.bincount(readers, minlength=old.gates + int(apart.sum()))
        return self._rebuilt(lengths, inputs[order], position)

    def _moved(self, literals: NDArray[np.int32], position: Numbers) -> Numbers:
        gates = (literals >> 1) - self._base
        found: Numbers = (
            np.where(gates < 0, literals, 2 * position[np.maximum(gates, 0)] + (literals & 1))
            if len(position)
            else literals.astype(np.int64)
        )
        return found

    def _rebuilt(self, lengths: Numbers, inputs: Numbers, position: Numbers) -> Network:
        old = self._network
        number = (position - self._base).tolist()
        initially = np.zeros(len(lengths), np.bool_)
        initially[number] = old.initially
        # Parts of the first gate that depends on moves stand before it.
        state_gates = number[old.state_gates - 1] + 1 if old.state_gates else 0

        def moved(literal: int) -> int:
            return int(self._moved(np.array([literal], np.int32), position)[0])

        return replace(
            old,
            starts=starts_of(lengths).astype(np.int32),
            inputs=inputs.astype(np.int32),
            state_gates=state_gates,
            cycles=tuple(Cycle(number[cycle.first], number[cycle.end - 1] + 1) for cycle in old.cycles),
            initially=initially,
            legal=self._moved(old.legal, position).astype(np.int32),
            terminal=moved(old.terminal),
            goals=tuple(tuple((v, moved(literal)) for v, literal in role) for role in old.goals),
            next=self._moved(old.next, position).astype(np.int32),
        )


def part_by_phase(network: Network, phases: Phases) -> Network:
    """Return the same network with more gates, such that in each phase fewer inputs are read."""
    return take_apart(network, _kinds(network, phases))[0]


def _kinds(network: Network, phases: Phases) -> Numbers:
    """Return per input the phases in which its gate is needed, yet it does not matter."""
    owners = np.repeat(np.arange(network.gates), np.diff(network.starts))
    holds, fails = (_array(masks, network.nodes) for masks in (phases.holds, phases.fails))
    nodes = network.inputs >> 1
    kinds: Numbers = np.where(network.inputs & 1, fails[nodes], holds[nodes])
    kinds &= np.array(phases.gates, np.int64)[owners]
    # Inputs inside a cycle may come later.
    kinds[cyclic_gates(network)[owners]] = 0
    return kinds


def _array(masks: Mapping[int, int], count: int) -> Numbers:
    found = np.zeros(count, np.int64)
    found[list(masks)] = list(masks.values())
    return found
