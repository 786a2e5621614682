"""Evaluation by playouts: random play in lanes, from leaves of the tree to final states."""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled, exported
from anygame.network.kernels.function import ACTIVE as _ACTIVE
from anygame.network.kernels.function import STUCK as _STUCK
from anygame.search.lanes import (
    END,
    FIRST_ACTION,
    GO,
    LANES,
    RESTART,
    WORDS,
    choose,
    evaluate_moves,
    evaluate_state,
    game_at,
    load_states,
    popcount,
    read_states,
    value_of_lane,
    word_of,
)
from anygame.search.tree.store import IS_WIDE, NONE, store_at
from anygame.search.tree.worker import (
    IDLE,
    LIMIT,
    QUEUE,
    QUEUE_COUNT,
    QUEUE_FIRST,
    RESULT_COUNT,
    RESULTS,
    worker_at,
)

ACTIVE, STUCK = int(_ACTIVE), int(_STUCK)
#: Number of idle lanes at which play stops for a refill. A refill takes as long as a few joint moves.
REFILL = 160


@compiled
def enqueue_playout(worker, path, joint, node):
    """Queue a playout from a node that a joint move reached; return False if the queue is full."""
    counts = worker.counts
    if counts[QUEUE_COUNT] >= QUEUE:
        return False
    at = (counts[QUEUE_FIRST] + counts[QUEUE_COUNT]) % QUEUE
    worker.queue_node[at] = node
    worker.queue_path[at] = path
    worker.queue_joint[at] = joint
    counts[QUEUE_COUNT] += 1
    worker.path_references[path] += 1
    return True


@exported
def play_out(store_address: int, worker_address: int, game_address: int) -> None:
    """Run playouts until the queue is empty, all lanes are idle or there is no room for results."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    worker.counts[RESULT_COUNT] = 0
    while True:
        _refill(game, store, worker)
        if worker.counts[IDLE] == LANES:
            return
        _play_steps(game, store, worker)
        _collect(game, store, worker)
        if not worker.counts[QUEUE_COUNT] or worker.counts[RESULT_COUNT] + LANES > RESULTS:
            return


@compiled
def _refill(game, store, worker):
    counts = worker.counts
    filled = 0
    for lane in range(LANES):
        if not counts[QUEUE_COUNT]:
            break
        if worker.lane_node[lane] == NONE:
            at = counts[QUEUE_FIRST]
            worker.lane_node[lane] = worker.queue_node[at]
            worker.lane_path[lane] = worker.queue_path[at]
            worker.lane_joint[lane] = worker.queue_joint[at]
            worker.lane_age[lane] = 0
            worker.lanes[filled] = lane
            worker.sources[filled] = worker.queue_node[at]
            filled += 1
            counts[QUEUE_FIRST] = (at + 1) % QUEUE
            counts[QUEUE_COUNT] -= 1
    counts[IDLE] -= filled
    if store.counts[IS_WIDE]:
        _clear_made_actions(worker, filled)
    load_states(game, worker.playing, worker.lanes, store.states, worker.sources, filled, worker.square)


@compiled
def _clear_made_actions(worker, filled):
    """Clear the recorded actions of the first ``filled`` lanes in ``worker.lanes``."""
    kept = worker.row
    kept[:] = ~np.uint64(0)
    for index in range(filled):
        lane = worker.lanes[index]
        kept[lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))
    for action in range(len(worker.made)):
        for word in range(WORDS):
            worker.made[action, word] &= kept[word]


@compiled
def _play_steps(game, store, worker):
    """Make random moves until many playouts have ended, and evaluate the final states."""
    rows, address, terminal = worker.playing, worker.addresses[0], game.layout[END]
    running = worker.row
    running[:] = 0
    rows[RESTART, :] = 0
    oldest, playing = 0, 0
    for lane in range(LANES):
        if worker.lane_node[lane] != NONE:
            running[lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
            oldest = max(oldest, worker.lane_age[lane])
            playing += 1
    # If few lanes run, the queue is empty, so play until half of the playouts have ended.
    enough = playing - REFILL if playing > 2 * REFILL else playing // 2
    limit = max(1, worker.counts[LIMIT] - oldest)
    steps = 0
    while True:
        evaluate_state(game, address)
        active = 0
        for word in range(WORDS):
            running[word] &= ~word_of(rows, terminal, word)
            rows[ACTIVE, word] = running[word]
            active += popcount(running[word])
        if active <= enough or steps >= limit:
            break
        if choose(game, address):
            for word in range(WORDS):
                running[word] &= ~rows[STUCK, word]
                rows[ACTIVE, word] = running[word]
            choose(game, address)
        if store.counts[IS_WIDE]:
            first = game.layout[FIRST_ACTION]
            for action in range(len(worker.made)):
                for word in range(WORDS):
                    worker.made[action, word] |= rows[first + action, word] & rows[GO, word]
        evaluate_moves(game, address)
        steps += 1
    for lane in range(LANES):
        worker.lane_age[lane] += steps


@compiled
def _collect(game, store, worker):
    """Record the values of playouts that have ended or have the maximum number of moves."""
    rows, counts = worker.playing, worker.counts
    if store.counts[IS_WIDE]:
        read_states(worker.made, 0, len(worker.made), LANES, worker.lane_made, worker.square)
    for lane in range(LANES):
        if worker.lane_node[lane] == NONE:
            continue
        runs = (worker.row[lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        if runs and worker.lane_age[lane] < counts[LIMIT]:
            continue
        result = counts[RESULT_COUNT]
        for role in range(worker.result_value.shape[1]):
            value, has_goal = value_of_lane(game, rows, role, lane)
            # An abandoned playout counts as a draw unless the rules give its last state a goal.
            worker.result_value[result, role] = value if has_goal or not runs else 0.5
        for word in range(worker.lane_made.shape[1]):
            worker.result_made[result, word] = worker.lane_made[lane, word]
        worker.result_node[result] = worker.lane_node[lane]
        worker.result_path[result] = worker.lane_path[lane]
        worker.result_joint[result] = worker.lane_joint[lane]
        worker.lane_node[lane] = NONE
        counts[RESULT_COUNT] = result + 1
        counts[IDLE] += 1
