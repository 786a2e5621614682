"""Circuits: gates and the literals of outputs, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.analysis.groups import strong_components
from anygame.network.network import FALSE, TRUE
from anygame.network.ragged import (
    LOW,
    SHIFT,
    distinct,
    equal_rows,
    keys_of_rows,
    levels_of,
    order_of,
    places,
    starts_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.network.ragged import Numbers


@dataclass(frozen=True, eq=False)
class Circuit:
    """Gates and output literals.

    Gate ``g`` is node ``inputs + g``, the conjunction of its literals. A gate reads earlier nodes and
    *opened* gates. Every cycle contains an opened gate.

    Attributes:
        inputs: number of nodes before the first gate: the constant, fluents, then actions.
        starts: int64 [gates + 1]; where the literals of each gate begin.
        opened: bool [gates]; whether a gate is the inverted disjunction of an atom that depends on itself.
        choices: groups of input nodes. In every state, exactly one node of each group holds.
        outputs: literals by name. The literals of ``legal`` belong to the actions, which are the last inputs.
    """

    inputs: int
    starts: Numbers
    literals: Numbers
    opened: NDArray[np.bool_]
    choices: Sequence[tuple[int, ...]]
    outputs: Mapping[str, Numbers]

    @property
    def wanted(self) -> Numbers:
        """The literals of all outputs."""
        return np.concatenate([*self.outputs.values(), np.zeros(0, np.int64)])

    @cached_property
    def needed(self) -> Numbers:
        """The numbers (not nodes) of the gates that the outputs need, ascending."""
        wanted = self.wanted >> 1
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
        """The number of literals of each gate."""
        return np.diff(self.starts)

    def literals_of(self, gates: Numbers) -> Numbers:
        """Return the concatenated literals of some gates."""
        literals: Numbers = self.literals[places(self.starts[gates], self.lengths[gates])]
        return literals

    def inputs_of(self, literal: int) -> list[int] | None:
        """Return the literals of the gate of a literal; None for an input."""
        gate = (literal >> 1) - self.inputs
        return None if gate < 0 else self.literals[self.starts[gate] : self.starts[gate + 1]].tolist()

    def size(self) -> tuple[int, int]:
        """Return the number of gates that the outputs need, and the number of literals of these gates."""
        return len(self.needed), int(self.lengths[self.needed].sum())


#: Maximum number of rounds of structural hashing.
_MOST_ROUNDS: Final = 60


def simplified(circuit: Circuit) -> Circuit:
    """Return an equivalent circuit without duplicate or unneeded gates.

    This is structural hashing (Kuehlmann, Paruthi, Krohm and Ganai 2002, "Robust Boolean reasoning for
    equivalence checking and functional property verification"). Gates keep their order, and opened gates
    remain. A gate of the given circuit may have constants, duplicates and any number of literals.
    """
    return _Hashing(circuit).run()


class _Hashing:
    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._base = circuit.inputs
        #: For each node, the literal that replaces it.
        self._become = 2 * np.arange(self._base + len(circuit.opened), dtype=np.int64)
        #: For each gate, its row: the start in ``_literals``, the length and the hash.
        self._literals = circuit.literals
        self._firsts, self._lengths = circuit.starts[:-1].copy(), circuit.lengths.copy()
        self._keys = np.zeros(len(circuit.opened), np.uint64)
        self._opened = circuit.opened
        self._is_needed = np.zeros(len(circuit.opened), np.bool_)
        self._is_needed[circuit.needed] = True
        self._choice_of = np.full(self._base, -1, np.int64)
        for number, choice in enumerate(circuit.choices):
            self._choice_of[list(choice)] = number
        self._choice_sizes = np.array([len(choice) for choice in circuit.choices], np.int64)
        #: Added gates, by row. Each gate is the inverted disjunction of some nodes of a choice.
        self._rests: dict[tuple[int, ...], int] = {}

    def run(self) -> Circuit:
        active = self._circuit.needed
        for _ in range(_MOST_ROUNDS):
            if not len(active):
                break
            before = self._become
            again = self._normalise(active)
            self._merge()
            # Replacements can be replaced themselves, so follow the chains.
            become = self._become
            while not np.array_equal(further := become[become >> 1] ^ (become & 1), become):
                become = further
            self._become = become
            changed = self._become != 2 * np.arange(len(self._become))
            changed[: len(before)] = self._become[: len(before)] != before
            gates = self._live()
            owners = np.repeat(gates, self._lengths[gates])
            read = self._literals[places(self._firsts[gates], self._lengths[gates])] >> 1
            active = distinct(np.concatenate([again, owners[changed[read]]]))
        return self._result()

    def _live(self) -> Numbers:
        nodes = self._base + np.arange(len(self._firsts))
        return np.flatnonzero(self._is_needed & (self._become[nodes] == 2 * nodes))

    def _normalise(self, gates: Numbers) -> Numbers:
        """Rewrite the rows of some gates; return the gates to visit again."""
        owners = np.repeat(gates, self._lengths[gates])
        literals = self._literals[places(self._firsts[gates], self._lengths[gates])]
        literals = self._become[literals >> 1] ^ (literals & 1)
        pairs = distinct(owners << SHIFT | literals)
        pairs = pairs[(pairs & LOW) != TRUE]
        never = np.zeros(len(self._firsts), np.bool_)
        never[pairs[(pairs & LOW) == FALSE] >> SHIFT] = True
        opposed = (pairs[1:] == pairs[:-1] + 1) & (pairs[1:] & 1 == 1)
        never[pairs[1:][opposed] >> SHIFT] = True
        pairs, again = self._choose(pairs, never)
        self._write(gates, pairs)
        self._become = self._become.copy()
        self._name(gates, never)
        self._add_rests()
        return again

    def _write(self, gates: Numbers, pairs: Numbers) -> None:
        owners, literals = pairs >> SHIFT, pairs & LOW
        lengths = np.bincount(owners, minlength=len(self._firsts))[gates]
        begin = np.cumsum(lengths) - lengths
        self._firsts[gates], self._lengths[gates] = len(self._literals) + begin, lengths
        self._literals = np.concatenate([self._literals, literals])
        self._keys[gates] = keys_of_rows(literals, begin, lengths)

    def _name(self, gates: Numbers, never: NDArray[np.bool_]) -> None:
        gates = gates[~self._opened[gates]]
        lengths = self._lengths[gates]
        self._become[self._base + gates[lengths == 0]] = TRUE
        single = gates[lengths == 1]
        self._become[self._base + single] = self._literals[self._firsts[single]]
        self._become[self._base + gates[never[gates]]] = FALSE

    def _merge(self) -> None:
        gates = self._live()
        gates = gates[~self._opened[gates]]
        # Added gates precede all other gates in the circuit, so prefer them as replacements.
        own = len(self._circuit.opened)
        gates = np.concatenate([gates[gates >= own], gates[gates < own]])
        order = gates[order_of(self._keys[gates])]
        again, first = equal_rows(order, self._keys, self._firsts, self._lengths, self._literals)
        self._become[self._base + again] = 2 * (self._base + first)

    def _choose(self, pairs: Numbers, never: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """Use the choices to simplify pairs of gate and literal; also return the gates to visit again."""
        inputs = np.flatnonzero((pairs & LOW) >> 1 < self._base)
        choices = self._choice_of[(pairs[inputs] & LOW) >> 1]
        chosen, choices = inputs[choices >= 0], choices[choices >= 0]
        many = len(self._choice_sizes)
        if not len(chosen):
            return pairs, chosen
        kinds = (pairs[chosen] >> SHIFT) * many + choices
        kinds, group, counts = np.unique(kinds, return_inverse=True, return_counts=True)
        positive = np.bincount(group, pairs[chosen] & 1 == 0, len(kinds))
        never[kinds[positive > 1] // many] = True
        # If one node of a choice holds, no other node of the choice holds.
        one = positive == 1
        dropped = chosen[one[group] & (pairs[chosen] & 1 == 1)]
        # If a gate excludes most nodes of a choice, make it read the disjunction of the remaining nodes.
        most = np.flatnonzero((positive == 0) & (2 * counts > self._choice_sizes[kinds % many]))
        if not len(most):
            return np.delete(pairs, dropped), most
        members = np.split(chosen[np.argsort(group, kind="stable")], np.cumsum(counts)[:-1])
        most_members = [members[number] for number in most.tolist()]
        rests = self._rests_of(kinds[most] % many, [(pairs[which] & LOW) >> 1 for which in most_members])
        owners = kinds[most] // many
        kept = np.delete(pairs, np.concatenate([dropped, *most_members]))
        return distinct(np.concatenate([kept, owners << SHIFT | rests])), distinct(owners)

    def _rests_of(self, choices: Numbers, excluded: list[Numbers]) -> Numbers:
        literals, first = [], self._base + len(self._circuit.opened)
        for choice, nodes in zip(choices.tolist(), excluded, strict=True):
            remaining = sorted(set(self._circuit.choices[choice]).difference(nodes.tolist()))
            if len(remaining) > 1:
                row = tuple(2 * node + 1 for node in remaining)
                literals.append(2 * self._rests.setdefault(row, first + len(self._rests)) + 1)
            else:
                literals.append(2 * remaining[0] if remaining else FALSE)
        return np.array(literals, np.int64)

    def _add_rests(self) -> None:
        known = len(self._firsts) - len(self._circuit.opened)
        rows = list(self._rests)[known:]
        if not rows:
            return
        count, first = len(rows), len(self._firsts)
        added = np.arange(first, first + count)
        self._firsts = np.concatenate([self._firsts, np.zeros(count, np.int64)])
        self._lengths = np.concatenate([self._lengths, np.zeros(count, np.int64)])
        self._keys = np.concatenate([self._keys, np.zeros(count, np.uint64)])
        self._opened = np.concatenate([self._opened, np.zeros(count, np.bool_)])
        self._is_needed = np.concatenate([self._is_needed, np.ones(count, np.bool_)])
        self._become = np.concatenate([self._become, 2 * (self._base + added)])
        lengths = np.array([len(row) for row in rows])
        literals = np.array([literal for row in rows for literal in row], np.int64)
        self._write(added, np.repeat(added, lengths) << SHIFT | literals)

    def _result(self) -> Circuit:
        circuit, own = self._circuit, len(self._circuit.opened)
        lengths = np.where(self._is_needed, self._lengths, 0)
        literals = self._literals[places(self._firsts, lengths)]
        literals = self._become[literals >> 1] ^ (literals & 1)
        outputs = {name: self._become[wanted >> 1] ^ (wanted & 1) for name, wanted in circuit.outputs.items()}
        whole = replace(
            circuit, starts=starts_of(lengths), literals=literals, opened=self._opened, outputs=outputs
        )
        # Added gates read no other gates, so they come first.
        needed = whole.needed
        order = np.concatenate([needed[needed >= own], needed[needed < own]])
        return _renumbered(whole, order)


def parents_first(circuit: Circuit) -> Circuit:
    """Return the circuit without unneeded gates, with each gate after its inputs that are not opened."""
    if circuit.opened[circuit.needed].any():
        return _renumbered(circuit, _depth_first(circuit))
    gates = circuit.needed
    reader = np.repeat(gates, circuit.lengths[gates])
    read = (circuit.literals_of(gates) >> 1) - circuit.inputs
    levels = levels_of(reader[read >= 0], read[read >= 0], len(circuit.opened))
    return _renumbered(circuit, gates[np.argsort(levels[gates], kind="stable")])


def _depth_first(circuit: Circuit) -> Numbers:
    """Return the needed gates in depth-first order, with the opened gates of each cycle first."""
    starts, inputs = circuit.starts.tolist(), ((circuit.literals >> 1) - circuit.inputs).tolist()
    opened = circuit.opened.tolist()
    inner: set[int] = set()

    def parents(gate: int) -> list[int]:
        return [part for part in inputs[starts[gate] : starts[gate + 1]] if part >= 0]

    def closed_parents(gate: int) -> list[int]:
        return [part for part in parents(gate) if part in inner]

    wanted = np.sort(circuit.wanted >> 1).tolist()
    order: list[int] = []
    for component in strong_components([n - circuit.inputs for n in wanted if n >= circuit.inputs], parents):
        order += [gate for gate in component if opened[gate]]
        inner.clear()
        inner.update(gate for gate in component if not opened[gate])
        # Without opened gates there are no cycles.
        order += [gate for (gate,) in strong_components(sorted(inner), closed_parents)]
    return np.array(order, np.int64)


def _renumbered(circuit: Circuit, gates: Numbers) -> Circuit:
    """Return a circuit of the given gates in the given order; short gates are padded to two literals."""
    number = np.arange(circuit.inputs + len(circuit.opened), dtype=np.int64)
    number[circuit.inputs + gates] = circuit.inputs + np.arange(len(gates))
    owners = np.repeat(np.arange(len(gates)), circuit.lengths[gates])
    literals = circuit.literals_of(gates)
    literals = 2 * number[literals >> 1] + (literals & 1)
    missing = np.repeat(np.arange(len(gates)), np.maximum(2 - circuit.lengths[gates], 0))
    owners, literals = (
        np.concatenate([owners, missing]),
        np.concatenate([literals, np.full(len(missing), TRUE)]),
    )
    pairs = np.sort(owners << SHIFT | literals, kind="stable")  # a merge sort, which is fast for sorted runs
    outputs = {name: 2 * number[wanted >> 1] + (wanted & 1) for name, wanted in circuit.outputs.items()}
    return replace(
        circuit,
        starts=starts_of(np.bincount(owners, minlength=len(gates))),
        literals=pairs & LOW,
        opened=circuit.opened[gates],
        outputs=outputs,
    )
