"""What one thread searches with: two blocks of lanes, the ways of its descents, and what is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anygame.network.kernels.function import RANDOM
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows
from anygame.search.native.marking import (
    BoolRows,
    Bools,
    Bundle,
    Float32s,
    Float64Rows,
    Float64s,
    Int32Rows,
    Int32s,
    Int64Rows,
    Int64s,
    UInt64Rows,
    UInt64s,
)
from anygame.search.tree.estimating import UNITS
from anygame.search.tree.lanes import LANES, words_for
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel

#: Descents that may be under way at a time: each has at least a lane or a place in the queue.
PATHS = 2048
#: A descent goes no deeper: longer matches are searched as they come near.
LONGEST_PATH = 200
#: Leaves expanded in a pass, and children made of them.
JOBS, SPECS = 512, 2048
#: Joint moves of a node up to here are made together when it is expanded; of more, so many.
ALL_CHILDREN, SOME_CHILDREN, MORE_CHILDREN = 512, 128, 16
#: Results of playouts that are noted in a pass.
RESULTS = 4 * LANES
#: Playouts that wait for a lane.
QUEUE = 16384
#: Legal moves that are listed in a pass.
LISTED = 1 << 18

#: ``BRANCHING`` counts children of a job, so many times the mean of late.
SCALE = 64
#: Places in ``Worker.settings``.
EXPLORATION, ROOT_MOVES, VIRTUAL_LOSS, AMAF, MINIMAX = range(5)
#: Places in ``Worker.counts``.
(
    JOB_COUNT,
    SPEC_COUNT,
    RESULT_COUNT,
    QUEUE_FIRST,
    QUEUE_COUNT,
    FREE_PATHS,
    FINISHED,
    IDLE,
    LIMIT,
    STEPS,
    BRANCHING,
    CUT,
) = range(12)


class Worker(NamedTuple):
    """The memory of a thread.

    Attributes:
        counts: int64; how many of each there are.
        random: uint64 [1]; the state of its generator.
        addresses: int64 [2]; of the rows below.
        playing, making: uint64 [rows, 8]; lanes that play at random, and lanes that make children.
        lane_node, lane_path, lane_age: int32 [512]; the node from which a lane plays (NONE: idle), which
            descent led there, and how many moves the playout made.
        lane_joint: int64 [512]; by which joint move.
        queue_node, queue_path, queue_joint: a ring of playouts that wait for lanes.
        result_node, result_path, result_joint, result_value: [512], float64 [512, roles]; of playouts.
        result_made: uint64 [results, words]; a bit for each action that was made in the playout.
        made: uint64 [actions, 8]; the same for playing lanes, as rows; lane_made: uint64 [512, words].
        job_node, job_path: int32 [jobs]; nodes to be expanded.
        job_joint: int64 [jobs]; the joint move that is to be made, NONE to list all moves first.
        job_first, job_count: int32 [jobs, roles]; the legal moves, in ``listed``.
        job_value: float64 [jobs, roles]; what the state itself is worth.
        job_specs: int32 [jobs]; behind the last child of each.
        listed: int32; actions.
        spec_job: int32 [specs]; spec_joint: int64; spec_action: int32 [specs, roles]; children to be made.
        spec_state: uint64 [specs, words]; spec_value: float64 [specs, roles]; spec_known: bool [specs,
            roles], whether the rules give exactly one goal; spec_terminal: bool [specs]; spec_hash: uint64
            [specs].
        path_length, path_references, path_leaves: int32 [paths]; path_sum: float64 [paths, roles]; leaves
            that were evaluated, and their values.
        path_node: int32 [paths, depth]; path_joint: int64 [paths, depth].
        free_paths: int32 [paths]; finished: int32 [paths]; descents whose leaves are all known.
        lanes, sources: int32 [512]; square: uint64 [64]; row: uint64 [8]; value: float64 [roles];
            base, hidden: float32 [units]; scratch.
        settings: float64; see ``selecting``.
    """

    counts: Int64s
    random: UInt64s
    addresses: Int64s
    playing: UInt64Rows
    making: UInt64Rows
    lane_node: Int32s
    lane_path: Int32s
    lane_age: Int32s
    lane_joint: Int64s
    queue_node: Int32s
    queue_path: Int32s
    queue_joint: Int64s
    result_node: Int32s
    result_path: Int32s
    result_joint: Int64s
    result_value: Float64Rows
    result_made: UInt64Rows
    made: UInt64Rows
    lane_made: UInt64Rows
    job_node: Int32s
    job_path: Int32s
    job_joint: Int64s
    job_first: Int32Rows
    job_count: Int32Rows
    job_value: Float64Rows
    job_specs: Int32s
    listed: Int32s
    spec_job: Int32s
    spec_joint: Int64s
    spec_action: Int32Rows
    spec_state: UInt64Rows
    spec_value: Float64Rows
    spec_known: BoolRows
    spec_terminal: Bools
    spec_hash: UInt64s
    path_length: Int32s
    path_references: Int32s
    path_leaves: Int32s
    path_sum: Float64Rows
    path_node: Int32Rows
    path_joint: Int64Rows
    free_paths: Int32s
    finished: Int32s
    lanes: Int32s
    sources: Int32s
    square: UInt64s
    row: UInt64s
    value: Float64s
    base: Float32s
    hidden: Float32s
    settings: Float64s


worker_at = Bundle(Worker)


def make_worker(kernel: Kernel, seed: int, limit: int, settings: Sequence[float]) -> Worker:
    """Return the memory of a thread.

    Args:
        kernel: the code of the game.
        seed: of its random numbers.
        limit: joint moves after which a playout is given up.
        settings: of its descents; see ``selecting``.
    """
    roles = len(kernel.network.actions)
    words = words_for(kernel.network.fluents)
    actions = sum(kernel.network.actions)
    action_words = words_for(actions)
    playing, making = kernel.rows(), kernel.rows()
    random = seed_rows(seed, 0)
    playing[RANDOM : RANDOM + STATE_ROWS] = random
    making[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, 1)

    def numbers(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    def joints(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    worker = Worker(
        np.zeros(16, np.int64),
        seed_rows(seed, 2)[0, :1].copy(),
        np.array([playing.ctypes.data, making.ctypes.data], np.int64),
        playing,
        making,
        np.full(LANES, NONE, np.int32),
        numbers(LANES),
        numbers(LANES),
        joints(LANES),
        numbers(QUEUE),
        numbers(QUEUE),
        joints(QUEUE),
        numbers(RESULTS),
        numbers(RESULTS),
        joints(RESULTS),
        np.zeros((RESULTS, roles)),
        np.zeros((RESULTS, action_words), np.uint64),
        np.zeros((actions, 8), np.uint64),
        np.zeros((LANES, action_words), np.uint64),
        numbers(JOBS),
        numbers(JOBS),
        joints(JOBS),
        numbers(JOBS, roles),
        numbers(JOBS, roles),
        np.zeros((JOBS, roles)),
        numbers(JOBS),
        numbers(LISTED + sum(kernel.network.actions)),
        numbers(SPECS),
        joints(SPECS),
        numbers(SPECS, roles),
        np.zeros((SPECS, words), np.uint64),
        np.zeros((SPECS, roles)),
        np.zeros((SPECS, roles), np.bool_),
        np.zeros(SPECS, np.bool_),
        np.zeros(SPECS, np.uint64),
        numbers(PATHS),
        numbers(PATHS),
        numbers(PATHS),
        np.zeros((PATHS, roles)),
        numbers(PATHS, LONGEST_PATH + 1),
        joints(PATHS, LONGEST_PATH + 1),
        np.arange(PATHS, dtype=np.int32),
        numbers(PATHS),
        numbers(LANES),
        numbers(LANES),
        np.zeros(64, np.uint64),
        np.zeros(8, np.uint64),
        np.zeros(roles),
        np.zeros(UNITS, np.float32),
        np.zeros(UNITS, np.float32),
        np.array(settings, np.float64),
    )
    worker.counts[FREE_PATHS] = PATHS
    worker.counts[IDLE] = LANES
    worker.counts[LIMIT] = limit
    worker.counts[BRANCHING] = 8 * SCALE
    return worker
