"""The propositional network as flat arrays: inputs, gates and outputs.

The network is a propositional automaton (Schkufza, Love and Genesereth, "Propositional Automata and Cell
Automata", 2008). Literals are numbered as in the AIGER format of and-inverter graphs (Biere,
http://fmv.jku.at/aiger/). In contrast to AIGER, a gate can have more than two inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.ragged import levels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.ragged import Numbers


#: The two literals of node 0, which never holds.
FALSE, TRUE = 0, 1


@dataclass(frozen=True, slots=True)
class Cycle:
    """A range of gates that depend on each other. They are evaluated repeatedly until no value changes."""

    first: int
    end: int


@dataclass(frozen=True, eq=False)
class Network:
    """A game as logic.

    Node 0 is the constant false. Then there is a node for each fluent, for each action (role after role) and
    for each gate. A *literal* is ``2 * node + inverted``. A gate is the conjunction of its input literals.
    Gate ``g`` is node ``first_gate + g``. Outside of cycles, a gate reads only nodes with lower numbers.

    Attributes:
        fluents: number of fluents.
        actions: number of actions of each role.
        starts: int32 [gates + 1]; the index in ``inputs`` at which the inputs of each gate begin.
        inputs: int32 literals, gate after gate. A gate has at least two inputs.
        state_gates: number of gates that depend on fluents alone. These gates have the lowest numbers. Either
            all gates of a cycle depend on fluents alone, or none.
        cycles: disjoint ranges of gates, in order.
        initially: bool [gates]; the value with which the evaluation of a gate in a cycle begins, so that the
            evaluation ends at the least fixed point. False for gates outside of cycles.
        initial: bool [fluents]; the initial state.
        legal: int32 literals [all actions], which depend on fluents alone.
        terminal: literal, which depends on fluents alone.
        goals: per role its goal values in ascending order, each with a literal that depends on fluents alone.
        next: int32 literals [fluents].
        percepts: number of percepts of each role; empty without percepts. Percepts are the last fluents, role
            after role, and belong to the joint move that led to the state. No gate reads them.
    """

    fluents: int
    actions: tuple[int, ...]
    starts: NDArray[np.int32]
    inputs: NDArray[np.int32]
    state_gates: int
    cycles: tuple[Cycle, ...]
    initially: NDArray[np.bool_]
    initial: NDArray[np.bool_]
    legal: NDArray[np.int32]
    terminal: int
    goals: tuple[tuple[tuple[int, int], ...], ...]
    next: NDArray[np.int32]
    percepts: tuple[int, ...] = ()

    @classmethod
    def example(cls) -> Network:
        """Return a small game for examples: the only role chooses a side of a coin, and the game ends.

        Nodes 1 and 2 are fluents, one for each side of the coin. Nodes 3 and 4 are the actions. Node 5, the
        gate, holds until the role has chosen a side. The goal is 0 for the first side, 100 for the second.
        """
        return cls(
            fluents=2,
            actions=(2,),
            starts=np.array([0, 2], np.int32),
            inputs=np.array([2 * 1 + 1, 2 * 2 + 1], np.int32),
            state_gates=1,
            cycles=(),
            initially=np.array([False]),
            initial=np.array([False, False]),
            legal=np.array([TRUE, TRUE], np.int32),
            terminal=2 * 5 + 1,
            goals=(((0, 2 * 1), (100, 2 * 2)),),
            next=np.array([2 * 3, 2 * 4], np.int32),
        )

    @property
    def facts(self) -> int:
        """Number of fluents that are not percepts."""
        return self.fluents - sum(self.percepts)

    @property
    def first_action(self) -> int:
        """The node of the first action of the first role."""
        return 1 + self.fluents

    @property
    def first_gate(self) -> int:
        """The node of the first gate."""
        return 1 + self.fluents + sum(self.actions)

    @property
    def gates(self) -> int:
        """Number of gates."""
        return len(self.starts) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes, including the constant and the inputs."""
        return self.first_gate + self.gates


def units_of(network: Network) -> Numbers:
    """Return per gate the first gate of its cycle, or the gate itself outside of cycles: int64 [gates]."""
    units = np.arange(network.gates)
    for cycle in network.cycles:
        units[cycle.first : cycle.end] = cycle.first
    return units


def gates_by_level(network: Network) -> list[Numbers]:
    """Return the gates of each level, beginning with gates that only read inputs.

    All gates of a cycle have the same level. Outside of cycles, a gate reads only gates of lower levels.

    >>> [level.tolist() for level in gates_by_level(Network.example())]
    [[0]]
    """
    units = units_of(network)
    reader = np.repeat(units, np.diff(network.starts))
    read = (network.inputs >> 1) - network.first_gate
    between = read >= 0
    reader, read = reader[between], units[read[between]]
    outside = reader != read
    reader, read = reader[outside], read[outside]
    level = levels_of(reader, read, network.gates)[units]
    order = np.argsort(level, kind="stable")
    return np.split(order, np.searchsorted(level[order], np.arange(1, level.max() + 1))) if len(level) else []
