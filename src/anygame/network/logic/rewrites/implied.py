"""Dropping implied conditions: a move is made only where it is legal, so beside it that need not be said.

::

    legal(put) = empty and turn          next(full) = does(put) and empty and key

becomes::

    legal(put) = empty and turn          next(full) = does(put) and key
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.logic.circuit import Circuit, rebuilt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.logic.gates import Gates

__all__ = ["drop_implied_conditions"]


def drop_implied_conditions(circuit: Circuit) -> Circuit:
    """Leave out of conjunctions with a move what makes it legal: moves are made only where they are."""
    gates = circuit.gates
    legal = {node: literal for (kind, node), literal in circuit.outputs.items() if kind == "legal"}
    implied: dict[int, set[int]] = {}

    def simplify(inputs: Sequence[int]) -> list[int] | None:
        dropped: set[int] = set()
        for literal in inputs:
            node = literal >> 1
            if not literal & 1 and node in legal:
                if node not in implied:
                    implied[node] = _conjuncts(gates, legal[node])
                dropped |= implied[node]
        if not dropped:
            return list(inputs)
        if any(literal ^ 1 in dropped for literal in inputs):
            return None
        return [literal for literal in inputs if literal not in dropped]

    inputs = map(gates.inputs_of, (2 * node for node in circuit.needed))
    if all(found is None or simplify(found) == list(found) for found in inputs):
        return circuit
    return rebuilt(circuit, simplify)


def _conjuncts(gates: Gates, literal: int) -> set[int]:
    """Return literals that all hold where a literal does."""
    found = {literal}
    pending = [literal]
    while pending:
        current = pending.pop()
        if current & 1:
            continue
        for part in gates.inputs_of(current) or ():
            if part not in found:
                found.add(part)
                pending.append(part)
    return found
