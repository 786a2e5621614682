"""From atoms to gates: every needed atom is a sum of products; all sums are factored at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.analysis.groups import cycles
from anygame.network.budget import LITERAL
from anygame.network.logic.circuit import Circuit, parents_first, simplified
from anygame.network.logic.factoring import Products, factored
from anygame.network.ragged import levels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.network.budget import Budget
    from anygame.network.logic.atoms import Atoms

    Numbers = NDArray[np.int64]


def build_circuit(
    atoms: Atoms,
    inputs: Sequence[int],
    outputs: Mapping[str, Numbers],
    choices: Sequence[tuple[int, ...]],
    budget: Budget,
) -> Circuit:
    """Return the circuit of some atoms, given the atoms of its inputs in order; the first is node 1.

    Outputs are literals of atoms, ``HOLDS`` or ``FAILS``.
    """
    known = np.zeros(atoms.count, np.bool_)
    known[inputs] = True
    asked = np.concatenate(list(outputs.values()))
    sums = atoms.needed(asked[asked >= 0] >> 1, known)
    products = atoms.products(sums)
    budget.spend(LITERAL * (len(sums) + len(products.literals)))
    nodes = 1 + len(inputs)
    # Indexed by literal; the two last entries serve the negative numbers ``FAILS`` and ``HOLDS``.
    become = np.zeros(2 * atoms.count + 2, np.int64)
    become[2 * np.asarray(inputs, np.int64)] = 2 * np.arange(1, nodes)
    become[2 * sums] = 2 * np.arange(nodes, nodes + len(sums)) + 1
    become[1::2] = become[::2] ^ 1
    products = replace(products, literals=become[products.literals])
    starts, literals = factored(products, len(sums), nodes)
    opened = np.zeros(len(starts) - 1, np.bool_)
    opened[_in_cycles(products, len(sums), nodes)] = True
    named = {name: become[literals] for name, literals in outputs.items()}
    circuit = simplified(Circuit(nodes, starts, literals, opened, (), named))
    return replace(parents_first(circuit), choices=choices)


def _in_cycles(products: Products, sums: int, nodes: int) -> list[int]:
    read = (products.literals >> 1) - nodes
    reader = products.of[products.owners[read >= 0]]
    read = read[read >= 0]
    # Gates of a cycle have no level in either direction.
    both = (levels_of(reader, read, sums) < 0) & (levels_of(read, reader, sums) < 0)
    parents: dict[int, set[int]] = {number: set() for number in np.flatnonzero(both).tolist()}
    inside = both[reader] & both[read]
    for number, parent in zip(reader[inside].tolist(), read[inside].tolist(), strict=True):
        parents[number].add(parent)
    return [number for cycle in cycles(parents, lambda number: sorted(parents[number])) for number in cycle]
