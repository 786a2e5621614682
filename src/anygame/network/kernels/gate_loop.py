"""Gates as data that loops read, for networks whose straight-line code would take too long to compile.

The shape of a gate is its number of plain inputs and its number of inverted inputs. Gates of the same shape
form runs, so that loops need no branches. The data of a gate are the row numbers of its inputs and of the
gate itself. Small gates of a frequent shape have their own loop. A loop with two inner loops evaluates all
other gates. No gate reads another gate of its run, because a processor stalls if a read depends on a recent
write.

Fluents, and gates in cycles, have entries of two numbers: the offset in bytes of the row to read, and the
offset of the row to write. The lowest bit of the first number is set if the value is inverted. The lowest bit
of the second number is set for the last input of a gate, or if the fluent holds initially.

The code runs a list of operations, which is also data. Each operation evaluates a run in certain phases. So
the functions are small, and compile in less than 0.1 s even for the largest games. Functions that do not
depend on the game are compiled once on a machine.

Some gates hold unless a role with many moves makes one of certain moves. The code does not evaluate these
gates. The code sets all of them, and then clears the gates that the chosen moves refute.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.gate_code import GateCode, copy_order
from anygame.network.kernels.layout import linear_scan
from anygame.network.kernels.loop_functions import OPERATION_WORDS, loop_functions
from anygame.network.kernels.schedule import runs_of_shapes
from anygame.network.ragged import distinct, places, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.layout import RowLayout
    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.schedule import Schedule
    from anygame.network.kernels.target import Target
    from anygame.network.network import Network

#: Maximum number of places by which a gate moves forward in the schedule. A larger number makes runs longer,
#: but values also live longer and need more rows.
_WINDOW = 4_000
#: A shape with at most this many inputs gets its own loop over gates, with unrolled inputs.
_MOST_UNROLLED = 8
#: Minimum number of gates for which a shape gets its own loop.
_MANY = 500
#: Number of bits for each input count in a packed shape: plain inputs and inverted inputs.
_SHIFT = 27
#: Maximum number of rows for which the loop's data has row numbers of 16 instead of 32 bits.
_NARROW_ROWS = 1 << 16


class Operation(IntEnum):
    """The kinds of operations; higher numbers are runs of a frequent shape."""

    SET = 0
    CYCLE = 1
    RUN = 2
    SCATTER = 3


class LoopWriter:
    """Writes the gates of a network as data for loops. Rows from ``first_row`` on hold values of gates."""

    def __init__(
        self,
        network: Network,
        order: Schedule,
        phases: Phases,
        layout: RowLayout,
        target: Target,
        first_row: int,
    ) -> None:
        self._network = network
        self._phases = phases
        self._order = order
        self._starts = network.starts.astype(np.int64)
        self._layout = layout
        self._target = target
        self._stride = target.stride
        self._base = network.first_gate
        #: Per node the bit literal of its row, or -1 before its row is allocated.
        self._place = np.full(network.nodes, -1, np.int64)
        self._place[0] = 2 * layout.input(0)
        self._place[1 : self._base] = 2 * (layout.input(1) + np.arange(self._base - 1))
        self._place[list(layout.answers)] = 2 * np.array(list(layout.answers.values()), np.int64)
        self._end = first_row
        self._entries: list[NDArray[np.int32 | np.int64]] = []
        self._written = 0
        self._operations: list[list[int]] = []
        self._masks = np.array(phases.gates, np.int64)
        self._is_scattered, self._read_alone = self._find_scattered()
        inverted = starts_of((network.inputs & 1).astype(np.int64))[self._starts]
        #: Per gate the numbers of plain and of inverted inputs: int64 [gates, 2].
        self._shapes = np.stack((np.diff(self._starts - inverted), np.diff(inverted)), axis=1)
        self._state_runs = self._runs_of(order.state)
        self._goal_runs = self._runs_of(order.goals)
        self._move_runs = self._runs_of(order.moves[~self._is_scattered[order.moves]])
        self._unrolled = self._find_unrolled()

    def _find_scattered(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Find the gates whose inputs are all inverted moves of roles with many moves.

        Returns a mask of these gates, and the moves that other gates also read. Scattering does not pay if
        other gates read as many moves as these gates have inputs. Then the function selects nothing.
        """
        network = self._network
        is_scattered = np.zeros(network.gates, np.bool_)
        is_scattered[self._order.moves] = ~self._order.is_cyclic[self._order.moves]
        is_move = np.zeros(2 * network.nodes, np.bool_)
        is_move[2 * (network.first_action + np.array(list(self._layout.factors), np.int64)) + 1] = True
        lengths = np.diff(self._starts)
        is_scattered[np.repeat(np.arange(network.gates), lengths)[~is_move[network.inputs]]] = False
        of_others = np.repeat(~is_scattered, lengths)
        nodes = distinct(np.concatenate([network.inputs[of_others], network.next]) >> 1)
        alone = nodes[is_move[2 * nodes + 1]] - network.first_action
        if len(of_others) - of_others.sum() <= len(alone):
            return np.zeros(network.gates, np.bool_), alone[:0]
        return is_scattered, alone

    def _runs_of(self, units: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        plain, inverted = self._shapes[units].T
        shapes = np.where(
            self._order.is_cyclic[units], -1, (self._masks[units] << _SHIFT | plain) << _SHIFT | inverted
        )
        return runs_of_shapes(self._network, units, shapes, _WINDOW)

    def _find_unrolled(self) -> dict[tuple[int, int], int]:
        plain, inverted = self._shapes[self._gates_of(self._runs)].T
        small = plain + inverted <= _MOST_UNROLLED
        distinct_shapes, counts = np.unique(plain[small] << _SHIFT | inverted[small], return_counts=True)
        many = distinct_shapes[counts >= _MANY].tolist()
        low = (1 << _SHIFT) - 1
        return {(shape >> _SHIFT, shape & low): len(Operation) + number for number, shape in enumerate(many)}

    def write(self) -> GateCode:
        """Return the data with the functions that read the data."""
        self._allocate()
        # Fluents that exchange values need additional rows.
        self._bits = 16 if self._end + self._network.fluents <= _NARROW_ROWS else 32
        self._find_known()
        self._write_runs(self._state_runs)
        # Copy the legality of actions to the rows that the move selection reads.
        for mask, actions in self._layout.by_phases(self._layout.copies).items():
            rows = np.array([self._layout.legal[action] for action in actions])
            self._copy(self._bits_of(self._network.legal[actions]), rows, during=mask)
        ends = [len(self._operations)]
        self._write_runs(self._goal_runs)
        ends.append(len(self._operations))
        self._write_known(np.arange(self._network.first_action, self._base))
        factors = bool(self._is_scattered.any())
        if factors:
            self._write_scattered()
        self._write_runs(self._move_runs)
        self._write_settings()
        ends.append(len(self._operations))
        first = self._written
        places_of = [first + OPERATION_WORDS * end for end in (0, *ends)]
        words = np.array([word for operation in self._operations for word in operation], np.int64)
        code, shared = loop_functions(
            self._phases, self._bits, list(self._unrolled), places_of, self._target, factors=factors
        )
        data = np.concatenate([*self._entries, words, [0]]).astype(np.int32)
        return GateCode(code, data, self._end, factors, shared)

    def _literals(self, gates: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        lengths = self._starts[gates + 1] - self._starts[gates]
        return self._network.inputs[places(self._starts[gates], lengths)], lengths

    @property
    def _runs(self) -> list[NDArray[np.int64]]:
        return [*self._state_runs, *self._goal_runs, *self._move_runs]

    def _sizes(self, runs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        heads = np.array([run[0] for run in runs], np.int64)
        return np.array(list(map(len, runs)), np.int64) + self._order.ends[heads] - heads - 1

    def _gates_of(self, runs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        return self._order.gates(np.concatenate([*runs, np.zeros(0, np.int64)]))

    def _allocate(self) -> None:
        network = self._network
        runs = self._runs
        choice = len(runs) - len(self._move_runs)  # the code reads legality before this run
        if self._is_scattered.any():
            runs.insert(choice, self._order.moves[self._is_scattered[self._order.moves]])
        gates = self._gates_of(runs)
        times = np.repeat(np.arange(len(runs)), self._sizes(runs))
        read, lengths = self._literals(gates)
        last = np.full(network.nodes, -1, np.int64)
        last[read >> 1] = np.repeat(times, lengths)  # NumPy keeps the last of several values
        legal = network.legal >> 1  # the code may copy legality at this time
        last[legal] = np.maximum(last[legal], choice)
        last[network.next >> 1] = len(runs)
        waiting = self._place[self._base + gates] < 0
        gates, times = gates[waiting], times[waiting]
        ends = np.maximum(last[self._base + gates], times)
        rows, self._end = linear_scan(zip(times.tolist(), ends.tolist(), strict=True), self._end)
        self._place[self._base + gates] = 2 * np.array(rows, np.int64)

    def _bits_of(self, literals: NDArray[np.int32]) -> NDArray[np.int64]:
        bits: NDArray[np.int64] = self._place[literals >> 1] ^ (literals & 1)
        return bits

    def _find_known(self) -> None:
        """Find the nodes that the code reads in phases in which they are constant, and so not computed."""
        network, phases = self._network, self._phases
        self._known = np.zeros(network.nodes, np.int64)
        if not phases.patterns:
            return
        written = np.array([*[-1] * network.first_action, *self._layout.chosen, *phases.gates], np.int64)
        gates = self._gates_of(self._runs)
        read, lengths = self._literals(gates)
        masks = np.repeat(self._masks[gates], lengths)
        np.bitwise_or.at(self._known, read >> 1, masks & ~written[read >> 1])
        goals = [literal >> 1 for role in network.goals for _, literal in role]
        outputs = np.array([network.terminal >> 1, *goals], np.int64)
        for nodes, masks in (
            (outputs, np.full(len(outputs), phases.every)),
            (network.legal >> 1, np.array(self._layout.chosen, np.int64)),
            (network.next >> 1, np.array(phases.changes, np.int64)),
        ):
            np.bitwise_or.at(self._known, nodes, masks & ~written[nodes])

    def _write_known(self, nodes: NDArray[np.int64]) -> None:
        nodes = nodes[self._known[nodes] != 0]
        left_out = dict(zip(nodes.tolist(), self._known[nodes].tolist(), strict=True))
        for (mask, value), known in self._phases.known_values(left_out).items():
            rows = self._place[known] >> 1
            self._copy(np.full_like(rows, value), rows, only=mask)

    def _write_runs(self, runs: Sequence[NDArray[np.int64]]) -> None:
        gates = self._gates_of(runs)
        literals, lengths = self._literals(gates)
        bits = self._bits_of(literals)
        number = np.arange(len(gates))
        # A run lists, for each gate, its plain inputs, its inverted inputs and its own row.
        keys = np.concatenate([4 * np.repeat(number, lengths) + (bits & 1), 4 * number + 2])
        rows = np.concatenate([bits, self._place[self._base + gates]])[np.argsort(keys, kind="stable")] >> 1
        begins = starts_of(lengths + 1)
        first = 0
        for run, end in zip(runs, np.cumsum(self._sizes(runs)).tolist(), strict=True):
            head, mask = int(run[0]), int(self._masks[run[0]])
            self._write_known(self._base + gates[first:end])
            if self._order.is_cyclic[head]:
                self._write_cycle(gates[first:end], mask)
            else:
                plain, inverted = self._shapes[head].tolist()
                self._add_run(rows[begins[first] : begins[end]], (plain, inverted), during=mask)
            first = end

    def _write_scattered(self) -> None:
        """Scatter moves to the gates that they refute, and to the rows of moves that other gates read."""
        gates = np.flatnonzero(self._is_scattered)
        literals, lengths = self._literals(gates)
        refuted = self._place[self._base + gates] >> 1
        rows = np.concatenate([np.repeat(refuted, lengths), self._layout.actions + self._read_alone])
        actions = np.concatenate([(literals >> 1) - self._network.first_action, self._read_alone])
        alone = rows[len(literals) :]
        self._copy(np.ones_like(refuted), refuted, during=self._phases.every)
        self._copy(np.zeros_like(alone), alone, during=self._phases.every)
        self._scatter(actions, rows, np.arange(len(rows)) >= len(literals))

    def _scatter(self, actions: NDArray[np.int64], rows: NDArray[np.int64], sets: NDArray[np.bool_]) -> None:
        """Add the data for scattering actions; see ``loop_functions`` for the format.

        In lanes that choose ``actions[n]``, the code sets row ``rows[n]`` if ``sets[n]``, or clears the row.
        """
        order = np.lexsort((sets, actions))
        actions, rows, sets = actions[order], rows[order], sets[order]
        moves, counts = np.unique(actions, return_counts=True)
        set_counts = np.bincount(np.searchsorted(moves, actions), sets, len(moves)).astype(np.int64)
        factors = np.array([self._layout.factors[move] for move in moves.tolist()])
        begins = np.flatnonzero(np.diff(factors[:, 0], prepend=-1))
        heads = np.zeros(len(moves), np.int64)
        heads[begins] = 2
        lengths = 3 + counts
        firsts = np.cumsum(heads + lengths) - lengths
        words = np.zeros(int(firsts[-1] + lengths[-1]), np.int64)
        here = self._written
        words[firsts[begins] - 2] = factors[begins, 0] * self._stride
        ends = np.append(firsts[begins[1:]] - 2, len(words))
        words[firsts[begins] - 1] = here + ends
        words[firsts] = factors[:, 1] * self._stride
        words[firsts + 1] = counts - set_counts
        words[firsts + 2] = set_counts
        words[places(firsts + 3, counts)] = rows * self._stride
        self._append(words)
        masks = [self._layout.chosen[move] for move in moves[begins].tolist()]
        starts = (here + firsts[begins] - 2).tolist()
        for mask, run in groupby(range(len(masks)), key=masks.__getitem__):
            groups = list(run)
            bounds = [starts[groups[0]], here + int(ends[groups[-1]])]
            self._operations.append([Operation.SCATTER, mask, 0, 0, *bounds, 0, 0])

    def _copy(
        self, bits: NDArray[np.int64], rows: NDArray[np.int64], *, during: int = 0, only: int = 0
    ) -> None:
        for inverted in (0, 1):
            copies = np.stack((bits >> 1, rows), axis=1)[bits & 1 == inverted]
            if len(copies):
                self._add_run(copies, (1 - inverted, inverted), during=during, only=only)

    def _add_run(
        self, rows: NDArray[np.int64], shape: tuple[int, int], *, during: int = 0, only: int = 0
    ) -> None:
        """Add a run. Per gate, ``rows`` has the rows of its plain inputs, its inverted inputs and itself."""
        begin = self._written * (32 // self._bits)
        words = np.zeros(-(-rows.size * self._bits // 32), np.int32)
        words.view(np.uint16 if self._bits == 16 else np.int32)[: rows.size] = rows.reshape(-1)
        self._append(words)
        kind = self._unrolled.get(shape, Operation.RUN)
        self._operations.append([kind, during, only, 0, begin, begin + rows.size, *shape])

    def _write_cycle(self, gates: NDArray[np.int64], mask: int) -> None:
        rows = self._place[self._base + gates] >> 1
        self._copy(self._network.initially[gates].astype(np.int64), rows, during=mask)
        literals, lengths = self._literals(gates)
        is_last = np.zeros(len(literals), np.int64)
        is_last[np.cumsum(lengths) - 1] = 1
        targets = np.repeat(rows * self._stride, lengths) | is_last
        bits = self._bits_of(literals)
        self._operate(Operation.CYCLE, bits, targets, during=mask, rounds=len(gates) + 1)

    def _append(self, words: NDArray[np.int32 | np.int64]) -> None:
        self._entries.append(words)
        self._written += len(words)

    def _operate(
        self,
        kind: Operation,
        bits: NDArray[np.int64],
        targets: NDArray[np.int64],
        *,
        during: int = 0,
        restarting: int = 0,
        rounds: int = 0,
    ) -> None:
        """Add an operation, with the bit literal to read and the target of each entry.

        The code does the operation if ``during`` contains the lanes' common phase, or without a common phase.
        If a lane restarts, a common phase in ``restarting`` suffices, too.
        """
        begin = self._written
        sources = (bits >> 1) * self._stride | bits & 1
        self._append(np.stack((sources, targets), axis=1).reshape(-1))
        if during or restarting:
            words = [kind, during, restarting, restarting > 0, begin, self._written, rounds, 0]
            self._operations.append(words)

    def _write_settings(self) -> None:
        network, phases = self._network, self._phases
        rings = list(copy_order(dict(enumerate(((network.next >> 1) - 1).tolist()))))
        copied = [fluent for ring in rings if len(ring) > 1 for fluent in ring]
        rows = np.arange(self._end, self._end + len(copied))
        bits = self._bits_of(network.next)
        self._copy(bits[copied], rows, during=phases.every)
        bits[copied] = 2 * rows
        self._end += len(copied)
        fluents = [fluent for ring in rings for fluent in ring]
        own = self._layout.fluents + np.arange(network.fluents)
        targets = own * self._stride | network.initial
        for mask, run in groupby(fluents, key=phases.changes.__getitem__):
            changing = list(run)
            self._operate(Operation.SET, bits[changing], targets[changing], during=mask)
        for mask in sorted({phases.every & ~mask for mask in phases.changes}):
            constant = [fluent for fluent in fluents if phases.every & ~phases.changes[fluent] == mask]
            self._operate(Operation.SET, 2 * own[constant], targets[constant], restarting=mask)
