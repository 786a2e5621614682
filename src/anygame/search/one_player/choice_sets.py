"""Gates over moves alone, as sets: since a role makes exactly one move, they say that it is one of some.

A gate that reads only moves holds for a set of them, however many gates it takes to say so. Conjunctions of
such literals with others become conjunctions of one such set with the others. An estimate that looked at each
move by itself would think that none need be made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """A network in which what is said of moves is said by sets of them.

    Literals are as in ``Network``; nodes are the constant, the fluents, the sets, and the other gates.

    Attributes:
        fluents: how many.
        has: bool [sets, moves]; which moves of the role are in each set.
        starts: int64 [gates + 1]; where the inputs of each gate begin.
        inputs: int64 literals.
        state_gates: how many gates depend on fluents alone; they come first.
        legal: int64 literals [moves].
        next: int64 literals [fluents].
        fixed: int64 literals that are to cost nothing.
        become: int64 [nodes of the network]; the literal of each node; -1 where it has none.
    """

    fluents: int
    has: NDArray[np.bool_]
    starts: NDArray[np.int64]
    inputs: NDArray[np.int64]
    state_gates: int
    legal: NDArray[np.int64]
    next: NDArray[np.int64]
    fixed: NDArray[np.int64]
    become: NDArray[np.int64]

    @classmethod
    def of(cls, network: Network, chooser: int) -> ChoiceSets:
        """Return that of a network, with the moves of a role as sets."""
        return _Builder(network, chooser).build()

    def literal(self, literal: int) -> int:
        """Return what a literal of the network has become."""
        return int(self.become[literal >> 1]) ^ (literal & 1)


class _Builder:
    """Rewrites a network; sets of moves are integers, a bit for each."""

    def __init__(self, network: Network, chooser: int) -> None:
        self._network = network
        self._moves = network.actions[chooser]
        self._all = (1 << self._moves) - 1
        self._first = network.first_action + sum(network.actions[:chooser])
        #: What nodes say of moves, where they say nothing else.
        self._sets: dict[int, int] = {}
        #: The number of each set that is read with something else.
        self._numbers: dict[int, int] = {}
        self._others: list[int] = []
        self._name_moves(chooser)

    def _name_moves(self, chooser: int) -> None:
        network, node = self._network, self._network.first_action
        for role, count in enumerate(network.actions):
            for move in range(count):
                if role == chooser:
                    self._sets[node] = 1 << move
                elif count == 1:
                    self._sets[node] = self._all  # a move that is always made
                else:
                    self._others.append(node)
                node += 1

    def build(self) -> ChoiceSets:
        network = self._network
        cyclic = {gate for cycle in network.cycles for gate in range(cycle.first, cycle.end)}
        kept: list[tuple[int, list[int], int | None]] = []
        inputs, starts = network.inputs.tolist(), network.starts.tolist()
        for gate in range(network.gates):
            node = network.first_gate + gate
            read = inputs[starts[gate] : starts[gate + 1]]
            rest = [literal for literal in read if literal >> 1 not in self._sets]
            common = self._common(literal for literal in read if literal >> 1 in self._sets)
            if not rest and gate not in cyclic:
                self._sets[node] = self._all if common is None else common
            else:
                kept.append((node, rest, common))
        after = [self._set_of(literal) for literal in network.next.tolist()]
        for held in [*after, *(common for _, _, common in kept)]:
            if held is not None:
                self._numbers.setdefault(held, len(self._numbers))
        return self._built(kept, after)

    def _set_of(self, literal: int) -> int | None:
        held = self._sets.get(literal >> 1)
        return None if held is None else held ^ self._all if literal & 1 else held

    def _common(self, literals: Iterable[int]) -> int | None:
        common: int | None = None
        for literal in literals:
            held = self._set_of(literal)
            assert held is not None
            common = held if common is None else common & held
        return common

    def _built(self, kept: list[tuple[int, list[int], int | None]], after: list[int | None]) -> ChoiceSets:
        network = self._network
        first_set = 1 + network.fluents
        first_gate = first_set + len(self._numbers)
        become = np.full(network.nodes, -1, np.int64)
        become[:first_set] = 2 * np.arange(first_set)
        for number, (node, _, _) in enumerate(kept):
            become[node] = 2 * (first_gate + number)
        # What others than the role choose is not known: whether such a move is made costs nothing.
        last = first_gate + len(kept)
        become[self._others] = 2 * (last + np.arange(len(self._others)))

        def literal(old: int) -> int:
            return int(become[old >> 1]) ^ (old & 1)

        def of_set(held: int) -> int:
            return 2 * (first_set + self._numbers[held])

        inputs: list[int] = []
        starts = [0]
        for _, rest, common in kept:
            inputs += [literal(old) for old in rest] + ([] if common is None else [of_set(common)])
            starts.append(len(inputs))
        state_end = network.first_gate + network.state_gates
        own = network.legal[self._first - network.first_action :][: self._moves].tolist()
        return ChoiceSets(
            fluents=network.fluents,
            has=_bits(list(self._numbers), self._moves),
            starts=np.array(starts, np.int64),
            inputs=np.array(inputs, np.int64),
            state_gates=sum(node < state_end for node, _, _ in kept),
            legal=np.array([literal(old) for old in own], np.int64),
            next=np.array(
                [
                    literal(old) if held is None else of_set(held)
                    for old, held in zip(network.next.tolist(), after, strict=True)
                ],
                np.int64,
            ),
            fixed=self._fixed(become),
            become=become,
        )

    def _fixed(self, become: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what costs nothing: what cycles begin with, and the moves of others, made or not."""
        network = self._network
        literals = [
            int(become[network.first_gate + gate]) ^ (not network.initially[gate])
            for cycle in network.cycles
            for gate in range(cycle.first, cycle.end)
        ]
        for node in self._others:
            literals += [int(become[node]), int(become[node]) ^ 1]
        return np.array(literals, np.int64)


def _bits(sets: list[int], moves: int) -> NDArray[np.bool_]:
    size = -(-moves // 8)
    rows = [np.frombuffer(held.to_bytes(size, "little"), np.uint8) for held in sets]
    packed = np.array(rows, np.uint8).reshape(len(sets), size)
    return np.unpackbits(packed, axis=1, count=moves, bitorder="little").astype(np.bool_)
