"""Random playouts by the million: blocks of 512 games, each with its own quota and random numbers."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels.code import LANES
from anygame.network.kernels.emit import Program, emit
from anygame.network.kernels.generator import STATE_ROWS, seed_rows
from anygame.network.kernels.playing import BLOCK_WORDS, DEADLINE, DONE, ELSEWHERE, LEFT, LIMIT, STUCK
from anygame.network.kernels.rows import ACTIVE, RANDOM, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.emit import Style
    from anygame.network.network import Network

__all__ = ["Counts", "Simulator", "StuckError"]

_ALL = np.uint64((1 << 64) - 1)
#: A call of machine code takes about so long; then the interpreter looks for an interrupt, and progress is
#: told.
_CALL_SECONDS = 0.05
_FIRST_STEPS = 64
#: Playouts per block: at first few blocks, for threads; then full ones, since the last playouts of a block
#: leave lanes empty.
_SMALL_BLOCK, _FULL_BLOCK, _BLOCKS = 8192, 1 << 18, 16
_LONGEST_LIMIT = 10_000_000


class StuckError(Exception):
    """A role has no legal move in a state that is not terminal.

    Attributes:
        role: its number.
        lane: the game in which it happened.
        state: bool [fluents]; the state.
    """

    def __init__(self, role: int, lane: int, state: NDArray[np.bool_]) -> None:
        super().__init__(f"role {role} has no legal move in a state that is not terminal (lane {lane})")
        self.role = role
        self.lane = lane
        self.state = state


@dataclass
class Counts:
    """What happened in random playouts. All counts are exact.

    Attributes:
        playouts: how many ended by the rules.
        states: joint moves made, in all playouts that were started.
        goal_counts: per role how many playouts ended with each value alone.
        missing: per role how many ended without a value.
        doubled: per role how many ended with several values.
        lengths: int64 array; at ``n`` how many playouts ended after ``n`` joint moves.
        legal: per role the sum of its numbers of legal moves over the joint moves made.
        cut: how many reached the limit of moves and were given up.
        abandoned: how many were under way when a second interrupt stopped them.
        interrupted: whether fewer playouts were started than asked for.
        seconds: how long it took, compilation excluded.
    """

    playouts: int = 0
    states: int = 0
    goal_counts: list[dict[int, int]] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    doubled: list[int] = field(default_factory=list)
    lengths: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    legal: list[int] = field(default_factory=list)
    cut: int = 0
    abandoned: int = 0
    interrupted: bool = False
    seconds: float = 0.0


class Simulator:
    """Plays a game at random, 512 games at a time.

    Args:
        network: the compiled game, or the program of one.
        style: how the gates are written; see ``emit``.

    >>> import numpy as np
    >>> from anygame.network.network import Network
    >>> coin = Network(  # one fluent per side; one role that picks a side, which ends the game
    ...     fluents=2, actions=(2,), starts=np.array([0, 2], np.int32), inputs=np.array([3, 5], np.int32),
    ...     state_gates=1, cycles=(), initially=np.array([False]), initial=np.array([False, False]),
    ...     legal=np.array([1, 1], np.int32), terminal=11, goals=(((0, 2), (100, 4)),),
    ...     next=np.array([6, 8], np.int32),
    ... )
    >>> counts = Simulator(coin).run(10_000, seed=1)
    >>> counts.playouts, counts.lengths.tolist(), sum(counts.goal_counts[0].values())
    (10000, [0, 10000], 10000)
    """

    def __init__(self, network: Network | Program, style: Style = "auto") -> None:
        self._program = network if isinstance(network, Program) else emit(network, style)
        self.network = self._program.network

    @property
    def bytes(self) -> int:
        """Bytes that one thread needs, the histogram of lengths aside."""
        return self._program.block_bytes + self._program.gates.data.nbytes

    def describe(self) -> dict[str, int | str]:
        """Return figures of the code: style, gates, rows, bytes of a block, functions, characters."""
        program = self._program
        return {
            "style": program.style,
            "gates": self.network.gates,
            "inputs": len(self.network.inputs),
            "lanes": LANES,
            "rows": program.end,
            "bytes": self.bytes,
            "functions": program.gates.functions,
            "text": len(program.code),
        }

    @property
    def is_compiled(self) -> bool:
        """Whether the machine code is there, or kept from an earlier process."""
        return self._program.is_compiled

    def compile(self) -> bool:
        """Make the machine code ready; return whether it was found and need not be made."""
        return bool(self._program.library.cached)

    def run(
        self,
        playouts: int,
        seed: int = 0,
        threads: int = 1,
        start: ArrayLike | None = None,
        limit: int = 10_000,
        progress: Callable[[int], None] | None = None,
    ) -> Counts:
        """Play.

        The result depends on the arguments except ``threads``. An interrupt (Ctrl-C) starts no more playouts,
        and finishes those under way, so that short ones are not favoured; a second one gives up at once.

        Args:
            playouts: how many to start.
            seed: any integer.
            threads: how many to use.
            start: bool [fluents]; the state to start from, None for the initial one.
            limit: joint moves after which a playout is given up.
            progress: called about ten times a second with the number of playouts that were started.

        Raises:
            StuckError: a role has no legal move.
            ValueError: a number is out of range, or ``start`` has another shape.
        """
        for name, value, least, most in (
            ("playouts", playouts, 0, 1 << 60),
            ("threads", threads, 1, 4096),
            ("limit", limit, 0, _LONGEST_LIMIT),
        ):
            if not least <= value <= most:
                raise ValueError(f"expected {name} from {least} to {most}, got {value}")
        state = np.asarray(self.network.initial if start is None else start, np.bool_)
        if state.shape != (self.network.fluents,):
            raise ValueError(f"expected a start of {self.network.fluents} fluents, got shape {state.shape}")
        self.compile()
        return _Run(self._program, playouts, seed, state, limit).go(threads, progress)


class _Quotas:
    """The playouts of each block, by their number alone."""

    def __init__(self, playouts: int) -> None:
        self._playouts = playouts
        self._count = max(1, min(_BLOCKS, playouts // _SMALL_BLOCK), -(-playouts // _FULL_BLOCK))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, block: int) -> int:
        return self._playouts * (block + 1) // self._count - self._playouts * block // self._count


class _Memory:
    """What one thread plays in, block after block."""

    def __init__(self, program: Program, limit: int) -> None:
        self.rows = program.rows()
        self.record = np.zeros(BLOCK_WORDS + program.network.fluents, np.int64)
        self.lengths = np.zeros(limit + 2, np.int64)


class _Run:
    """The state of a simulation that the threads share."""

    def __init__(
        self, program: Program, playouts: int, seed: int, state: NDArray[np.bool_], limit: int
    ) -> None:
        self._program = program
        self._seed = seed
        self._state = state
        self._limit = limit
        self._quotas = _Quotas(playouts)
        self._lock = threading.Lock()
        self._next = 0
        self._started = 0
        self._interrupts = 0
        self._error: tuple[int, Exception] | None = None
        self._busy = 0
        self._idle = threading.Event()
        self._abandoned = 0
        self._complete = True

    def go(self, threads: int, progress: Callable[[int], None] | None) -> Counts:
        began = time.perf_counter()
        memories = [_Memory(self._program, self._limit) for _ in range(min(threads, len(self._quotas)))]
        self._busy = len(memories)
        try:
            for memory in memories:
                threading.Thread(target=self._work, args=[memory], daemon=True).start()
            self._wait(progress)
        finally:
            # Whatever ended the waiting, nobody plays on behind it.
            self._interrupts += 2 * (not self._idle.is_set())
        if self._error:
            raise self._error[1]
        with contextlib.suppress(KeyboardInterrupt):
            if progress:
                progress(self._started)
        return self._counts(memories, time.perf_counter() - began)

    def _wait(self, progress: Callable[[int], None] | None) -> None:
        told = time.perf_counter()
        while not self._idle.is_set():
            try:
                self._idle.wait(0.1)
                if progress and time.perf_counter() - told > 0.1:
                    told = time.perf_counter()
                    progress(self._started)
            except KeyboardInterrupt:
                self._interrupts += 1

    def _take(self) -> int | None:
        """Return the number of the next block, None where there is none to be played."""
        with self._lock:
            if self._next == len(self._quotas) or self._error or self._interrupts:
                return None
            self._next += 1
            return self._next - 1

    def _work(self, memory: _Memory) -> None:
        while (block := self._take()) is not None:
            try:
                self._play(block, memory)
            except Exception as error:  # for the thread that waits
                with self._lock:
                    if self._error is None or block < self._error[0]:
                        self._error = block, error
        with self._lock:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    def _play(self, block: int, memory: _Memory) -> None:
        rows, record, lengths = memory.rows, memory.record, memory.lengths
        program, quota = self._program, self._quotas[block]
        lanes = min(quota, LANES)
        if not lanes:
            return
        rows[program.places.fluent_rows] = np.where(self._state, _ALL, np.uint64(0))[:, None]
        rows[RANDOM : RANDOM + STATE_ROWS] = seed_rows(self._seed, block)
        rows[RUNNING] = np.packbits(np.arange(LANES) < lanes, bitorder="little").view(np.uint64)
        record[:] = 0
        record[BLOCK_WORDS:] = -self._state.astype(np.int64)
        record[ELSEWHERE] = not np.array_equal(self._state, program.network.initial)
        record[LEFT], record[LIMIT], record[DEADLINE] = quota - lanes, self._limit, self._limit
        pointers = (rows.ctypes.data, program.gates.data.ctypes.data, record.ctypes.data, lengths.ctypes.data)
        play = program.library["play"]
        steps, known = _FIRST_STEPS, 0
        status = 0
        while not status:
            began = time.perf_counter()
            status = play(*pointers, steps)
            seconds = time.perf_counter() - began
            steps = max(1, min(int(steps * _CALL_SECONDS / max(seconds, 1e-6)), steps * 16, 1 << 30))
            left = int(record[LEFT])
            with self._lock:
                self._started += quota - left - known
            known = quota - left
            if self._interrupts and left:
                self._complete = False
                record[LEFT] = 0
                quota -= left
            if self._interrupts > 1 or (self._error and self._error[0] < block):
                break
        if status == STUCK:
            raise self._stuck(rows)
        if status != DONE:
            with self._lock:
                self._abandoned += int(np.bitwise_count(rows[RUNNING]).sum())

    def _stuck(self, rows: NDArray[np.uint64]) -> StuckError:
        program = self._program
        active = _unpack(rows[ACTIVE])
        able = [np.zeros(LANES, np.bool_) for _ in program.candidates]
        for some, role in zip(able, program.candidates, strict=True):
            for bit in role.legal:
                some |= _unpack(rows[bit >> 1]) != bool(bit & 1)
        stuck = np.array([active & ~some for some in able])
        lane = int(stuck.any(axis=0).argmax())
        state = np.array([_unpack(row)[lane] for row in rows[program.places.fluent_rows]], np.bool_)
        return StuckError(int(stuck[:, lane].argmax()), lane, state)

    def _counts(self, memories: Sequence[_Memory], seconds: float) -> Counts:
        counters, gates = self._program.counters, self._program.gates
        counted = [m.rows[counters.first : counters.end].sum(axis=1, dtype=np.uint64) for m in memories]
        totals = np.sum(counted, axis=0).tolist()
        lengths = np.sum([memory.lengths for memory in memories], axis=0)
        playouts = int(lengths[:-1].sum())

        def count(row: int) -> int:
            return int(totals[row - counters.first])

        def holding(bit: int) -> int:
            positive = count(counters.goals[bit >> 1]) if bit > 1 else 0
            return playouts - positive if bit & 1 else positive

        goal_counts = []
        for role, overlaps in zip(gates.goals, counters.overlaps, strict=True):
            values = zip(role, overlaps, strict=True)
            goal_counts.append({value: holding(bit) - count(overlap) for (value, bit), overlap in values})
        reached = np.flatnonzero(lengths[:-1])
        end = int(reached[-1]) + 1 if len(reached) else 1
        return Counts(
            playouts=playouts,
            states=count(counters.moves),
            goal_counts=goal_counts,
            missing=[count(row) for row in counters.missing],
            doubled=[count(row) for row in counters.doubled],
            lengths=lengths[:end].copy(),
            legal=[sum(count(row) << k for k, row in enumerate(rows)) for rows in counters.legal],
            cut=int(lengths[-1]),
            abandoned=self._abandoned,
            interrupted=bool(self._interrupts) and (not self._complete or self._next < len(self._quotas)),
            seconds=seconds,
        )


def _unpack(row: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.unpackbits(row.view(np.uint8), bitorder="little").astype(np.bool_)
