"""Working memory of a search thread: lanes, paths of descents, and pending work."""

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
from anygame.search.tree.store import NONE, mix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Kernel

#: Maximum number of concurrent descents.
PATHS = 2048
#: Maximum depth of a descent. Deeper states come within reach later in the match.
LONGEST_PATH = 200
#: Maximum number of nodes that one pass expands.
JOBS = 512
#: Maximum number of children that one pass makes.
SPECS = 2048
#: Maximum number of joint moves of a node whose expansion makes all children at once.
ALL_CHILDREN = 512
#: Number of children that an expansion makes if the node has more than ``ALL_CHILDREN`` joint moves.
SOME_CHILDREN = 128
#: Maximum number of playout results in one pass.
RESULTS = 4 * LANES
#: Maximum number of playouts that wait for a lane.
QUEUE = 16384
#: Maximum number of legal moves that one pass lists.
LISTED = 1 << 18
#: Maximum number of units in the hidden layer of a value network.
MOST_UNITS = 512
#: Maximum number of patterns among the inputs of a value network.
MOST_PATTERNS = 1024

#: Scale of the fixed-point number at ``BRANCHING``, the running mean of the number of children per job.
SCALE = 64
#: Indices of ``Worker.settings``. ``TRUST`` is the weight of estimates, from 0 to 1.
EXPLORATION, ROOT_MOVES, VIRTUAL_LOSS, AMAF, TRUST = range(5)
#: Indices of ``Worker.counts``.
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
    """Working memory of a thread. A *row* has one bit for each of the 512 lanes."""

    counts: Int64s  # Counters; see the indices above.
    random: UInt64s  # State of the random number generator.
    addresses: Int64s  # Addresses of ``playing`` and ``making``.
    playing: UInt64Rows  # Lanes that run playouts.
    making: UInt64Rows  # Lanes that make children.
    # Playouts in lanes:
    lane_node: Int32s  # Leaf from which the playout starts, or NONE if the lane is idle.
    lane_path: Int32s  # Descent that requested the playout.
    lane_age: Int32s  # Number of joint moves that the playout has made.
    lane_joint: Int64s  # Joint move that leads to the leaf.
    # Ring buffer of waiting playouts:
    queue_node: Int32s
    queue_path: Int32s
    queue_joint: Int64s
    # Finished playouts:
    result_node: Int32s
    result_path: Int32s
    result_joint: Int64s
    result_value: Float64Rows  # Value of the playout for each role.
    result_made: UInt64Rows  # For each playout, one bit per action: whether the playout made the action.
    made: UInt64Rows  # One row per action: the lanes whose playouts made the action.
    lane_made: UInt64Rows  # Transpose of ``made``: one bit per action for each lane.
    # Jobs: nodes to expand, and nodes that get one more child.
    job_node: Int32s
    job_path: Int32s  # Descent that reached the node.
    job_joint: Int64s  # Joint move to the only requested child, or NONE to expand the node.
    job_lane: Int32s  # Lane in which the moves of the node are listed.
    job_value: Float64Rows  # Value of the node's state for each role.
    job_specs: Int32s  # Number of children to make, or NONE if this pass has no room.
    # Legal moves by lane:
    list_count: Int32Rows  # Number of legal moves of each role.
    list_first: Int32Rows  # Index in ``listed`` of the first move of each role.
    listed: Int32s  # Action numbers of the legal moves.
    # Children to make:
    spec_job: Int32s  # Job that requested the child.
    spec_joint: Int64s  # Joint move that leads to the child.
    spec_action: Int32Rows  # Action of each role in the joint move to the child.
    spec_state: UInt64Rows  # State of the child.
    spec_value: Float64Rows  # Value of the child for each role, if the game is over.
    spec_known: BoolRows  # Whether the rules give the role exactly one goal.
    spec_terminal: Bools  # Whether the game is over.
    spec_hash: UInt64s  # Hash of the state.
    batch_node: Int32s  # Nodes whose states are estimated together.
    batch_value: Float64Rows  # Estimates of the states in the batch, for each role.
    # Descents:
    path_length: Int32s  # Index of the last node in ``path_node``.
    path_references: Int32s  # Number of playouts that the descent waits for.
    path_leaves: Int32s  # Number of leaves that the descent has evaluated.
    path_sum: Float64Rows  # Sum of the values of the evaluated leaves, for each role.
    path_node: Int32Rows  # Nodes of the path.
    path_joint: Int64Rows  # Joint moves between the nodes of the path.
    free_paths: Int32s  # Stack of unused descents.
    finished: Int32s  # Descents whose leaves are all evaluated.
    # Temporary arrays:
    lanes: Int32s
    sources: Int32s
    square: UInt64s
    row: UInt64s
    value: Float64s
    # Temporary arrays of ``evaluation.network``:
    base: Float32s
    base_tally: Int32s
    tally: Int32s
    is_changed: Bools
    changed: Int32s
    hidden: Float32s
    parts: Float32s
    settings: Float64s  # Settings of descents; see the indices above.


worker_at = Bundle(Worker)

#: Length of each array, by the name of the array or by the first word of the name.
_LENGTHS: Final = {
    **dict.fromkeys(("lane", "list", "lanes", "sources"), LANES),
    **dict.fromkeys(("path", "finished"), PATHS),
    **dict.fromkeys(("base", "hidden", "parts"), MOST_UNITS),
    **dict.fromkeys(("base_tally", "tally", "is_changed", "changed"), MOST_PATTERNS),
    "counts": 16,
    "queue": QUEUE,
    "result": RESULTS,
    "job": JOBS,
    "spec": SPECS,
    "batch": 1 + SPECS,
    "square": 64,
    "row": WORDS,
}


def make_worker(kernel: Kernel, seed: int, limit: int, settings: Sequence[float]) -> Worker:
    """Return the memory of a thread whose playouts have at most ``limit`` joint moves."""
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
    """Return a random integer from 0 to ``bound - 1``, using splitmix64; the modulo bias is negligible."""
    worker.random[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mix(worker.random[0]) >> np.uint64(1)) % np.uint64(bound))
