"""The propositional network: inputs, gates in the order of computation, and outputs, as flat arrays.

A game as propositional logic that is evaluated step by step is Schkufza, Love and Genesereth's propositional
automaton ("Propositional Automata and Cell Automata", 2008). Literals are numbered as in the AIGER format of
and-inverter graphs (Biere, http://fmv.jku.at/aiger/); a gate here has any number of inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.ragged import levels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

#: The literals of node 0, which never holds. A literal is twice its node, plus one where it is inverted.
FALSE, TRUE = 0, 1


@dataclass(frozen=True, slots=True)
class Cycle:
    """Gates that depend on each other, evaluated again and again until none changes.

    Attributes:
        first: the first gate.
        end: the gate behind the last.
    """

    first: int
    end: int


@dataclass(frozen=True, eq=False)
class Network:
    """A game as logic.

    Nodes are numbered: 0 is the constant false, then one per fluent, then one per action (role after role),
    then one per gate. A *literal* is ``2 * node + inverted``. A gate is the conjunction of its input
    literals; gate ``g`` is node ``first_gate + g``, and reads nodes before it, except inside a cycle.

    Attributes:
        fluents: how many fluents.
        actions: how many actions each role has.
        starts: int32 [gates + 1]; where the inputs of each gate begin.
        inputs: int32 literals, gate after gate; a gate has at least two.
        state_gates: how many gates depend on fluents alone; they come first. No cycle reaches over this line.
        cycles: disjoint ranges of gates, in order.
        initially: bool [gates]; the value at which a gate of a cycle begins: the least fixed point is
            reached from here. False for all others.
        initial: bool [fluents]; the initial state.
        legal: int32 literals [all actions]; over state gates.
        terminal: literal; over state gates.
        goals: per role its goal values in ascending order, each with a literal over state gates.
        next: int32 literals [fluents].
        percepts: how many percepts each role can have, where these are fluents: the last ones, role after
            role, which say what was seen of the joint move that led here. No gate reads them. Empty where
            they are left out.
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
        """Return a game to show things with: its only role picks a side of a coin, which ends it.

        Nodes 1 and 2 are the fluents, one for each side that can lie on top; 3 and 4 the actions. Node 5, the
        gate, holds while neither side is on top. The goal is 0 for the first side, 100 for the second.
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
        """How many of the fluents are facts of the state: all but the percepts."""
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
        """How many gates."""
        return len(self.starts) - 1

    @property
    def nodes(self) -> int:
        """How many nodes, the constant and the inputs among them."""
        return self.first_gate + self.gates


def units_of(network: Network) -> Numbers:
    """Return per gate the first gate of its cycle, itself where it is in none: int64 [gates]."""
    units = np.arange(network.gates)
    for cycle in network.cycles:
        units[cycle.first : cycle.end] = cycle.first
    return units


def gates_by_level(network: Network) -> list[Numbers]:
    """Return the gates of each level, from those that read inputs alone; a cycle is on one level.

    None reads another one of the same level, so that all of a level can be looked at at once.

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
