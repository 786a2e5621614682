"""Merging conjunctions: a conjunction that only another one reads becomes part of it.

::

    a = x and y          b = a and z          with b the only reader of a

becomes::

    b = x and y and z

Rules and factoring make chains of two inputs; one gate with many inputs is one loop in a kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.network.logic.circuit import Circuit, rebuilt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["merge_conjunctions"]

#: A gate never gets longer than this by merging: what a gate reads has to stay in the caches together.
_LONGEST: Final = 2_000


def merge_conjunctions(circuit: Circuit) -> Circuit:
    """Merge a conjunction that only another one reads into that one."""
    gates = circuit.gates
    readers: dict[int, int] = {}
    for node in circuit.needed:
        for literal in gates.inputs_of(2 * node) or ():
            readers[literal >> 1] = readers.get(literal >> 1, 0) + 1
    for literal in circuit.outputs.values():
        readers[literal >> 1] = readers.get(literal >> 1, 0) + 1

    def merge(inputs: Sequence[int]) -> list[int]:
        merged: list[int] = []
        pending = list(inputs)
        while pending:
            literal = pending.pop()
            parts = None if literal & 1 else gates.inputs_of(literal)
            fits = parts is not None and len(parts) + len(merged) + len(pending) <= _LONGEST
            if parts is None or not fits or readers[literal >> 1] > 1 or literal >> 1 in gates.opened:
                merged.append(literal)
            else:
                pending += parts
        return merged

    return rebuilt(circuit, merge)
