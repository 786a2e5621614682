"""Circuits: gates as flat arrays, and the literals that somebody wants of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.ragged import distinct, places, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.network.logic.gates import Gates

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Circuit:
    """Gates and the literals somebody wants of them.

    Gate ``g`` is node ``inputs + g``, the conjunction of its literals. It reads nodes before it, or gates
    that were opened: every cycle goes through one of these.

    Attributes:
        inputs: how many nodes come before the first gate: the constant, fluents, then actions.
        starts: int64 [gates + 1]; where the literals of each gate begin.
        literals: int64; those of all gates, one after the other.
        opened: bool [gates]; the inverted disjunctions whose parts were not known at first.
        choices: groups of nodes before the first gate of which exactly one holds, always.
        outputs: literals by name; ``("legal", action)`` among them, with the node of the action.
    """

    inputs: int
    starts: Numbers
    literals: Numbers
    opened: NDArray[np.bool_]
    choices: Sequence[tuple[int, ...]]
    outputs: Mapping[tuple[str, int], int]

    @classmethod
    def of(
        cls,
        gates: Gates,
        outputs: Mapping[tuple[str, int], int],
        choices: Sequence[tuple[int, ...]] = (),
    ) -> Circuit:
        """Return gates that are all closed as a circuit."""
        rows = [row for row in gates.gates if row is not None]
        assert len(rows) == len(gates.gates), "a gate was opened and never closed"
        starts = starts_of(np.fromiter(map(len, rows), np.int64, len(rows)))
        literals = np.fromiter(chain.from_iterable(rows), np.int64, int(starts[-1]))
        opened = np.zeros(len(rows), np.bool_)
        opened[[node - gates.inputs for node in gates.opened]] = True
        return cls(gates.inputs, starts, literals, opened, choices, outputs)

    @cached_property
    def needed(self) -> Numbers:
        """The gates that the outputs need, ascending; by number, not by node."""
        wanted = np.fromiter(self.outputs.values(), np.int64, len(self.outputs)) >> 1
        seen = np.zeros(len(self.opened), np.bool_)
        fresh = distinct(wanted[wanted >= self.inputs]) - self.inputs
        while len(fresh):
            seen[fresh] = True
            below = (self.literals_of(fresh) >> 1) - self.inputs
            below = below[below >= 0]
            fresh = distinct(below[~seen[below]])
        return np.flatnonzero(seen)

    @cached_property
    def lengths(self) -> Numbers:
        """How many literals each gate has."""
        return np.diff(self.starts)

    def literals_of(self, gates: Numbers) -> Numbers:
        """Return the literals of some gates, one after the other."""
        found: Numbers = self.literals[places(self.starts[gates], self.lengths[gates])]
        return found

    def inputs_of(self, literal: int) -> list[int] | None:
        """Return the literals of the gate behind a literal; None for a node before the gates."""
        gate = (literal >> 1) - self.inputs
        return None if gate < 0 else self.literals[self.starts[gate] : self.starts[gate + 1]].tolist()

    def size(self) -> tuple[int, int]:
        """Return how many gates and inputs of gates the outputs need."""
        return len(self.needed), int(self.lengths[self.needed].sum())
