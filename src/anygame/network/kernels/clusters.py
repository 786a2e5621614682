"""What shares gates is computed side by side, so that they are read again before they have left the cache.

Whether actions are legal is asked in the order of their names. In that order, conditions which several share
are far apart: the same move of another piece, or of the other role; and a gate like that which says whether
any move is left reads something of all of them. So actions that share gates are brought together; gates that
read very many are taken apart into some that read what is computed near each other; and what goes into them
is computed as soon as what it shares with the actions is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.clocks import cyclic_gates
from anygame.network.kernels.gate_parts import take_apart
from anygame.network.kernels.schedule import Order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network

    Numbers = NDArray[np.int64]

#: A gate with more inputs is wide.
_WIDE = 32
#: A gate with more readers brings nothing together: all is near to such gates, or nothing.
_MOST_READERS = 8
#: So many gates, in the order of computation, are near each other: their rows fit into the cache next to the
#: processor, with what else is read.
_NEAR = 200


def cluster(network: Network) -> tuple[Network, list[int]]:
    """Return the same network with wide gates in parts, and literals in the order to compute them in."""
    if not network.gates:
        return network, []
    actions = np.array(_Neighbours(network).in_order(), np.int64)
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
    for place, unit in enumerate(order.reach((2 * (network.first_gate + actions)).tolist())):
        places[unit.start : unit.stop] = place
    end = sorted(gate for unit in order.reach([network.terminal]) for gate in unit)
    for gate in end:  # what it reads has a lower number
        below = read[starts[gate] : starts[gate + 1]]
        places[gate] = places[below[below >= 0]].max(initial=-1)
    wide = np.zeros(network.gates, np.bool_)
    wide[end] = np.diff(starts)[end] > _WIDE
    return places, wide & ~cyclic_gates(network)


class _Neighbours:
    """The gates of legal actions, those that share gates with few others one after the other.

    Args:
        network: the game.
    """

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

    def in_order(self) -> Sequence[int]:
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
        """Return what shares gates with one that were not met before; that with the fewest readers last."""
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
