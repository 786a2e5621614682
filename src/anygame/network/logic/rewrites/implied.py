"""Dropping implied conditions: a move is made only where it is legal, so beside it that need not be said.

::

    legal(put) = empty and turn          next(full) = does(put) and empty and key

becomes::

    legal(put) = empty and turn          next(full) = does(put) and key
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.hashing import simplified
from anygame.network.logic.ragged import distinct, places, starts_of
from anygame.network.network import FALSE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.logic.circuit import Circuit

    Numbers = NDArray[np.int64]


def drop_implied_conditions(circuit: Circuit) -> Circuit:
    """Leave out of conjunctions with a move what makes it legal: moves are made only where they are."""
    legal = {node: literal for (kind, node), literal in circuit.outputs.items() if kind == "legal"}
    gates = circuit.needed[~circuit.opened[circuit.needed]]
    owners = np.repeat(gates, circuit.lengths[gates])
    literals = circuit.literals_of(gates)
    is_legal_move = np.zeros(circuit.inputs, np.bool_)
    is_legal_move[list(legal)] = True
    moves = np.flatnonzero((literals & 1 == 0) & (literals < 2 * circuit.inputs))
    moves = moves[is_legal_move[literals[moves] >> 1]]
    # Each move of a gate, beside each literal of the gate.
    of_move, made = owners[moves], literals[moves] >> 1
    where = places(circuit.starts[of_move], circuit.lengths[of_move])
    bound = 2 * (circuit.inputs + len(circuit.opened))
    asked = np.repeat(made, circuit.lengths[of_move]) * bound
    implied = _implied(circuit, {node: legal[node] for node in distinct(made).tolist()}, bound)
    dropped = where[np.isin(asked + circuit.literals[where], implied)]
    refuted = where[np.isin(asked + (circuit.literals[where] ^ 1), implied)]
    if not len(dropped) and not len(refuted):
        return circuit
    return simplified(_without(circuit, dropped, refuted))


def _without(circuit: Circuit, dropped: Numbers, refuted: Numbers) -> Circuit:
    """Return a circuit without the literals in some places, and with others that never hold."""
    literals = circuit.literals.copy()
    literals[refuted] = FALSE
    kept = np.ones(len(literals), np.bool_)
    kept[dropped] = False
    kept[refuted] = True
    owners = np.repeat(np.arange(len(circuit.opened)), circuit.lengths)
    lengths = np.bincount(owners[kept], minlength=len(circuit.opened))
    return replace(circuit, starts=starts_of(lengths), literals=literals[kept])


def _implied(circuit: Circuit, legal: dict[int, int], bound: int) -> Numbers:
    """Return what holds where moves are made: ``bound`` times the move, plus a literal."""
    found = [(move, literal) for move, allowed in legal.items() for literal in _conjuncts(circuit, allowed)]
    return np.array([move * bound + literal for move, literal in found], np.int64)


def _conjuncts(circuit: Circuit, literal: int) -> set[int]:
    """Return literals that all hold where a literal does."""
    found = {literal}
    pending = [literal]
    while pending:
        current = pending.pop()
        if current & 1:
            continue
        for part in circuit.inputs_of(current) or ():
            if part not in found:
                found.add(part)
                pending.append(part)
    return found
