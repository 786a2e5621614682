"""Random playouts in blocks of 512 games; each block has its own random numbers."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.block import Block, DeadEnd, StuckPlayout, replayed, start_state
from anygame.playouts import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.kernel import Kernel
    from anygame.playouts import PlayoutRequest

#: Target duration in seconds of a call of machine code. Interrupts are only noticed between calls. A user
#: does not notice this delay, and the overhead of a call is a few microseconds.
_CALL_SECONDS = 0.05
#: Number of steps of the first call, which is short even in the slowest game. The duration of each call
#: determines the number of steps of the next call.
_FIRST_STEPS = 16
#: Maximum number of calls after an interrupt. The simulation then abandons the running playouts.
_LAST_CALLS = 10
#: Seconds between two progress reports.
_REPORT_SECONDS = 0.1


class Simulator:
    """Plays a game at random, 512 games at a time.

    >>> from anygame.network.kernels.kernel import build_kernel
    >>> from anygame.network.network import Network
    >>> from anygame.playouts import PlayoutRequest
    >>> kernel = build_kernel(Network.example())
    >>> tally = Simulator(kernel).run(PlayoutRequest(10_000, seed=1))
    >>> tally.playouts, tally.lengths, sum(tally.goals[0].values())
    (10000, {1: 10000}, 10000)
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.network = kernel.network

    @staticmethod
    def blocks(playouts: int) -> int:
        """Return the number of blocks of a simulation."""
        return len(Quotas(playouts))

    def run(self, request: PlayoutRequest, start: ArrayLike | None = None) -> Tally[DeadEnd]:
        """Play random matches.

        After an interrupt (Ctrl-C) no more playouts start. Running playouts continue for half a second, so
        that the tally does not favour short playouts. Then, or at a second interrupt, the run abandons them.

        A playout also ends if a role has no legal move, or at the limit. For a playout that ends in one of
        these two ways, the tally counts only the joint moves, in ``states`` and ``options``.

        Args:
            request: number of playouts, seed and limits.
            start: bool [fluents]; the state to start from, None for the initial state.

        Raises:
            StuckError: a role has no legal move, and the request is strict.
            ValueError: ``start`` has the wrong shape.
        """
        state = start_state(self.network, start)
        _ = self._kernel.library  # compile the code before the clock starts
        return _ProcessorRun(self._kernel, request, state).go()


class Quotas:
    """The number of playouts of each block.

    The last playouts of a block leave lanes empty, so a block should have many more playouts than lanes. If
    there are several blocks, each has at least ``small`` playouts. A block has at most ``full`` playouts,
    even if this takes more than ``blocks`` blocks.
    """

    def __init__(self, playouts: int, blocks: int = 16, small: int = 8192, full: int = 1 << 18) -> None:
        self._playouts = playouts
        self._count = max(1, min(blocks, playouts // small), -(-playouts // full))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, block: int) -> int:
        return self._playouts * (block + 1) // self._count - self._playouts * block // self._count


class Run:
    """A running simulation: its request, its counts so far, and its threads."""

    def __init__(
        self, kernel: Kernel, request: PlayoutRequest, state: NDArray[np.bool_], quotas: Quotas
    ) -> None:
        self._kernel = kernel
        self._request = request
        self._state = state
        self._quotas = quotas
        self._blocks = range(len(quotas)) if request.blocks is None else request.blocks
        self._started = self._stuck = self._abandoned = 0
        self._interrupts = 0
        self._error: Exception | None = None
        self._first_stuck: StuckPlayout | None = None
        self._near = 0
        self._complete = True

    def _play(self, works: Sequence[Callable[[], None]], threads: int) -> Tally[DeadEnd]:
        """Run each function in its own thread, count interrupts for the threads, and return the tally."""
        began = time.perf_counter()
        progress = self._request.progress
        working = [threading.Thread(target=self._kept, args=[work], daemon=True) for work in works]
        try:
            for thread in working:
                thread.start()
            while any(thread.is_alive() for thread in working):
                try:
                    next(filter(threading.Thread.is_alive, working), working[0]).join(_REPORT_SECONDS)
                    if progress:
                        progress(self._started)
                except KeyboardInterrupt:
                    self._interrupts += 1
        finally:
            # If an exception other than Ctrl-C ends the loop, make the threads abandon their playouts.
            self._interrupts += 2 * any(thread.is_alive() for thread in working)
        if self._error:
            raise self._error
        seconds = time.perf_counter() - began
        with contextlib.suppress(KeyboardInterrupt):
            if progress:
                progress(self._started)
        totals, lengths = self._counted()
        return replace(
            counted_tally(self._kernel, totals.tolist(), lengths),
            stuck=self._stuck,
            abandoned=self._abandoned,
            interrupted=bool(self._interrupts) and not self._complete,
            seconds=seconds,
            threads=threads,
            first_stuck=self._example(),
        )

    def _kept(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # store the error; the waiting thread raises it
            self._error = error

    def _counted(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the sum of each row of counters, and the sum of ``Block.lengths``."""
        raise NotImplementedError

    def _replaying(self) -> Kernel:
        """Return a processor's kernel whose blocks are as wide as the blocks of this simulation."""
        return self._kernel

    def _example(self) -> DeadEnd | None:
        first = self._first_stuck
        if first is None or self._interrupts > 1 or (self._interrupts and first.step > self._near):
            return None
        return replayed(first, self._replaying(), self._quotas[first.block], self._state, self._request)


def next_steps(steps: int, seconds: float, aim: float) -> int:
    """Return a number of steps that takes about ``aim`` seconds, if ``steps`` steps took ``seconds``."""
    return max(1, min(int(steps * aim / max(seconds, 1e-6)), steps * 16, 1 << 30))


class _ProcessorRun(Run):
    def __init__(self, kernel: Kernel, request: PlayoutRequest, state: NDArray[np.bool_]) -> None:
        super().__init__(kernel, request, state, Quotas(request.playouts))
        self._lock = threading.Lock()
        self._next = self._blocks.start
        count = min(request.threads, max(1, len(self._blocks)))
        self._memory = [Block(kernel, request.limit) for _ in range(count)]

    def go(self) -> Tally[DeadEnd]:
        works = [partial(self._play_blocks, block) for block in self._memory]
        return self._play(works, self._request.threads)

    def _take(self) -> int | None:
        with self._lock:
            ended = self._error or self._interrupts or (self._request.strict and self._first_stuck)
            if self._next >= self._blocks.stop or ended:
                return None
            self._next += 1
            return self._next - 1

    def _play_blocks(self, block: Block) -> None:
        while (number := self._take()) is not None:
            if self._quotas[number]:
                self._play_block(number, block)

    def _play_block(self, number: int, block: Block) -> None:
        quota = self._quotas[number]
        block.begin(number, quota, self._request.seed, self._state)
        steps, started, stuck = _FIRST_STEPS, 0, 0
        last_start: int | None = None
        done, calls_left = False, _LAST_CALLS
        while not done and calls_left:
            began = time.perf_counter()
            done = block.play(steps)
            steps = next_steps(steps, time.perf_counter() - began, _CALL_SECONDS)
            unstarted = block.left
            with self._lock:
                self._started += quota - unstarted - started
                self._stuck += block.stuck - stuck
                if block.stuck and (self._first_stuck is None or number < self._first_stuck.block):
                    self._first_stuck = StuckPlayout(number, *block.first_stuck, last_start)
            started, stuck = quota - unstarted, block.stuck
            if self._interrupts:
                calls_left -= 1
                self._near = steps * _LAST_CALLS
                if unstarted:
                    self._complete = False
                    last_start = block.step
                    quota -= unstarted
                    block.start_no_more()
            first = self._first_stuck
            decided = self._request.strict and first is not None and first.block <= number
            if decided or self._error or self._interrupts > 1:
                break
        if not done:
            with self._lock:
                self._abandoned += block.running
                self._complete = False

    def _counted(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        self._complete &= self._next >= self._blocks.stop
        counters = self._kernel.counters
        rows = np.sum([block.rows[counters.first : counters.end] for block in self._memory], axis=0)
        lengths: NDArray[np.int64] = np.sum([block.lengths for block in self._memory], axis=0)
        return rows.sum(axis=1, dtype=np.uint64), lengths


def counted_tally(kernel: Kernel, totals: Sequence[int], lengths: NDArray[np.int64]) -> Tally[DeadEnd]:
    """Return the tally of playouts, given the sum of each row of counters, and ``Block.lengths``."""
    counters, gates = kernel.counters, kernel.gates
    playouts = int(lengths[:-1].sum())

    def count(row: int) -> int:
        return int(totals[row - counters.first])

    def holding(bit: int) -> int:
        positive = count(counters.goals[bit >> 1]) if bit > 1 else 0
        return playouts - positive if bit & 1 else positive

    goals = []
    for role, overlaps in zip(gates.goals, counters.overlaps, strict=True):
        tallied = Counter[int]()  # add up terms of the same value, such as 100 and 0100
        for (value, bit), overlap in zip(role, overlaps, strict=True):
            tallied[value] += holding(bit) - count(overlap)
        goals.append(dict(tallied))
    reached = np.flatnonzero(lengths[:-1])
    return Tally(
        playouts=playouts,
        states=count(counters.moves),
        goals=goals,
        missing=[count(row) for row in counters.missing],
        double=[count(row) for row in counters.double],
        lengths=dict(zip(reached.tolist(), lengths[reached].tolist(), strict=True)),
        options=[sum(count(row) << k for k, row in enumerate(rows)) for rows in counters.options],
        cut=int(lengths[-1]),
    )
