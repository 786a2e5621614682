"""Wide gates are taken apart by the phases in which their inputs matter.

A gate of all moves that lead to a cell reads those of all roles. The inputs that always hold in some phase,
so that they do not matter then, become a gate of their own, which is left out in that phase.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.network import Cycle

if TYPE_CHECKING:
    from anygame.network.kernels.phases import Phases
    from anygame.network.network import Network

__all__ = ["part_by_phase"]


def part_by_phase(network: Network, phases: Phases) -> Network:
    """Return the same network with more gates, such that in each phase fewer inputs are read."""
    return _Parts(network, phases).network()


class _Parts:
    def __init__(self, network: Network, phases: Phases) -> None:
        self._network = network
        self._phases = phases
        self._base = network.first_gate
        self._position: list[int] = []
        self._gates: list[list[int]] = []

    def network(self) -> Network:
        old = self._network
        starts, inputs = old.starts.tolist(), old.inputs.tolist()
        cyclic = {gate for cycle in old.cycles for gate in range(cycle.first, cycle.end)}
        # Inputs inside a cycle may come later; all its gates stay side by side.
        ahead: dict[int, int] = {}
        state_gates = 0
        for gate in range(old.gates):
            if gate == old.state_gates:
                state_gates = len(self._gates)
            literals = inputs[starts[gate] : starts[gate + 1]]
            if gate in cyclic:
                ahead[len(self._gates)] = gate
                self._position.append(len(self._gates))
                self._gates.append(literals)
            else:
                self._add(gate, literals)
        for number, gate in ahead.items():
            self._gates[number] = list(map(self._moved, inputs[starts[gate] : starts[gate + 1]]))
        return self._rebuilt(state_gates if old.state_gates < old.gates else len(self._gates))

    def _add(self, gate: int, literals: list[int]) -> None:
        """Add a gate, and before it one for the inputs that do not matter in the same phases."""
        needed = self._phases.gates[gate]
        parts: dict[int, list[int]] = {}
        for literal in literals:
            known = self._phases.fails if literal & 1 else self._phases.holds
            parts.setdefault(known.get(literal >> 1, 0) & needed, []).append(self._moved(literal))
        whole = parts.pop(0, [])
        if parts and (whole or len(parts) > 1):
            for part in parts.values():
                if len(part) > 1:
                    self._gates.append(part)
                    part = [2 * (self._base + len(self._gates) - 1)]
                whole += part
        else:
            whole = whole or [literal for part in parts.values() for literal in part]
        self._position.append(len(self._gates))
        self._gates.append(whole)

    def _moved(self, literal: int) -> int:
        gate = (literal >> 1) - self._base
        return literal if gate < 0 else 2 * (self._base + self._position[gate]) + (literal & 1)

    def _rebuilt(self, state_gates: int) -> Network:
        old = self._network
        initially = np.zeros(len(self._gates), np.bool_)
        initially[self._position] = old.initially
        return replace(
            old,
            starts=np.cumsum([0, *map(len, self._gates)], dtype=np.int32),
            inputs=np.array([literal for gate in self._gates for literal in gate], np.int32),
            state_gates=state_gates,
            cycles=tuple(
                Cycle(self._position[cycle.first], self._position[cycle.end - 1] + 1) for cycle in old.cycles
            ),
            initially=initially,
            legal=np.array(list(map(self._moved, old.legal.tolist())), np.int32),
            terminal=self._moved(old.terminal),
            goals=tuple(tuple((v, self._moved(literal)) for v, literal in role) for role in old.goals),
            next=np.array(list(map(self._moved, old.next.tolist())), np.int32),
        )
