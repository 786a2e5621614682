"""Rewrites that make a circuit smaller; its outputs stay the same for legal moves.

Players make legal moves only, so a conjunction with a move need not repeat the conditions of the move::

    legal(put) = empty and turn          next(full) = does(put) and empty and key

becomes::

    legal(put) = empty and turn          next(full) = does(put) and key
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.logic.circuit import simplified
from anygame.network.network import FALSE
from anygame.network.ragged import distinct, places, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.logic.circuit import Circuit
    from anygame.network.ragged import Numbers


def drop_implied_conditions(circuit: Circuit) -> Circuit:
    """From each conjunction with a move, drop the conditions that follow from the legality of the move."""
    of_legal = circuit.outputs.get("legal", np.zeros(0, np.int64))
    legal = dict(zip(range(circuit.inputs - len(of_legal), circuit.inputs), of_legal.tolist(), strict=True))
    gates = circuit.needed[~circuit.opened[circuit.needed]]
    owners = np.repeat(gates, circuit.lengths[gates])
    literals = circuit.literals_of(gates)
    is_legal_move = np.zeros(circuit.inputs, np.bool_)
    is_legal_move[list(legal)] = True
    moves = np.flatnonzero((literals & 1 == 0) & (literals < 2 * circuit.inputs))
    moves = moves[is_legal_move[literals[moves] >> 1]]
    # Pair each move in a gate with each literal of the same gate.
    of_move, made = owners[moves], literals[moves] >> 1
    where = places(circuit.starts[of_move], circuit.lengths[of_move])
    bound = 2 * (circuit.inputs + len(circuit.opened))
    asked = np.repeat(made, circuit.lengths[of_move]) * bound
    pairs = [
        (move, literal) for move in distinct(made).tolist() for literal in _conjuncts(circuit, legal[move])
    ]
    implied = np.array([move * bound + literal for move, literal in pairs], np.int64)
    dropped = where[np.isin(asked + circuit.literals[where], implied)]
    refuted = where[np.isin(asked + (circuit.literals[where] ^ 1), implied)]
    if not len(dropped) and not len(refuted):
        return circuit
    literals = circuit.literals.copy()
    literals[refuted] = FALSE
    kept = np.ones(len(literals), np.bool_)
    kept[dropped] = False
    kept[refuted] = True
    owners = np.repeat(np.arange(len(circuit.opened)), circuit.lengths)
    lengths = np.bincount(owners[kept], minlength=len(circuit.opened))
    return simplified(replace(circuit, starts=starts_of(lengths), literals=literals[kept]))


def _conjuncts(circuit: Circuit, literal: int) -> set[int]:
    implied = {literal}
    pending = [literal]
    while pending:
        current = pending.pop()
        if current & 1:
            continue
        for part in circuit.inputs_of(current) or ():
            if part not in implied:
                implied.add(part)
                pending.append(part)
    return implied


def merge_conjunctions(circuit: Circuit) -> Circuit:
    """Merge each gate with a single reader into the reader, unless the reader uses the gate's inverse.

    ::

        a = x and y          b = a and z          with b the only reader of a

    becomes::

        b = x and y and z

    Rules and factoring make chains of gates with two inputs. A kernel computes a gate with many inputs in one
    loop.
    """
    owners = np.repeat(circuit.needed, circuit.lengths[circuit.needed])
    literals = circuit.literals_of(circuit.needed)
    root = _only_readers(circuit, owners, literals)
    while not np.array_equal(further := root[root], root):
        root = further
    moved = root != np.arange(len(root))
    gates = (literals >> 1) - circuit.inputs
    # Drop merged gates, which no gate reads any more.
    kept = (gates < 0) | ~moved[np.maximum(gates, 0)]
    order = np.argsort(root[owners[kept]], kind="stable")
    lengths = np.bincount(root[owners[kept]], minlength=len(root))
    return simplified(replace(circuit, starts=starts_of(lengths), literals=literals[kept][order]))


def _only_readers(circuit: Circuit, owners: Numbers, literals: Numbers) -> Numbers:
    """Return per gate the gate into which it can be merged, or the gate itself."""
    base, count = circuit.inputs, len(circuit.opened)
    times = np.bincount(np.concatenate([literals, circuit.wanted]) >> 1, minlength=base + count)[base:]
    gates = (literals >> 1) - base
    fits = (gates >= 0) & (literals & 1 == 0) & ~circuit.opened[owners]
    fits[fits] = (times[gates[fits]] == 1) & ~circuit.opened[gates[fits]]
    reader = np.arange(count)
    reader[gates[fits]] = owners[fits]
    return reader


#: The rewrites in order of application, by name.
REWRITES: Final[tuple[tuple[str, Callable[[Circuit], Circuit]], ...]] = (
    ("dropping implied conditions", drop_implied_conditions),
    ("merging conjunctions", merge_conjunctions),
)
