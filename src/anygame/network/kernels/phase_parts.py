"""Wide gates are taken apart by the phases in which their inputs matter.

A gate of all moves that lead to a cell reads those of all roles. The inputs that always hold in some phase,
so that they do not matter then, become a gate of their own, which is left out in that phase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.gate_parts import take_apart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

    Numbers = NDArray[np.int64]


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
    for cycle in network.cycles:
        kinds[network.starts[cycle.first] : network.starts[cycle.end]] = 0
    return kinds


def _array(masks: Mapping[int, int], count: int) -> Numbers:
    found = np.zeros(count, np.int64)
    found[list(masks)] = list(masks.values())
    return found
