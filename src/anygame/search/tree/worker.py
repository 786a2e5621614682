"""What one thread searches with: two blocks of lanes, the ways of its descents, and what is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray  # noqa: TC002 - bundles read the annotations

from anygame.network.kernels.random_rows import STATE_ROWS, seed_rows
from anygame.network.kernels.rows import RANDOM
from anygame.search.tree.compiling import bundle
from anygame.search.tree.estimating import UNITS
from anygame.search.tree.lanes import LANES, words_for
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Kernel

__all__ = ["Worker", "make_worker"]

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
        lane_node, lane_path, lane_age: int32 [512]; whose value a playing lane will tell (NONE: idle), which
            descent led there, and how many moves the playout made.
        lane_joint: int64 [512]; by which joint move.
        queue_node, queue_path, queue_joint: a ring of playouts that wait for lanes.
        result_node, result_path, result_joint, result_value: [512], float64 [512, roles]; what playouts told.
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

    counts: NDArray[np.int64]
    random: NDArray[np.uint64]
    addresses: NDArray[np.int64]
    playing: NDArray[np.uint64]
    making: NDArray[np.uint64]
    lane_node: NDArray[np.int32]
    lane_path: NDArray[np.int32]
    lane_age: NDArray[np.int32]
    lane_joint: NDArray[np.int64]
    queue_node: NDArray[np.int32]
    queue_path: NDArray[np.int32]
    queue_joint: NDArray[np.int64]
    result_node: NDArray[np.int32]
    result_path: NDArray[np.int32]
    result_joint: NDArray[np.int64]
    result_value: NDArray[np.float64]
    result_made: NDArray[np.uint64]
    made: NDArray[np.uint64]
    lane_made: NDArray[np.uint64]
    job_node: NDArray[np.int32]
    job_path: NDArray[np.int32]
    job_joint: NDArray[np.int64]
    job_first: NDArray[np.int32]
    job_count: NDArray[np.int32]
    job_value: NDArray[np.float64]
    job_specs: NDArray[np.int32]
    listed: NDArray[np.int32]
    spec_job: NDArray[np.int32]
    spec_joint: NDArray[np.int64]
    spec_action: NDArray[np.int32]
    spec_state: NDArray[np.uint64]
    spec_value: NDArray[np.float64]
    spec_known: NDArray[np.bool_]
    spec_terminal: NDArray[np.bool_]
    spec_hash: NDArray[np.uint64]
    path_length: NDArray[np.int32]
    path_references: NDArray[np.int32]
    path_leaves: NDArray[np.int32]
    path_sum: NDArray[np.float64]
    path_node: NDArray[np.int32]
    path_joint: NDArray[np.int64]
    free_paths: NDArray[np.int32]
    finished: NDArray[np.int32]
    lanes: NDArray[np.int32]
    sources: NDArray[np.int32]
    square: NDArray[np.uint64]
    row: NDArray[np.uint64]
    value: NDArray[np.float64]
    base: NDArray[np.float32]
    hidden: NDArray[np.float32]
    settings: NDArray[np.float64]


worker_at = bundle(
    Worker,
    "playing",
    "making",
    "result_value",
    "result_made",
    "made",
    "lane_made",
    "job_first",
    "job_count",
    "job_value",
    "spec_action",
    "spec_state",
    "spec_value",
    "spec_known",
    "path_sum",
    "path_node",
    "path_joint",
)


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
