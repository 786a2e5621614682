"""Gates split by phases: a conjunction of inputs that always hold in a phase is skipped in this phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.phases import cyclic_gates
from anygame.network.network import Cycle
from anygame.network.ragged import starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

    Numbers = NDArray[np.int64]


def split_by_phase(network: Network, phases: Phases) -> Network:
    """Return an equivalent network with more gates, of which fewer inputs are read in each phase.

    Inputs of a conjunction can be grouped in any way. For example, a gate of all moves that lead to a cell
    reads moves of all roles. The moves of one role become a separate gate, which is skipped in other phases.
    """
    return _Parts(network, _kinds(network, phases)).network()


class _Parts:
    """A network whose gates are split.

    Args:
        network: the game.
        kinds: int64 [inputs]; several inputs of a gate with the same kind become a separate gate, unless they
            are all inputs of the gate, or the kind is 0, as in cycles.
    """

    def __init__(self, network: Network, kinds: Numbers) -> None:
        self._network = network
        self._base = network.first_gate
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
        # A part comes before its gate.
        apart = (kinds[firsts] != 0) & (sizes > 1) & several[owners[firsts]]
        made_before = np.cumsum(apart)
        number = np.arange(old.gates) + np.cumsum(np.bincount(owners[firsts[apart]], minlength=old.gates))
        part = owners[firsts] + made_before - 1
        position = self._base + number
        moved = self._moved(self._literals, position)
        # The new inputs are the old ones, moved to parts or not, and the parts themselves.
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
        # Parts of the first gate that depends on moves come before it, so they are not state gates.
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


def _kinds(network: Network, phases: Phases) -> Numbers:
    """Return per input the phases in which its gate is needed and the input always holds."""
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
