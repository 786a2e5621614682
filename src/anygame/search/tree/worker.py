"""Memory of one thread: two blocks of lanes, the paths of its descents, and the pending work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from anygame.native.marking import (
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
    compiled,
)
from anygame.network.kernels.function import RANDOM
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows
from anygame.search.lanes import LANES, WORDS, words_for
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Kernel

#: Maximum number of concurrent descents. Each uses at least a lane or a place in the queue.
PATHS = 2048
#: Maximum depth of a descent. Deeper states are searched after more moves of the match.
LONGEST_PATH = 200
#: Maximum numbers of nodes expanded in a pass, and of children made in a pass.
JOBS, SPECS = 512, 2048
#: A node with up to the first number of joint moves gets all children at once. A larger node gets up to the
#: second number of children.
ALL_CHILDREN, SOME_CHILDREN = 512, 128
#: Maximum number of playout results in a pass.
RESULTS = 4 * LANES
#: Maximum number of playouts that wait for a lane.
QUEUE = 16384
#: Maximum number of legal moves listed in a pass.
LISTED = 1 << 18
#: Maximum numbers of units in the hidden layer of a value network, and of patterns.
MOST_UNITS, MOST_PATTERNS = 512, 1024

#: Factor of the fixed-point number ``BRANCHING``, the running mean of children per job.
SCALE = 64
#: Places in ``Worker.settings``; ``TRUST`` is the weight of estimates.
EXPLORATION, ROOT_MOVES, VIRTUAL_LOSS, AMAF, TRUST = range(5)
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
    BRANCHING,
) = range(10)


class Worker(NamedTuple):
    """The memory of a thread. A row of bits has a bit for each of 512 lanes.

    Attributes:
        counts: see the places above.
        random: the state of its random generator.
        addresses: the addresses of the rows ``playing`` and ``making``.
        playing, making: lanes of playouts, and lanes that make children.
        lane_node, lane_joint, lane_path, lane_age: the leaf of a playout (NONE: the lane is idle), the joint
            move that leads to the leaf, the descent, and the number of joint moves played from the leaf.
        queue_node, queue_path, queue_joint: a ring buffer of waiting playouts.
        result_node, result_path, result_joint, result_value: ended playouts.
        result_made: a bit for each action made in the playout.
        made, lane_made: actions made in running playouts, as a row for each action, and as words per lane.
        job_node, job_path: nodes to be expanded.
        job_joint: the joint move to be made, or NONE to list all moves first.
        job_lane: the lane in which the moves are listed.
        job_value: the value of the state itself.
        job_specs: number of children to be made.
        list_count, list_first: per lane, the number of legal moves of each role, and the place of the first
            move in ``listed``.
        spec_job, spec_joint, spec_action, spec_state, spec_value, spec_terminal, spec_hash: children to be
            made.
        spec_known: whether the rules give the role exactly one goal.
        batch_node, batch_value: states to be estimated, and their values.
        path_length, path_references, path_node, path_joint: descents.
        path_leaves, path_sum: number and sum of the values of evaluated leaves.
        free_paths, finished: unused descents, and descents whose leaves are all evaluated.
        base, base_tally, tally, is_changed, changed, hidden, parts: scratch of ``evaluation.network``.
        lanes, sources, square, row, value: scratch.
        settings: see the places above.
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
    job_lane: Int32s
    job_value: Float64Rows
    job_specs: Int32s
    list_count: Int32Rows
    list_first: Int32Rows
    listed: Int32s
    spec_job: Int32s
    spec_joint: Int64s
    spec_action: Int32Rows
    spec_state: UInt64Rows
    spec_value: Float64Rows
    spec_known: BoolRows
    spec_terminal: Bools
    spec_hash: UInt64s
    batch_node: Int32s
    batch_value: Float64Rows
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
    base_tally: Int32s
    tally: Int32s
    is_changed: Bools
    changed: Int32s
    hidden: Float32s
    parts: Float32s
    settings: Float64s


worker_at = Bundle(Worker)


#: The lengths of arrays, by name or by the first word of the name.
_LENGTHS: Final = {
    "counts": 16,
    "lane": LANES,
    "queue": QUEUE,
    "result": RESULTS,
    "job": JOBS,
    "list": LANES,
    "spec": SPECS,
    "batch": 1 + SPECS,
    "path": PATHS,
    "finished": PATHS,
    "lanes": LANES,
    "sources": LANES,
    "square": 64,
    "row": WORDS,
    "base": MOST_UNITS,
    "base_tally": MOST_PATTERNS,
    "tally": MOST_PATTERNS,
    "is_changed": MOST_PATTERNS,
    "changed": MOST_PATTERNS,
    "hidden": MOST_UNITS,
    "parts": MOST_UNITS,
}


def make_worker(kernel: Kernel, seed: int, limit: int, settings: Sequence[float]) -> Worker:
    """Return the memory of a thread.

    Args:
        kernel: the code of the game.
        seed: the random seed.
        limit: maximum number of joint moves of a playout.
        settings: the settings of its descents.
    """
    roles, actions = len(kernel.network.actions), sum(kernel.network.actions)
    playing, making = kernel.rows(), kernel.rows()
    playing[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, 0)
    making[RANDOM : RANDOM + STATE_ROWS] = seed_rows(seed, 1)
    columns = dict.fromkeys(("path_node", "path_joint"), LONGEST_PATH + 1)
    columns |= dict.fromkeys(("result_made", "lane_made"), words_for(actions))
    columns["spec_state"] = words_for(kernel.network.fluents)
    given: dict[str, Any] = {
        "random": seed_rows(seed, 2)[0, :1].copy(),
        "addresses": np.array([playing.ctypes.data, making.ctypes.data], np.int64),
        "playing": playing,
        "making": making,
        "lane_node": np.full(LANES, NONE, np.int32),
        "made": np.zeros((actions, WORDS), np.uint64),
        "listed": np.zeros(LISTED + actions, np.int32),
        "value": np.zeros(roles),
        "free_paths": np.arange(PATHS, dtype=np.int32),
        "settings": np.array(settings, np.float64),
    }
    for name, elements in worker_at.arrays.items():
        if name not in given:
            length = _LENGTHS[name if name in _LENGTHS else name.split("_")[0]]
            shape = (length, columns.get(name, roles))[: elements.axes]
            given[name] = np.zeros(shape, elements.kind)
    worker = Worker(**given)
    worker.counts[FREE_PATHS] = PATHS
    worker.counts[IDLE] = LANES
    worker.counts[LIMIT] = limit
    worker.counts[BRANCHING] = 8 * SCALE
    return worker


@compiled
def random_below(worker, bound):
    """Return a random number below a bound, by splitmix64; the bias is too small to matter."""
    worker.random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = worker.random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64((word >> np.uint64(1)) % np.uint64(bound))
