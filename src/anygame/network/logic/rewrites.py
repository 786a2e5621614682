"""Rewrites: each makes a circuit smaller and leaves what it computes as it is.

A rewrite goes through the gates once, parents first, and makes them anew; what has become the same or trivial
vanishes on the way. Gates of cycles are carried over as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from anygame.network.logic.gates import Gates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["REWRITES", "Circuit", "drop_implied", "merge_conjunctions"]

#: A conjunction that is merged into another may not make it longer than this.
_LONGEST = 2_000


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


def drop_implied(circuit: Circuit) -> Circuit:
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

    return _rebuilt(circuit, simplify)


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

    return _rebuilt(circuit, merge)


#: The rewrites in the order in which they are made, by what explains them to people.
REWRITES: tuple[tuple[str, Callable[[Circuit], Circuit]], ...] = (
    ("what the move implies", drop_implied),
    ("conjunctions merged", merge_conjunctions),
)


def _rebuilt(circuit: Circuit, simplify: Callable[[Sequence[int]], list[int] | None]) -> Circuit:
    """Return the circuit with the inputs of each gate simplified; None stands for a gate that never holds."""
    old = circuit.gates
    new = Gates(old.inputs, old.choices)
    literals: dict[int, int] = {}
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
            simpler = simplify(inputs)
            waiting = [
                literal >> 1
                for literal in simpler or ()
                if literal >> 1 not in literals and old.inputs_of(literal) is not None
            ]
            if waiting:
                work += waiting
                continue
            literals[node] = 0 if simpler is None else new.conjunction(map(moved, simpler))
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
