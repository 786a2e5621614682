"""Circuits: gates, and the literals that somebody wants of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from anygame.network.logic.gates import Gates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Circuit", "rebuilt"]


@dataclass(frozen=True)
class Circuit:
    """Gates and the literals somebody wants of them.

    Attributes:
        gates: over fluents, then actions.
        outputs: literals by name; ``("legal", action)`` among them, with the node of the action.
    """

    gates: Gates
    outputs: Mapping[tuple[str, int], int]

    @cached_property
    def needed(self) -> list[int]:
        """The gates that the outputs need, ascending."""
        pending = [literal >> 1 for literal in self.outputs.values()]
        seen: set[int] = set()
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            inputs = self.gates.inputs_of(2 * node)
            if inputs is not None:
                seen.add(node)
                pending += [literal >> 1 for literal in inputs]
        return sorted(seen)

    def size(self) -> tuple[int, int]:
        """Return how many gates and inputs of gates the outputs need."""
        return len(self.needed), sum(len(self.gates.inputs_of(2 * node) or ()) for node in self.needed)


def rebuilt(circuit: Circuit, simplify: Callable[[Sequence[int]], list[int] | None]) -> Circuit:
    """Return the circuit with the inputs of each gate simplified; None stands for a gate that never holds.

    Gates that outputs need are made anew, inputs first; what has become the same or trivial vanishes on the
    way. Gates of cycles are carried over as they stand.
    """
    old = circuit.gates
    new = Gates(old.inputs, old.choices)
    literals: dict[int, int] = {}
    #: Simplified inputs of the gates that wait for some of these.
    simplified: dict[int, list[int] | None] = {}
    opened = [node for node in circuit.needed if node in old.opened]
    for node in opened:
        literals[node] = new.open() ^ 1
    targets = [literal >> 1 for literal in circuit.outputs.values()]

    def moved(literal: int) -> int:
        return literals.get(literal >> 1, 2 * (literal >> 1)) ^ (literal & 1)

    def make(root: int) -> None:
        work = [root]
        while work:
            node = work[-1]
            inputs = old.inputs_of(2 * node)
            if node in literals or inputs is None:
                work.pop()
                continue
            if node not in simplified:
                simplified[node] = simplify(inputs)
            simpler = simplified[node]
            waiting = [
                literal >> 1
                for literal in simpler or ()
                if literal >> 1 not in literals and old.inputs_of(literal) is not None
            ]
            if waiting:
                work += waiting
                continue
            literals[node] = 0 if simpler is None else new.conjunction(map(moved, simpler))
            del simplified[node]
            work.pop()

    for node in targets:
        make(node)
    # Closing what was opened may need gates that nothing else did.
    for node in opened:
        inputs = old.inputs_of(2 * node) or ()
        for literal in inputs:
            make(literal >> 1)
        new.close(literals[node] ^ 1, [moved(literal) ^ 1 for literal in inputs])
    return Circuit(new, {name: moved(literal) for name, literal in circuit.outputs.items()})
