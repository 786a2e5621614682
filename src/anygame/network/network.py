"""The compiled game: inputs, gates in the order of computation, and outputs, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FALSE", "TRUE", "Cycle", "Network"]

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
    then one per gate. A *literal* is ``2 * node + inverted``, as in the AIGER format
    (http://fmv.jku.at/aiger/). A gate is the conjunction of its input literals; gate ``g`` is node
    ``first_gate + g``, and reads nodes before it, except inside a cycle.

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
    percepts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

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
