"""Phases of a game, such as the turns of its roles, and the gates that each phase needs.

In most games roles take turns: some fluents, the *clock*, depend only on each other, and their values repeat
in a cycle. During the turn of a role, no move of another role is legal, and no gate that depends on such
moves is needed. So this module propagates constants through the network for each phase, and finds the gates
that each phase needs. If all lanes are in the same phase, the code skips gates that this phase does not need.
This is specialisation for run-time constants (Jones, Gomard and Sestoft, "Partial Evaluation and Automatic
Program Generation", 1993), but the code is the same for all phases.

Sets of phases are bit masks. An additional bit, ``whole``, represents lanes without a common phase, or in
unreachable states. For these lanes, the code computes all gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.groups import strong_components
from anygame.network.network import FALSE, TRUE, gates_by_level, units_of
from anygame.network.ragged import places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network


#: Maximum number of phases of a clock. More phases save little, and every playout waits for the first phase.
_MOST_PHASES: Final = 8


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of a game, and the gates, actions and fluents that each phase needs.

    Attributes:
        clock: the fluents that determine the phase.
        patterns: per phase the values of these fluents, from the initial state on; empty without a clock.
        gates: per gate the phases in which it is needed.
        actions: per action the phases in which it can be legal.
        changes: per fluent the phases in which its value can change.
        holds: the phases in which a node always holds; nodes without such phases are missing.
        fails: the phases in which a node never holds; nodes without such phases are missing.
    """

    clock: tuple[int, ...]
    patterns: tuple[tuple[bool, ...], ...]
    gates: list[int]
    actions: list[int]
    changes: list[int]
    holds: Mapping[int, int]
    fails: Mapping[int, int]

    @property
    def whole(self) -> int:
        """The bit that represents lanes without a common phase."""
        return 1 << len(self.patterns)

    @property
    def every(self) -> int:
        """The mask of all phases, including ``whole``."""
        return 2 * self.whole - 1

    def known_values(self, left_out: Mapping[int, int]) -> dict[tuple[int, bool], list[int]]:
        """Group constant nodes by phases and value, given the phases in which each node is not computed."""
        groups: dict[tuple[int, bool], list[int]] = {}
        for node, mask in left_out.items():
            holds = mask & self.holds.get(node, 0)
            for during, value in ((holds, True), (mask & ~holds, False)):
                if during:
                    groups.setdefault((during, value), []).append(node)
        return groups

    @classmethod
    def none(cls, network: Network) -> Phases:
        """Return the phases of a game without a clock, in which every gate is always needed."""
        return cls((), (), [1] * network.gates, [1] * sum(network.actions), [1] * network.fluents, {}, {})


def find_phases(network: Network) -> Phases:
    """Find the clock of a game, and the gates, actions and fluents that its phases need."""
    clock, patterns = _find_clock(network)
    if not patterns:
        return Phases.none(network)
    constants = _Constants(network, clock, patterns)
    whole = 1 << len(patterns)
    changes = [whole | mask for mask in constants.changes()]
    gates = [whole | mask for mask in constants.needed(changes)]
    actions = [whole | mask for mask in constants.possible()]
    holds, fails = (
        {node: mask for node, mask in enumerate(masks.tolist()) if mask}
        for masks in (constants.true, constants.false)
    )
    return Phases(clock, patterns, gates, actions, changes, holds, fails)


def _find_clock(network: Network) -> tuple[tuple[int, ...], tuple[tuple[bool, ...], ...]]:
    read = autonomous_fluents(network)
    clock: list[int] = []
    patterns: list[tuple[bool, ...]] = []
    for component in sorted(map(sorted, strong_components(read, lambda fluent: sorted(read[fluent])))):
        if not set().union(*(read[fluent] for fluent in component)) <= set(component):
            continue
        both = [*clock, *component]
        *values, again = run_alone(network, both, network.initial, _MOST_PHASES) or [()]
        if values and again == values[0] and len(values) > max(1, len(patterns)):
            clock, patterns = both, values
    return tuple(clock), tuple(patterns)


class _Constants:
    """Masks of the phases in which each node never holds (``false``) and always holds (``true``)."""

    def __init__(
        self, network: Network, clock: tuple[int, ...], patterns: tuple[tuple[bool, ...], ...]
    ) -> None:
        self._network = network
        self._all = (1 << len(patterns)) - 1
        self.false, self.true = np.zeros(network.nodes, np.int64), np.zeros(network.nodes, np.int64)
        self.false[0] = self._all
        for number, fluent in enumerate(clock):
            holds = sum(pattern[number] << phase for phase, pattern in enumerate(patterns))
            self.true[1 + fluent], self.false[1 + fluent] = holds, self._all ^ holds
        self._units = units_of(network)
        self._is_cyclic = cyclic_gates(network)
        self._levels = gates_by_level(network)
        self._propagate(0, network.state_gates)
        self._propagate_to_actions()
        self._propagate(network.state_gates, network.gates)

    def _propagate(self, first: int, end: int) -> None:
        starts, inputs, base = self._network.starts, self._network.inputs, self._network.first_gate
        for level in self._levels:
            gates = level[(level >= first) & (level < end)]
            gates = gates[~self._is_cyclic[gates]]
            if not len(gates):
                continue
            lengths = (starts[gates + 1] - starts[gates]).astype(np.int64)
            literals = inputs[places(starts[gates].astype(np.int64), lengths)]
            true, false = self.true[literals >> 1], self.false[literals >> 1]
            inverted = literals & 1 == 1
            begins = np.cumsum(lengths) - lengths
            never = np.bitwise_or.reduceat(np.where(inverted, true, false), begins)
            always = np.bitwise_and.reduceat(np.where(inverted, false, true), begins)
            self.false[base + gates], self.true[base + gates] = never, always

    def _propagate_to_actions(self) -> None:
        """Mark impossible actions as false, and the only possible action of a role as true, in each phase."""
        network = self._network
        possible = np.array(self.possible(), np.int64)
        first = 0
        for count in network.actions:
            of_role = possible[first : first + count]
            node = network.first_action + first
            self.false[node : node + count] = self._all ^ of_role
            for phase in range(self._all.bit_length()):
                actions = np.flatnonzero(of_role >> phase & 1)
                if len(actions) == 1:
                    self.true[node + actions[0]] |= 1 << phase
            first += count

    def possible(self) -> list[int]:
        literals = self._network.legal
        never = np.where(literals & 1, self.true[literals >> 1], self.false[literals >> 1])
        masks: list[int] = (self._all & ~never).tolist()
        return masks

    def changes(self) -> list[int]:
        constant = (self.true | self.false).tolist()
        return [
            sum(
                1 << phase
                for phase in range(self._all.bit_length() if literal != own else 0)
                if self._reduced(literal, 1 << phase, constant) != own
            )
            for own, literal in zip(
                range(2, 2 + 2 * self._network.fluents, 2), self._network.next.tolist(), strict=True
            )
        ]

    def _reduced(self, literal: int, phase: int, constant: list[int]) -> int:
        """Follow a literal in a phase through gates of which all inputs but one are constant."""
        while not constant[literal >> 1] & phase:
            gate = (literal >> 1) - self._network.first_gate
            if gate < 0 or self._is_cyclic[gate]:
                return literal
            inputs = inputs_of(self._network, literal >> 1)
            variable = [below for below in inputs if not constant[below >> 1] & phase]
            if len(variable) > 1:
                return literal
            literal = variable[0] ^ literal & 1
        return TRUE if bool(self.true[literal >> 1] & phase) != bool(literal & 1) else FALSE

    def needed(self, changes: list[int]) -> list[int]:
        network = self._network
        starts, base = network.starts, network.first_gate
        needed_in = np.zeros(network.nodes, np.int64)
        goals = [literal for values in network.goals for _, literal in values]
        needed_in[[literal >> 1 for literal in (*network.legal.tolist(), network.terminal, *goals)]] = (
            self._all
        )
        np.bitwise_or.at(needed_in, network.next >> 1, self._all & np.array(changes, np.int64))
        unknown = ~(self.true | self.false)
        for gates in reversed(self._levels):
            mask = needed_in[base + gates] & unknown[base + gates]
            if self._is_cyclic[gates].any():
                of_units = np.zeros(network.gates, np.int64)
                np.bitwise_or.at(of_units, self._units[gates], mask)
                mask = of_units[self._units[gates]]
            needed_in[base + gates] = mask
            gates, mask = gates[mask != 0], mask[mask != 0]
            lengths = (starts[gates + 1] - starts[gates]).astype(np.int64)
            read = network.inputs[places(starts[gates].astype(np.int64), lengths)] >> 1
            np.bitwise_or.at(needed_in, read, np.repeat(mask, lengths))
        of_gates: list[int] = needed_in[base:].tolist()
        return of_gates


#: Maximum number of nodes on which the next value of a clock's fluent depends.
_CLOCK_GATES: Final = 64


def autonomous_fluents(network: Network) -> dict[int, set[int]]:
    """Return the fluents that depend on no move and only on each other, each with the fluents it reads."""
    read = {}
    is_cyclic = cyclic_gates(network)
    for fluent, literal in enumerate(network.next.tolist()):
        below = _fluents_below(network, literal >> 1, is_cyclic)
        if below is not None:
            read[fluent] = below
    while dependent := [fluent for fluent, below in read.items() if not below <= read.keys()]:
        for fluent in dependent:
            del read[fluent]
    return read


def cyclic_gates(network: Network) -> NDArray[np.bool_]:
    """Return which gates are in a cycle: bool [gates]."""
    is_cyclic = np.zeros(network.gates, np.bool_)
    for cycle in network.cycles:
        is_cyclic[cycle.first : cycle.end] = True
    return is_cyclic


def _fluents_below(network: Network, node: int, is_cyclic: NDArray[np.bool_]) -> set[int] | None:
    """Return the fluents below a node, or None if the node depends on moves, cycles or many nodes."""
    state = network.first_gate + network.state_gates
    seen, pending = {node}, [node]
    while pending:
        node = pending.pop()
        if network.first_action <= node < network.first_gate or node >= state:
            return None
        gate = node - network.first_gate
        if gate >= 0:
            if is_cyclic[gate]:
                return None
            below = {literal >> 1 for literal in inputs_of(network, node)} - seen
            seen |= below
            pending += below
            if len(seen) > _CLOCK_GATES:
                return None
    return {node - 1 for node in seen if 0 < node < network.first_action}


def run_alone(
    network: Network, fluents: Sequence[int], start: NDArray[np.bool_], most: int
) -> list[tuple[bool, ...]]:
    """Return the successive values of autonomous fluents, up to the first repeated values.

    Returns an empty list if there are more than ``most`` different values.
    """
    values = tuple(bool(start[fluent]) for fluent in fluents)
    seen: dict[tuple[bool, ...], None] = {}
    while values not in seen:
        seen[values] = None
        if len(seen) > most:
            return []
        value_of = {0: False, **{1 + fluent: value for fluent, value in zip(fluents, values, strict=True)}}
        values = tuple(_value(network, value_of, int(network.next[fluent])) for fluent in fluents)
    return [*seen, values]


def _value(network: Network, known: dict[int, bool], literal: int) -> bool:
    node = literal >> 1
    if node not in known:
        known[node] = all(_value(network, known, below) for below in inputs_of(network, node))
    return known[node] ^ bool(literal & 1)


def inputs_of(network: Network, node: int) -> list[int]:
    """Return the inputs of the gate of a node, as literals."""
    gate = node - network.first_gate
    literals: list[int] = network.inputs[network.starts[gate] : network.starts[gate + 1]].tolist()
    return literals
