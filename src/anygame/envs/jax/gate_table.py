"""Gates of a network as a table: blocks of equal size, one level after the other.

Code that names each gate takes XLA minutes to compile for a few thousand gates. So the gates are data: a
loop over the blocks of a table is compiled in the same time for every game, and computes a block in a pass.
Gates of one level do not read each other (levelised simulation: Barzilai, Carter, Rosen and Rutledge 1987,
"HSS - a high-speed simulator").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.network import TRUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network

#: Inputs of a gate in a table; wider gates become trees of such. Eight are mostly padding (reversi took three
#: quarters longer), and two make more levels without a gain.
FAN_IN: Final = 4


@dataclass(frozen=True, eq=False)
class Part:
    """Blocks that are computed once, in order; or, if they make a cycle, until no value changes.

    Attributes:
        literals: int32 [blocks, gates of a block, FAN_IN]; twice a row, plus one where it is inverted.
        first: the row of the first gate.
        initially: bool [gates]: the values at which a cycle begins; None where there is no cycle.
    """

    literals: NDArray[np.int32]
    first: int
    initially: NDArray[np.bool_] | None

    @property
    def rows(self) -> int:
        """How many rows the part computes."""
        return int(self.literals.shape[0] * self.literals.shape[1])


@dataclass(frozen=True, eq=False)
class GateTable:
    """What some outputs of a network need of it.

    Row 0 is false, then come the inputs, then the gates.

    Attributes:
        rows: how many rows.
        inputs: how many inputs.
        parts: blocks of gates, in the order of computation.
        outputs: int32 [outputs]; literals of rows.
    """

    rows: int
    inputs: int
    parts: tuple[Part, ...]
    outputs: NDArray[np.int32]


def tabulate(network: Network, inputs: int, outputs: Sequence[int], block: int) -> GateTable:
    """Return the gates that some outputs need, as a table.

    Args:
        network: the compiled game.
        inputs: how many nodes are inputs: the fluents, or fluents and actions.
        outputs: literals of the network; they depend on these inputs alone.
        block: gates of a block.

    >>> from anygame.network.network import Network
    >>> network = Network.example()
    >>> table = tabulate(network, 2, [network.terminal], block=2)
    >>> table.rows, table.outputs.tolist()
    (5, [7])
    >>> table.parts[0].literals.tolist()
    [[[3, 5, 1, 1], [1, 1, 1, 1]]]
    """
    writer = _Writer(network, inputs, block)
    needed = _needed(network, outputs)
    for gates, is_cycle in _ranges(network):
        wanted = [gate for gate in gates if needed[gate]]
        if wanted:
            writer.write(wanted, is_cycle)
    return GateTable(writer.end, inputs, tuple(writer.parts), writer.rows_of(outputs))


def _needed(network: Network, outputs: Iterable[int]) -> NDArray[np.bool_]:
    """Return which gates the outputs depend on: bool [gates]."""
    needed = np.zeros(network.gates, np.bool_)
    waiting = [literal >> 1 for literal in outputs]
    while waiting:
        gate = waiting.pop() - network.first_gate
        if gate >= 0 and not needed[gate]:
            needed[gate] = True
            waiting += (_inputs(network, gate) >> 1).tolist()
    return needed


def _inputs(network: Network, gate: int) -> NDArray[np.int32]:
    return network.inputs[network.starts[gate] : network.starts[gate + 1]]


def _ranges(network: Network) -> Iterator[tuple[range, bool]]:
    """Yield all gates as ranges, each with whether it is a cycle."""
    first = 0
    for cycle in network.cycles:
        yield range(first, cycle.first), False
        yield range(cycle.first, cycle.end), True
        first = cycle.end
    yield range(first, network.gates), False


class _Writer:
    """Gives gates their rows, part after part.

    Gates go by their nodes until they have rows; those that wide ones are made of get further numbers.
    """

    def __init__(self, network: Network, inputs: int, block: int) -> None:
        self._network = network
        self._block = block
        self._row = dict(zip(range(inputs + 1), range(inputs + 1), strict=True))
        self._next = network.nodes
        self.end = inputs + 1
        self.parts: list[Part] = []

    def rows_of(self, literals: Sequence[int]) -> NDArray[np.int32]:
        """Return literals of rows for literals of gates that have got theirs."""
        return np.array([2 * self._row[literal >> 1] + (literal & 1) for literal in literals], np.int32)

    def write(self, gates: Sequence[int], is_cycle: bool) -> None:
        """Add a part of gates of the network, which read nothing that comes after them."""
        levels: dict[int, list[tuple[int, list[int]]]] = {}
        level_of: dict[int, int] = {}
        initially: dict[int, bool] = {}
        for gate in gates:
            node = self._network.first_gate + gate
            for made, literals in self._narrow(node, _inputs(self._network, gate).tolist(), level_of):
                # In a cycle there are no levels: the order of the network is kept.
                level = 0 if is_cycle else 1 + max(level_of.get(literal >> 1, 0) for literal in literals)
                level_of[made] = level
                levels.setdefault(level, []).append((made, literals))
                # Where a wide gate begins, so do the gates that it is made of: it is their conjunction.
                initially[made] = bool(self._network.initially[gate])
        blocks = [self._place(levels[level]) for level in sorted(levels)]
        table = [[self._padded(literals) for _, literals in placed] for placed in blocks]
        self._append(table, [initially[made] for made, _ in blocks[0]] if is_cycle else None)

    def _narrow(
        self, node: int, literals: list[int], level_of: dict[int, int]
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield a gate, before it those of which it is made if it is wide; what is deep stays last."""
        literals.sort(key=lambda literal: level_of.get(literal >> 1, 0))
        while len(literals) > FAN_IN:
            made = self._next
            self._next += 1
            yield made, literals[:FAN_IN]
            literals = [*literals[FAN_IN:], 2 * made]
            literals.sort(key=lambda literal: level_of.get(literal >> 1, 0))
        yield node, literals

    def _place(self, gates: list[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
        """Give the gates of a level rows, in blocks of their own."""
        self._row.update({made: self.end + index for index, (made, _) in enumerate(gates)})
        self.end += -(-len(gates) // self._block) * self._block
        return gates

    def _padded(self, literals: list[int]) -> list[int]:
        rows = [2 * self._row[literal >> 1] + (literal & 1) for literal in literals]
        return rows + [TRUE] * (FAN_IN - len(rows))

    def _append(self, levels: list[list[list[int]]], initially: list[bool] | None) -> None:
        sizes = [-(-len(level) // self._block) * self._block for level in levels]
        literals = np.full((sum(sizes), FAN_IN), TRUE, np.int32)
        at = 0
        for level, size in zip(levels, sizes, strict=True):
            literals[at : at + len(level)] = level
            at += size
        values = None
        if initially is not None:
            values = np.ones(at, np.bool_)
            values[: len(initially)] = initially
        first = self.end - at
        self.parts.append(Part(literals.reshape(-1, self._block, FAN_IN), first, values))
