"""Random playouts on a graphics card: thousands of warps, each of which plays a block of 2,048 games."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.cards import code
from anygame.cards.card import CardMemory
from anygame.errors import DeviceError
from anygame.network.block import StuckPlayout, start_state
from anygame.network.kernels import playout_loop as words
from anygame.network.kernels.function import RANDOM, RUNNING
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.target import WIDE
from anygame.network.kernels.uniform_choice import seeds_of_blocks
from anygame.network.simulator import Quotas, Run, next_steps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from anygame.cards.card import Card
    from anygame.network.block import DeadEnd
    from anygame.network.kernels.kernel import Kernel, Style
    from anygame.network.network import Network
    from anygame.playouts import PlayoutRequest, Tally

#: Number of blocks of a simulation, unless a block would have too few or too many playouts. A card runs 1,000
#: to 4,000 warps at a time.
_BLOCKS = 1 << 12
#: Minimum and maximum number of playouts in a block.
_SMALL_BLOCK, _FULL_BLOCK = 1 << 11, 1 << 26
#: Number of threads in a thread block of the card: four warps.
_THREADS: Final = 128
#: Maximum fraction of the card's free memory that a simulation allocates.
_SHARE: Final = 0.8
#: Target duration in seconds of a launch. Interrupts are only noticed between launches.
_LAUNCH_SECONDS: Final = 0.1
#: Number of steps of the first launch.
_FIRST_STEPS: Final = 16
#: Maximum number of launches after an interrupt. The simulation then abandons the running playouts.
_LAST_LAUNCHES = 5
_WARP, _LANES_OF_A_THREAD = WIDE.row_words, 64


class WarpSimulator:
    """Plays random matches of a game on a graphics card, 2,048 matches per warp.

    The result does not depend on the card. A processor gets the same tally with blocks of the same width
    (``build_kernel(network, "loop", target=WIDE)``).
    """

    def __init__(self, network: Network, card: Card, style: Style = "auto") -> None:
        self.card = card
        self.kernel = code.card_kernel(network, style)
        ptx, self.data = code.warp_code(self.kernel)
        card.use()
        self.function = card.load(ptx, [code.ENTRY], code.REGISTERS[self.kernel.style])[code.ENTRY]

    @staticmethod
    def quotas(playouts: int) -> Quotas:
        """Return the number of playouts of each block."""
        return Quotas(playouts, _BLOCKS, _SMALL_BLOCK, _FULL_BLOCK)

    @property
    def bytes(self) -> int:
        """Size in bytes of a block on the card."""
        return self.kernel.end * WIDE.stride + code.RECORD_WORDS * WIDE.stride + 8 * code.STATUS_WORDS

    def run(self, request: PlayoutRequest, start: ArrayLike | None = None) -> Tally[DeadEnd]:
        """Play random matches; see ``Simulator.run``.

        Also raises DeviceError if the driver reports an error, or the card has too little free memory.
        """
        state = start_state(self.kernel.network, start)
        self.card.use()
        return _CardRun(self, request, state).go()


class _CardRun(Run):
    def __init__(self, simulator: WarpSimulator, request: PlayoutRequest, state: NDArray[np.bool_]) -> None:
        super().__init__(simulator.kernel, request, state, simulator.quotas(request.playouts))
        self._simulator = simulator
        counters = self._kernel.counters
        self._totals = np.zeros(counters.end - counters.first, np.uint64)
        self._lengths = np.zeros(request.limit + 2, np.int64)

    def go(self) -> Tally[DeadEnd]:
        return self._play([self._play_blocks], 1)

    def _play_blocks(self) -> None:
        simulator, request = self._simulator, self._request
        card = simulator.card
        card.use()
        room = int(_SHARE * card.free_bytes) // simulator.bytes
        if not room:
            raise DeviceError(
                f"{card.name} has too little free memory: 2,048 games need {simulator.bytes:,} bytes"
            )
        lengths = CardMemory(card, 1, 8 * (request.limit + 2))
        data = CardMemory.of(card, simulator.data)
        start = CardMemory.of(card, -self._state.astype(np.int64))
        for first in range(self._blocks.start, self._blocks.stop, room):
            blocks = range(first, min(first + room, self._blocks.stop))
            if self._interrupts or (request.strict and self._first_stuck):
                self._complete = False
                break
            warps = _Warps(simulator, blocks, (data.address, lengths.address, start.address))
            self._begin(warps)
            self._play_warps(warps)
            self._count(warps)
            del warps  # free their memory for the next blocks
        self._lengths = lengths.read((1, request.limit + 2), np.int64)[0]

    def _begin(self, warps: _Warps) -> None:
        quotas = np.array([self._quotas[block] for block in warps.blocks], np.int64)
        lanes = np.minimum(quotas, WIDE.lanes)
        seeds = seeds_of_blocks(self._request.seed, warps.blocks, WIDE.row_words)
        warps.rows.write(seeds, RANDOM * WIDE.stride)
        running = np.packbits(np.arange(WIDE.lanes) < lanes[:, None], axis=1, bitorder="little")
        warps.rows.write(running, RUNNING * WIDE.stride)
        first = self._kernel.layout.fluents
        for fluent in np.flatnonzero(self._state).tolist():
            warps.rows.fill((first + fluent) * WIDE.stride, WIDE.stride, 0xFFFFFFFF)
        elsewhere = not np.array_equal(self._state, self._kernel.network.initial)
        limit = self._request.limit
        for word, value in (
            (words.LEFT, quotas - lanes),
            (words.LIMIT, limit),
            (words.DEADLINE, limit),
            (words.ELSEWHERE, elsewhere),
        ):
            of_blocks = np.broadcast_to(np.int64(value), len(quotas))
            warps.records.write(np.repeat(of_blocks[:, None], _WARP, axis=1), word * WIDE.stride)

    def _play_warps(self, warps: _Warps) -> None:
        """Launch the blocks until all their playouts have ended, or the simulation abandons them."""
        known = self._started + sum(self._quotas[block] for block in warps.blocks)
        steps, last_start, launches_left = _FIRST_STEPS, None, _LAST_LAUNCHES
        while True:
            began = time.perf_counter()
            status = warps.launch(steps)
            seconds = time.perf_counter() - began
            left = int(status[:, code.STILL_LEFT].sum())
            self._started = known - left
            stuck = np.flatnonzero(status[:, code.GOT_STUCK])
            is_done = bool(status[:, code.DONE].all())
            found = self._request.strict and len(stuck) and status[: stuck[0], code.DONE].all()
            if is_done or self._interrupts > 1 or found or not launches_left:
                break
            launches_left -= bool(self._interrupts)
            if self._interrupts and left:
                self._complete = False
                known -= left
                last_start = int(warps.words(words.NOW).max())
                warps.records.fill(words.LEFT * WIDE.stride, WIDE.stride, 0)
            steps = next_steps(steps, seconds, _LAUNCH_SECONDS)
        if not is_done:
            self._abandoned += int(status[:, code.UNDER_WAY].sum())
            self._complete = False
        self._stuck += int(status[:, code.GOT_STUCK].sum())
        if len(stuck) and self._first_stuck is None:
            self._first_stuck = _first_stuck(warps, int(stuck[0]), last_start)

    def _count(self, warps: _Warps) -> None:
        counters = self._kernel.counters
        shape = (len(warps.blocks), len(self._totals), WIDE.row_words)
        counted = warps.rows.read(shape, np.uint64, counters.first * WIDE.stride)
        self._totals += counted.sum(axis=(0, 2), dtype=np.uint64)

    def _counted(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        return self._totals, self._lengths

    def _replaying(self) -> Kernel:
        return build_kernel(self._kernel.network, "loop", target=WIDE)


def _first_stuck(warps: _Warps, block: int, last_start: int | None) -> StuckPlayout:
    """Return the first stuck playout of a block; each thread has recorded its own first stuck playout."""
    some, steps, lanes, lengths = (
        warps.words(word)[block]
        for word in (words.STUCK_LANES, words.STUCK_STEP, words.STUCK_LANE, words.STUCK_LENGTH)
    )
    thread = int(np.where(some > 0, steps, np.iinfo(np.int64).max).argmin())
    lane = _LANES_OF_A_THREAD * thread + int(lanes[thread])
    return StuckPlayout(warps.blocks[block], int(steps[thread]), lane, int(lengths[thread]), last_start)


class _Warps:
    def __init__(self, simulator: WarpSimulator, blocks: range, shared: tuple[int, int, int]) -> None:
        self.blocks = blocks
        self._simulator = simulator
        self._shared = shared
        widths = (simulator.kernel.end * WIDE.stride, code.RECORD_WORDS * WIDE.stride, 8 * code.STATUS_WORDS)
        self.rows, self.records, self._status = (
            CardMemory(simulator.card, len(blocks), width) for width in widths
        )

    def launch(self, steps: int) -> NDArray[np.int64]:
        """Play ``steps`` steps; return the status of each block: int64 [blocks, code.STATUS_WORDS]."""
        data, lengths, start = self._shared
        count = len(self.blocks)
        of_rows = (self.rows.address, data, count, self.rows.width)
        rest = (self.records.address, lengths, start, self._status.address, steps)
        groups = -(-count * _WARP // _THREADS)
        self._simulator.card.launch(self._simulator.function, (*of_rows, *rest), groups, _THREADS)
        status: NDArray[np.int64] = self._status.read((count, code.STATUS_WORDS), np.int64)
        return status

    def words(self, number: int) -> NDArray[np.int64]:
        """Return a word of all threads' records: int64 [blocks, threads]."""
        shape = (len(self.blocks), _WARP)
        found: NDArray[np.int64] = self.records.read(shape, np.int64, number * WIDE.stride)
        return found
