"""Merging conjunctions: a conjunction that only another one reads becomes part of it.

::

    a = x and y          b = a and z          with b the only reader of a

becomes::

    b = x and y and z

Rules and factoring make chains of two inputs; one gate with many inputs is one loop in a kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.logic.hashing import simplified
from anygame.network.logic.ragged import starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.logic.circuit import Circuit

    Numbers = NDArray[np.int64]

#: A gate never gets longer than this by merging: what a gate reads has to stay in the caches together.
_LONGEST: Final = 2_000


def merge_conjunctions(circuit: Circuit) -> Circuit:
    """Merge a conjunction that only another one reads into that one."""
    owners = np.repeat(circuit.needed, circuit.lengths[circuit.needed])
    literals = circuit.literals_of(circuit.needed)
    reader = _only_readers(circuit, owners, literals)
    root = _roots(reader)
    root = _shortened(circuit, reader, root)
    moved = root != np.arange(len(root))
    gates = (literals >> 1) - circuit.inputs
    # What was merged is read no more.
    kept = (gates < 0) | ~moved[np.maximum(gates, 0)]
    order = np.argsort(root[owners[kept]], kind="stable")
    lengths = np.bincount(root[owners[kept]], minlength=len(root))
    return simplified(replace(circuit, starts=starts_of(lengths), literals=literals[kept][order]))


def _only_readers(circuit: Circuit, owners: Numbers, literals: Numbers) -> Numbers:
    """Return per gate the only one that reads it, where it can become part of that one; else itself."""
    base, count = circuit.inputs, len(circuit.opened)
    wanted = np.fromiter(circuit.outputs.values(), np.int64, len(circuit.outputs))
    times = np.bincount(np.concatenate([literals, wanted]) >> 1, minlength=base + count)[base:]
    gates = (literals >> 1) - base
    fits = (gates >= 0) & (literals & 1 == 0) & ~circuit.opened[owners]
    fits[fits] = (times[gates[fits]] == 1) & ~circuit.opened[gates[fits]]
    reader = np.arange(count)
    reader[gates[fits]] = owners[fits]
    return reader


def _roots(reader: Numbers) -> Numbers:
    """Return per gate the one that it becomes part of in the end, itself perhaps."""
    while True:
        further = reader[reader]
        if np.array_equal(further, reader):
            return reader
        reader = further


def _shortened(circuit: Circuit, reader: Numbers, root: Numbers) -> Numbers:
    """Return the roots again, with some gates left as they are where others would get too long."""
    parts = np.bincount(root, circuit.lengths - (root != np.arange(len(root))), len(root))
    pending = np.flatnonzero(parts > _LONGEST).tolist()
    if not pending:
        return root
    reader = reader.copy()
    while pending:
        pending += _cut(circuit, reader, pending.pop())
    return _roots(reader)


def _cut(circuit: Circuit, reader: Numbers, gate: int) -> list[int]:
    """Leave apart, in place, what would make a gate too long; return the gates that so remain."""
    left = []
    pending = circuit.inputs_of(2 * (circuit.inputs + gate)) or []
    kept = 0
    while pending:
        literal = pending.pop()
        part = (literal >> 1) - circuit.inputs
        if literal & 1 or part < 0 or reader[part] == part:
            kept += 1
            continue
        found = circuit.inputs_of(literal) or []
        if len(found) + kept + len(pending) > _LONGEST:
            reader[part] = part
            left.append(part)
            kept += 1
        else:
            pending += found
    return left
