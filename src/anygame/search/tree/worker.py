"""What one thread searches with: two blocks of lanes, the ways of its descents, and what is under way."""

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
)
from anygame.network.kernels.function import RANDOM
from anygame.network.kernels.uniform_choice import STATE_ROWS, seed_rows
from anygame.search.tree.game_code import LANES, MOST_UNITS, WORDS, words_for
from anygame.search.tree.patterns import MOST_PATTERNS, MOST_ROWS
from anygame.search.tree.store import NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Kernel

#: Descents that may be under way at a time: each has at least a lane or a place in the queue.
PATHS = 2048
#: A descent goes no deeper: longer matches are searched as they come near.
LONGEST_PATH = 200
#: Leaves expanded in a pass, and children made of them.
JOBS, SPECS = 512, 2048
#: Joint moves of a node up to here are made together when it is expanded; of more, so many.
ALL_CHILDREN, SOME_CHILDREN = 512, 128
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
    """The memory of a thread; rows of bits are of 512 lanes, columns for each role, for words or for moves.

    Attributes:
        counts: how many of each there are.
        random: the state of its generator.
        addresses: of the rows ``playing`` and ``making``.
        playing, making: lanes that play at random, and lanes that make children.
        lane_node, lane_joint, lane_path, lane_age: the node from which a lane plays (NONE: idle), by which
            joint move and which descent, and how many moves the playout made.
        queue_node, queue_path, queue_joint: a ring of playouts that wait for lanes.
        result_node, result_path, result_joint, result_value: of playouts.
        result_made: a bit for each action that was made in the playout.
        made, lane_made: the same for playing lanes, as rows, and as words of each.
        job_node, job_path: nodes to be expanded.
        job_joint: the joint move that is to be made, NONE to list all moves first.
        job_first, job_count: the legal moves, in ``listed``.
        job_value: what the state itself is worth.
        job_specs: behind the last child of each.
        spec_job, spec_joint, spec_action, spec_state, spec_value, spec_terminal, spec_hash: children to be
            made.
        spec_known: whether the rules give exactly one goal.
        path_length, path_references, path_node, path_joint: descents.
        path_leaves, path_sum: leaves that were evaluated, and their values.
        free_paths, finished: descents to be begun, and those whose leaves are all known.
        lanes, sources, square, row, value, base, base_tally, tally, counted, amounts, hidden, parts: scratch.
        settings: see ``growing``.
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
    base_tally: Int32s
    tally: Int32s
    counted: Int32s
    amounts: Int32s
    hidden: Float32s
    parts: Float32s
    settings: Float64s


worker_at = Bundle(Worker)


#: The lengths of arrays, before what depends on the game.
_LENGTHS: Final = {
    "counts": 16,
    "lane": LANES,
    "queue": QUEUE,
    "result": RESULTS,
    "job": JOBS,
    "spec": SPECS,
    "path": PATHS,
    "finished": PATHS,
    "lanes": LANES,
    "sources": LANES,
    "square": 64,
    "row": WORDS,
    "base": MOST_UNITS,
    "base_tally": MOST_PATTERNS,
    "tally": MOST_PATTERNS,
    "counted": MOST_ROWS + 1,
    "amounts": MOST_ROWS + 1,
    "hidden": MOST_UNITS,
    "parts": MOST_UNITS,
}


def make_worker(kernel: Kernel, seed: int, limit: int, settings: Sequence[float]) -> Worker:
    """Return the memory of a thread.

    Args:
        kernel: the code of the game.
        seed: of its random numbers.
        limit: joint moves after which a playout is given up.
        settings: of its descents; see ``growing``.
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
