"""A block: 512 simultaneous games that play a given number of playouts, reproducibly.

Blocks on graphics cards have 2,048 games. A processor can play blocks of this size, too.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from anygame.network.kernels import playout_loop as words
from anygame.network.kernels.function import ABSENT, GO, IDLE, RANDOM, RUNNING
from anygame.network.kernels.layout import GROUP
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from anygame.network.kernels.kernel import Kernel
    from anygame.network.network import Network
    from anygame.playouts import PlayoutRequest


_ALL = np.uint64((1 << 64) - 1)


class Block:
    """Memory in which a thread plays blocks one after the other; the methods call machine code.

    Args:
        kernel: the code of the game.
        limit: number of joint moves after which a playout is cut.
        whole: whether to compute all gates, including gates that the current phase does not need.

    Attributes:
        rows: uint64 [rows, words]; see ``layout.RowLayout``. The counters are sums over all blocks so far.
        lengths: int64 [limit + 2]; element ``n`` counts the playouts of ``n`` joint moves in all blocks. The
            last element counts the playouts that were cut.
    """

    def __init__(self, kernel: Kernel, limit: int, whole: bool = False) -> None:
        self._kernel = kernel
        self._limit = limit
        self._whole = whole
        #: For each role, the number of its first action, and of the next role's first action.
        self._actions = list(pairwise(accumulate(kernel.network.actions, initial=0)))
        self._record = np.zeros(words.STARTS + kernel.target.lanes, np.int64)
        self._start = np.zeros(kernel.network.fluents, np.int64)
        self.rows = kernel.rows()
        self.lengths = np.zeros(limit + 2, np.int64)
        arrays = (self.rows, kernel.data, self._record, self.lengths, self._start)
        self._pointers = tuple(array.ctypes.data for array in arrays)

    def begin(self, number: int, quota: int, seed: int, state: NDArray[np.bool_]) -> None:
        """Prepare to play the ``quota`` playouts of a block, at least one, from a state: bool [fluents]."""
        kernel, rows, record = self._kernel, self.rows, self._record
        lanes = min(quota, kernel.target.lanes)
        rows[kernel.layout.fluent_rows] = np.where(state, _ALL, np.uint64(0))[:, None]
        rows[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, number, kernel.target.row_words)
        rows[IDLE] = 0
        rows[RUNNING] = np.packbits(np.arange(kernel.target.lanes) < lanes, bitorder="little").view(np.uint64)
        record[:] = 0
        self._start[:] = -state.astype(np.int64)
        record[words.ELSEWHERE] = not np.array_equal(state, kernel.network.initial)
        record[words.LEFT] = quota - lanes
        record[[words.LIMIT, words.DEADLINE]] = self._limit
        record[words.WHOLE] = self._whole

    def play(self, steps: int) -> bool:
        """Play a positive number of steps; return whether all playouts have ended."""
        return bool(self._kernel.library["play"](*self._pointers, steps))

    def start_no_more(self) -> None:
        """Start no more playouts."""
        self._record[words.LEFT] = 0

    @property
    def left(self) -> int:
        """Number of playouts that have not started."""
        return int(self._record[words.LEFT])

    @property
    def step(self) -> int:
        """Number of steps that the block has played."""
        return int(self._record[words.NOW])

    @property
    def running(self) -> int:
        """Number of playouts under way."""
        return int(np.bitwise_count(self.rows[RUNNING]).sum())

    @property
    def stuck(self) -> int:
        """Number of playouts that ended because a role had no legal move."""
        return int(self._record[words.STUCK_LANES])

    @property
    def first_stuck(self) -> tuple[int, int, int]:
        """Step, lane and length of the first playout that got stuck."""
        record = self._record
        return int(record[words.STUCK_STEP]), int(record[words.STUCK_LANE]), int(record[words.STUCK_LENGTH])

    def length(self, lane: int) -> int:
        """Return the number of joint moves of a lane's playout."""
        return self.step - int(self._record[words.STARTS + lane])

    def state(self, lane: int) -> NDArray[np.bool_]:
        """Return the state of a lane: bool [fluents]."""
        return self._column(self._kernel.layout.fluent_rows, lane)

    def joint_move(self, lane: int) -> tuple[int, ...] | None:
        """Return the last joint move of a lane, an action per role, or None if the lane made no move."""
        if not self._column(slice(GO, GO + 1), lane)[0]:
            return None
        does = self._column(self._kernel.layout.action_rows, lane)
        layout, joint = self._kernel.layout, []
        for first, end in self._actions:
            if self._record[words.FACTORS] and first in layout.factors:
                groups, members = layout.factors[first]
                group = self._column(slice(groups, groups + -(-(end - first) // GROUP)), lane).argmax()
                member = self._column(slice(members, members + GROUP), lane).argmax()
                joint.append(int(GROUP * group + member))
            else:
                joint.append(int(does[first:end].argmax()))
        return tuple(joint)

    def role_without_a_move(self, lane: int) -> int:
        """Return the first role without a legal move in the state of a lane."""
        self.rows[ABSENT] = 0
        self._kernel.library["evaluate_state"](*self._pointers[:2])
        bits = np.array(self._kernel.gates.legal, np.int64)
        legal = self._column(bits >> 1, lane) ^ (bits & 1 == 1)
        return [bool(legal[first:end].any()) for first, end in self._actions].index(False)

    def _column(self, rows: slice | NDArray[np.int64], lane: int) -> NDArray[np.bool_]:
        return (self.rows[rows, lane // 64] >> np.uint64(lane % 64) & np.uint64(1)).astype(np.bool_)


#: Number of steps per call during a replay. The program notices interrupts only between calls.
_STEPS = 256
#: Number of steps that a lane is assumed to have waited, in the first replay of a playout. If the lane waited
#: longer, which is rare, the next replay assumes ``_MORE`` times as many steps.
_SLACK, _MORE = 32, 8


@dataclass(frozen=True, eq=False)
class DeadEnd:
    """A playout that ended because a role had no legal move in the last state.

    ``role`` is the first role without a legal move, and ``state``, bool [fluents], is the last state.
    ``moves`` are the joint moves: per role the number of an action, counted from the role's first action.
    """

    role: int
    state: NDArray[np.bool_]
    moves: tuple[tuple[int, ...], ...]


class StuckError(Exception):
    """A role has no legal move in a state that is not terminal; ``stuck`` is the playout with this state."""

    def __init__(self, stuck: DeadEnd) -> None:
        super().__init__(f"role {stuck.role} has no legal move in a state that is not terminal")
        self.stuck = stuck


@dataclass(frozen=True, slots=True)
class StuckPlayout:
    """Where a playout got stuck. After an interrupt, playouts started up to step ``last_start`` only."""

    block: int
    step: int
    lane: int
    length: int
    last_start: int | None


def start_state(network: Network, start: ArrayLike | None) -> NDArray[np.bool_]:
    """Return the state to start from: bool [fluents]. Raises ValueError if ``start`` has the wrong shape."""
    state = np.asarray(network.initial if start is None else start, np.bool_)
    if state.shape != (network.fluents,):
        raise ValueError(f"expected a start state of {network.fluents} fluents, got shape {state.shape}")
    return state


def replayed(
    playout: StuckPlayout, kernel: Kernel, quota: int, state: NDArray[np.bool_], request: PlayoutRequest
) -> DeadEnd | None:
    """Replay a stuck playout; return None after an interrupt. Raises StuckError if the request is strict."""
    with suppress(KeyboardInterrupt):
        stuck = _replay(playout, Block(kernel, request.limit, whole=True), quota, state, request.seed)
        if request.strict:
            raise StuckError(stuck)
        return stuck
    return None


def _replay(playout: StuckPlayout, block: Block, quota: int, state: NDArray[np.bool_], seed: int) -> DeadEnd:
    # Machine code does not record moves, but a replay of the block makes the same moves.
    slack = _SLACK
    while True:
        block.begin(playout.block, quota, seed, state)
        first = max(0, playout.step - playout.length - slack)
        _advance(block, first, playout.last_start)
        moves: list[tuple[int, ...]] = []
        while block.step < playout.step:
            _advance(block, block.step + 1, playout.last_start)
            joint = block.joint_move(playout.lane)
            if not block.length(playout.lane):
                moves.clear()
            elif joint is not None:
                moves.append(joint)
        if len(moves) == playout.length:
            state = block.state(playout.lane)
            return DeadEnd(block.role_without_a_move(playout.lane), state, tuple(moves))
        assert first, "replaying the block did not reproduce the stuck playout"
        slack *= _MORE


def _advance(block: Block, step: int, last_start: int | None) -> None:
    while block.step < step:
        if block.step == last_start:
            block.start_no_more()
        stops = [step, block.step + _STEPS]
        if last_start is not None and last_start > block.step:
            stops.append(last_start)
        block.play(min(stops) - block.step)
