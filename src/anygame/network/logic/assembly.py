"""Construction of a circuit from atoms, and of a network from a circuit.

Each atom is a sum of products, that is, a disjunction of conjunctions. All sums are factored at once. The
network has only the gates that outputs need, in topological order, with the gates of a cycle adjacent. Gates
that depend only on the state come before gates that depend on moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anygame.analysis.groups import cycles, strong_components
from anygame.network.budget import LITERAL
from anygame.network.logic.circuit import Circuit, parents_first, simplified
from anygame.network.logic.factoring import Products, factored
from anygame.network.network import Cycle, Network
from anygame.network.ragged import distinct, levels_of, places, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.budget import Budget
    from anygame.network.logic.atoms import Atoms
    from anygame.network.ragged import Numbers


def build_circuit(
    atoms: Atoms,
    inputs: Sequence[int],
    outputs: Mapping[str, Numbers],
    choices: Sequence[tuple[int, ...]],
    budget: Budget,
) -> Circuit:
    """Return a circuit that computes the outputs from the inputs, which are atoms; the first is node 1.

    Outputs are literals of atoms, ``HOLDS`` or ``FAILS``.
    """
    known = np.zeros(atoms.count, np.bool_)
    known[inputs] = True
    atoms_of_outputs = np.concatenate(list(outputs.values()))
    sums = atoms.needed(atoms_of_outputs[atoms_of_outputs >= 0] >> 1, known)
    products = atoms.products(sums)
    budget.spend(LITERAL * (len(sums) + len(products.literals)))
    nodes = 1 + len(inputs)
    # The circuit literal of each literal in ``atoms``. The last two entries are for FAILS and HOLDS.
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
    # A gate in a cycle gets no level, whether levels count from the inputs or from the outputs.
    both = (levels_of(reader, read, sums) < 0) & (levels_of(read, reader, sums) < 0)
    parents: dict[int, set[int]] = {number: set() for number in np.flatnonzero(both).tolist()}
    inside = both[reader] & both[read]
    for number, parent in zip(reader[inside].tolist(), read[inside].tolist(), strict=True):
        parents[number].add(parent)
    return [number for cycle in cycles(parents, lambda number: sorted(parents[number])) for number in cycle]


def assemble(
    circuit: Circuit,
    *,
    actions: tuple[int, ...],
    initial: NDArray[np.bool_],
    legal: Numbers,
    terminal: int,
    goals: Sequence[Sequence[tuple[int, int]]],
    next_state: Numbers,
) -> Network:
    """Return the network of a circuit whose outputs are the given literals."""
    first_gate = circuit.inputs
    order, ranges = _order(circuit)
    of_moves = _depend_on_moves(circuit, 1 + len(initial))[order]
    # Gates that depend on the state alone come first, even if only the next state needs them. So either all
    # gates of a cycle depend on moves, or none of them does.
    apart = np.argsort(of_moves, kind="stable")
    order = order[apart]
    place = np.empty_like(apart)
    place[apart] = np.arange(len(apart))
    ranges = sorted(
        (Cycle(int(place[cycle.first]), int(place[cycle.end - 1]) + 1) for cycle in ranges),
        key=lambda cycle: cycle.first,
    )
    position = np.arange(first_gate + len(circuit.opened), dtype=np.int64)
    position[first_gate + order] = first_gate + np.arange(len(order))

    def moved(literals: ArrayLike) -> NDArray[np.int32]:
        old = np.asarray(literals, np.int64)
        return np.asarray(2 * position[old >> 1] + (old & 1), np.int32)

    starts = starts_of(circuit.lengths[order]).astype(np.int32)
    inputs = moved(circuit.literals_of(order))
    opened = set(np.flatnonzero(circuit.opened[order]).tolist())
    return Network(
        fluents=len(initial),
        actions=actions,
        starts=starts,
        inputs=inputs,
        state_gates=int(len(order) - of_moves.sum()),
        cycles=tuple(ranges),
        initially=_initially(ranges, starts, inputs, first_gate, opened),
        initial=initial,
        legal=moved(legal),
        terminal=int(moved(terminal)),
        goals=tuple(tuple((value, int(moved(literal))) for value, literal in role) for role in goals),
        next=moved(next_state),
    )


def _order(circuit: Circuit) -> tuple[Numbers, list[Cycle]]:
    if not circuit.opened[circuit.needed].any():
        return circuit.needed, []
    starts, inputs = circuit.starts.tolist(), ((circuit.literals >> 1) - circuit.inputs).tolist()

    def parents(gate: int) -> list[int]:
        return [part for part in inputs[starts[gate] : starts[gate + 1]] if part >= 0]

    order: list[int] = []
    ranges = []
    for component in strong_components(circuit.needed.tolist(), parents):
        if len(component) > 1 or component[0] in parents(component[0]):
            component = _depth_first(component, parents)
            ranges.append(Cycle(len(order), len(order) + len(component)))
        order += component
    return np.array(order, np.int64), ranges


def _depend_on_moves(circuit: Circuit, first_action: int) -> NDArray[np.bool_]:
    owners = np.repeat(circuit.needed, circuit.lengths[circuit.needed])
    read = circuit.literals_of(circuit.needed) >> 1
    depends = np.zeros(circuit.inputs + len(circuit.opened), np.bool_)
    depends[first_action : circuit.inputs] = True
    order = np.argsort(read, kind="stable")
    read, owners = read[order], owners[order]
    fresh = np.arange(first_action, circuit.inputs)
    while len(fresh):
        low, high = np.searchsorted(read, fresh), np.searchsorted(read, fresh, side="right")
        readers = circuit.inputs + owners[places(low, high - low)]
        fresh = distinct(readers[~depends[readers]])
        depends[fresh] = True
    return depends[circuit.inputs :]


def _depth_first(cycle: list[int], parents: Callable[[int], list[int]]) -> list[int]:
    root = min(cycle)
    unvisited = set(cycle) - {root}
    order: list[int] = []
    path = [(root, iter(parents(root)))]
    while path:
        parent = next((parent for parent in path[-1][1] if parent in unvisited), None)
        if parent is None:
            order.append(path.pop()[0])
        else:
            unvisited.remove(parent)
            path.append((parent, iter(parents(parent))))
    return order


def _initially(
    cycles: Sequence[Cycle],
    starts: NDArray[np.int32],
    inputs: NDArray[np.int32],
    first_gate: int,
    opened: set[int],
) -> NDArray[np.bool_]:
    """Return the values from which the evaluation of cycles starts.

    Derived atoms start as false, so the inverted gates that represent them start as true.
    """
    result = np.zeros(len(starts) - 1, np.bool_)
    for cycle in cycles:
        members = range(cycle.first, cycle.end)
        readers: dict[int, list[tuple[int, bool]]] = {gate: [] for gate in members}
        for gate in members:
            for literal in inputs[starts[gate] : starts[gate + 1]].tolist():
                source = (literal >> 1) - first_gate
                if source in readers:
                    readers[source].append((gate, bool(literal & 1)))
        pending = [gate for gate in members if gate in opened]
        values = dict.fromkeys(pending, True)
        while pending:
            gate = pending.pop()
            for reader, inverted in readers[gate]:
                if reader not in values:
                    values[reader] = values[gate] ^ inverted
                    pending.append(reader)
        result[list(values)] = list(values.values())
    return result
