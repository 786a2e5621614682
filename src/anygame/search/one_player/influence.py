"""What influences what in a network.

A fluent matters if legal moves, the end or a goal depend on it, now or later (the cone of influence: Clarke,
Grumberg and Peled 1999, "Model checking", section 13.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class Influence:
    """Who reads what: an edge from each gate to its inputs, and from each fluent to what it becomes next.

    Attributes:
        network: the game.
        readers: int64 [edges]; nodes.
        read: int64 [edges]; what they read.
    """

    network: Network
    readers: NDArray[np.int64]
    read: NDArray[np.int64]

    @classmethod
    def of(cls, network: Network) -> Influence:
        """Return that of a network."""
        gates = network.first_gate + np.repeat(np.arange(network.gates), np.diff(network.starts))
        fluents = 1 + np.arange(network.fluents)
        readers = np.concatenate([gates, fluents]).astype(np.int64)
        read = np.concatenate([network.inputs >> 1, network.next >> 1]).astype(np.int64)
        return cls(network, readers, read)

    def outputs(self, chooser: int) -> NDArray[np.int64]:
        """Return the nodes of legal moves, the end and the goals of a role."""
        network = self.network
        goals = [literal >> 1 for _, literal in network.goals[chooser]]
        return np.concatenate([network.legal >> 1, [network.terminal >> 1], goals]).astype(np.int64)

    def sources_of(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which nodes some nodes depend on, now or later, themselves among them: bool [nodes]."""
        return _reached(nodes, self.readers, self.read, self.network.nodes)

    def affected_now(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which nodes depend on some nodes in the same state, themselves among them: bool [nodes]."""
        gates = self.readers >= self.network.first_gate
        return _reached(nodes, self.read[gates], self.readers[gates], self.network.nodes)

    def relevant_fluents(self, chooser: int) -> NDArray[np.bool_]:
        """Return which fluents matter: bool [fluents]."""
        return self.sources_of(self.outputs(chooser))[1 : self.network.first_action]


def _reached(
    starts: NDArray[np.int64], tails: NDArray[np.int64], heads: NDArray[np.int64], nodes: int
) -> NDArray[np.bool_]:
    """Return which nodes edges lead to from some nodes, breadth first: bool [nodes]."""
    order = np.argsort(tails, kind="stable")
    heads = heads[order]
    first = np.searchsorted(tails[order], np.arange(nodes + 1))
    reached = np.zeros(nodes, np.bool_)
    frontier = np.unique(starts)
    while len(frontier):
        reached[frontier] = True
        counts = first[frontier + 1] - first[frontier]
        begins = np.repeat(first[frontier] - np.cumsum(counts) + counts, counts)
        found = np.unique(heads[begins + np.arange(len(begins))])
        frontier = found[~reached[found]]
    return reached
