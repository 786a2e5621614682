"""Playouts in lanes, and backpropagation of what came of them.

Each lane plays on from a leaf of its own, and gets another when its game has ended. Results, virtual losses
and proven bounds go up the paths of descents.
"""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled, exported
from anygame.network.kernels.function import ACTIVE as _ACTIVE
from anygame.network.kernels.function import GO as _GO
from anygame.network.kernels.function import RESTART as _RESTART
from anygame.network.kernels.function import STUCK as _STUCK
from anygame.search.tree.game_code import (
    END,
    FIRST_ACTION,
    FIRST_FLUENT,
    FLUENTS,
    LANES,
    WORDS,
    choose,
    evaluate_moves,
    evaluate_state,
    game_at,
    load_states,
    popcount,
    random_below,
    read_states,
    value_of_lane,
    word_of,
)
from anygame.search.tree.proving import backpropagate_minimax, first_option_of, option_in, update_bounds
from anygame.search.tree.store import (
    IS_WIDE,
    LEAVES,
    NONE,
    store_at,
)
from anygame.search.tree.worker import (
    CUT,
    FINISHED,
    FREE_PATHS,
    IDLE,
    LIMIT,
    MINIMAX,
    QUEUE,
    QUEUE_COUNT,
    QUEUE_FIRST,
    RESULT_COUNT,
    RESULTS,
    STEPS,
    worker_at,
)

ACTIVE, GO, RESTART, STUCK = int(_ACTIVE), int(_GO), int(_RESTART), int(_STUCK)
#: Lanes are filled again when so many are idle: a refill costs about as much as some steps.
REFILL = 160


@exported
def play_out(store_address: int, worker_address: int, game_address: int) -> None:
    """Play until enough lanes have ended, or none plays; the results are noted, and the lanes idle."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    worker.counts[RESULT_COUNT] = 0
    while True:
        _refill(game, store, worker)
        if worker.counts[IDLE] == LANES:
            return
        _steps(game, store, worker)
        _collect(game, store, worker)
        if not worker.counts[QUEUE_COUNT] or worker.counts[RESULT_COUNT] + LANES > RESULTS:
            return


@compiled
def _refill(game, store, worker):
    """Put the playouts that wait into idle lanes."""
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
        _clear(worker, filled)
    layout = game.layout
    load_states(
        worker.playing,
        layout[FIRST_FLUENT],
        layout[FLUENTS],
        worker.lanes,
        store.states,
        worker.sources,
        filled,
        worker.square,
    )


@compiled
def _clear(worker, filled):
    """Forget the actions made in the lanes that have been filled."""
    others = worker.row
    for word in range(WORDS):
        others[word] = ~np.uint64(0)
    for index in range(filled):
        lane = worker.lanes[index]
        others[lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))
    for action in range(len(worker.made)):
        for word in range(WORDS):
            worker.made[action, word] &= others[word]


@compiled
def _steps(game, store, worker):
    """Make moves at random until many lanes have ended; the state is evaluated at last."""
    rows, address, terminal = worker.playing, worker.addresses[0], game.layout[END]
    running = worker.row
    for word in range(WORDS):
        running[word] = np.uint64(0)
        rows[RESTART, word] = np.uint64(0)
    oldest = 0
    playing = 0
    for lane in range(LANES):
        if worker.lane_node[lane] != NONE:
            running[lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
            oldest = max(oldest, worker.lane_age[lane])
            playing += 1
    # With few lanes at work there is nothing to wait for but their end.
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
    worker.counts[STEPS] += steps
    for lane in range(LANES):
        worker.lane_age[lane] += steps


@compiled
def _collect(game, store, worker):
    """Note the results of the lanes that have ended, and of those that have made too many moves."""
    rows, counts = worker.playing, worker.counts
    roles = len(game.first_actions) - 1
    if store.counts[IS_WIDE]:
        read_states(worker.made, 0, len(worker.made), LANES, worker.lane_made, worker.square)
    for lane in range(LANES):
        if worker.lane_node[lane] == NONE:
            continue
        runs = (worker.row[lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
        if runs and worker.lane_age[lane] < counts[LIMIT]:
            continue
        result = counts[RESULT_COUNT]
        for role in range(roles):
            value, known = value_of_lane(game, rows, role, lane)
            # A playout that is given up counts only if the rules value the state where it was.
            worker.result_value[result, role] = value if known or not runs else 0.5
        counts[CUT] += np.int64(runs)
        for word in range(worker.lane_made.shape[1]):
            worker.result_made[result, word] = worker.lane_made[lane, word]
        worker.result_node[result] = worker.lane_node[lane]
        worker.result_path[result] = worker.lane_path[lane]
        worker.result_joint[result] = worker.lane_joint[lane]
        worker.lane_node[lane] = NONE
        counts[RESULT_COUNT] = result + 1
        counts[IDLE] += 1


#: Moves of a role from which on those that are made later in playouts are looked at too: where there are
#: fewer, each is soon tried often enough, and it was no gain.
WIDE = 40
#: Nodes with more visits learn of moves made later from one playout in eight.
ENOUGH_PLAYOUTS, SOME_PLAYOUTS = 32, 8
#: Visits and tries that are as many are halved: they have 31 bits, which hours of search would fill.
MOST_VISITS = 1 << 30


@exported
def record_results(store_address: int, worker_address: int, _game_address: int) -> None:
    """Record the results of playouts at the last node of their descents."""
    store, worker = store_at(store_address), worker_at(worker_address)
    for result in range(worker.counts[RESULT_COUNT]):
        path, node = worker.result_path[result], worker.result_node[result]
        joint = worker.result_joint[result]
        add_to_node(store, node, worker.result_value[result], 1)
        record_leaf(store, worker, path, joint, node, worker.result_value[result], 1)
        if store.counts[IS_WIDE]:
            # Half of the moves are made in a playout: soon a few playouts say as much of them as all.
            most = ENOUGH_PLAYOUTS if random_below(worker, SOME_PLAYOUTS) else MOST_VISITS
            _record_all_moves(
                store, worker, path, joint, worker.result_value[result], worker.result_made[result], most
            )
        worker.path_references[path] -= 1
        if not worker.path_references[path]:
            end_descent(worker, path)
    store.counts[LEAVES] += worker.counts[RESULT_COUNT]
    worker.counts[RESULT_COUNT] = 0


@compiled
def add_to_node(store, node, value, leaves):
    """Add the sum of the values of so many leaves to a node."""
    if store.visits[node] >= MOST_VISITS:
        # Its mean stays as it is.
        store.visits[node] >>= 1
        for role in range(store.sums.shape[1]):
            store.sums[node, role] /= 2
    store.visits[node] += leaves
    for role in range(store.sums.shape[1]):
        store.sums[node, role] += value[role]


@compiled
def record_leaf(store, worker, path, joint, child, value, arrived):
    """Add the value of a leaf to the last node of a path, and to the sum for those before.

    Args:
        store: the tree.
        worker: the thread.
        path: the descent.
        joint: the joint move that led to the leaf.
        child: the leaf.
        value: float64 [roles].
        arrived: how many virtual losses to take back.
    """
    node = worker.path_node[path, worker.path_length[path]]
    add_to_node(store, node, value, 1)
    _record_in_options(store, node, joint, child, value, 1, arrived)
    add_to_descent(worker, path, value)


@compiled
def _record_all_moves(store, worker, path, joint, value, made, most):
    """Record at the nodes of a path how a playout ended in which some actions were made sooner or later.

    All moves as first (AMAF): rapid action value estimation, Gelly and Silver 2007, "Combining online and
    offline knowledge in UCT".

    Args:
        store: the tree.
        worker: the thread.
        path: the descent.
        joint: the joint move that led to the playout.
        value: float64 [roles].
        made: uint64 [words], a bit an action; those of the path are added.
        most: visits from which on nothing is recorded at a node, and at those above it.
    """
    roles = store.option_counts.shape[1]
    at = worker.path_length[path]
    while True:
        node = worker.path_node[path, at]
        if store.visits[node] > most:
            return
        expansion = store.expansion[node]
        mover = store.mover[expansion]
        for role in range(roles):
            action = store.action[option_in(store, expansion, joint, role)]
            made[action >> 6] |= np.uint64(1) << np.uint64(action & 63)
        if 0 <= mover < roles and store.option_counts[expansion, mover] >= WIDE:
            first = first_option_of(store, expansion, mover)
            gained = np.float32(value[mover])
            for option in range(first, first + store.option_counts[expansion, mover]):
                action = store.action[option]
                # Half of them were made, in no order: a branch would be guessed wrong half of the times.
                count = np.float32((made[action >> 6] >> np.uint64(action & 63)) & np.uint64(1))
                tries = store.amaf_tries[option] + count
                mean = store.amaf_mean[option]
                store.amaf_tries[option] = tries
                store.amaf_mean[option] = mean + count * (gained - mean) / max(tries, np.float32(1))
        at -= 1
        if at < 0:
            return
        joint = worker.path_joint[path, at]


@compiled
def add_to_descent(worker, path, value):
    """Add the value of a leaf to those of its descent, until all of them are known."""
    worker.path_leaves[path] += 1
    for role in range(len(value)):
        worker.path_sum[path, role] += value[role]


@compiled
def end_descent(worker, path):
    """End a descent: the values of its leaves wait for ``backpropagate``."""
    worker.finished[worker.counts[FINISHED]] = path
    worker.counts[FINISHED] += 1


@exported
def backpropagate(store_address: int, worker_address: int, game_address: int) -> None:
    """Add the values of ended descents to all nodes of their paths, and take their virtual losses back."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    for number in range(worker.counts[FINISHED]):
        path = worker.finished[number]
        leaves = worker.path_leaves[path]
        value = worker.path_sum[path]
        at = worker.path_length[path]
        child = worker.path_node[path, at]
        bounds, minimax = True, worker.settings[MINIMAX] > 0
        while at > 0:
            at -= 1
            node, joint = worker.path_node[path, at], worker.path_joint[path, at]
            if leaves:
                add_to_node(store, node, value, leaves)
                _record_in_options(store, node, joint, child, value, leaves, 1)
            else:
                add_virtual_loss(store, store.expansion[node], joint, -1)
            if bounds:
                bounds = _backpropagate_bounds(game, store, node, child)
            if minimax:
                minimax = backpropagate_minimax(game, store, worker, node, joint, child)
            child = node
        worker.free_paths[worker.counts[FREE_PATHS]] = path
        worker.counts[FREE_PATHS] += 1
    worker.counts[FINISHED] = 0


@compiled
def read_value(store, worker, node):
    """Put the mean of a node, moved between its bounds, into ``worker.value``."""
    value = worker.value
    visits = max(1, store.visits[node])
    for role in range(len(value)):
        mean = store.sums[node, role] / visits
        value[role] = min(max(mean, store.low[node, role]), store.high[node, role])


@compiled
def _backpropagate_bounds(game, store, node, child):
    """Update the bounds of a node if something is proven of a child; return whether it is."""
    is_something_proven = False
    for role in range(store.low.shape[1]):
        is_something_proven |= store.low[child, role] > 0 or store.high[child, role] < 1
    if is_something_proven:
        update_bounds(game, store, node)
    return is_something_proven


@compiled
def _record_in_options(store, node, joint, child, value, leaves, arrived):
    """Add the sum of the values of some leaves to the options that make up a joint move."""
    expansion = store.expansion[node]
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        option = first_option_of(store, expansion, mover) + joint
        _record_tries(store, option, leaves, arrived)
        visits = store.visits[child]
        store.mean[option] = store.sums[child, mover] / visits if visits else value[mover] / leaves
        return
    for role in range(roles):
        chosen = option_in(store, expansion, joint, role)
        _record_tries(store, chosen, leaves, arrived)
        # After millions of tries most changes are less than what rounding to 32 bits takes away.
        mean = np.float64(store.mean[chosen]) + np.float64(store.residue[chosen])
        mean += (value[role] - leaves * mean) / store.tries[chosen]
        store.mean[chosen] = np.float32(mean)
        store.residue[chosen] = np.float32(mean - np.float64(store.mean[chosen]))


@compiled
def _record_tries(store, option, leaves, arrived):
    """Count leaves that were evaluated through an option, and take back so many virtual losses."""
    if store.tries[option] >= MOST_VISITS:
        store.tries[option] >>= 1
    store.tries[option] += leaves
    store.pending[option] -= arrived


@compiled
def add_virtual_loss(store, expansion, joint, by):
    """Add so many virtual losses to the options of a joint move: descents under way through it."""
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        store.pending[first_option_of(store, expansion, mover) + joint] += by
        return
    for role in range(roles):
        store.pending[option_in(store, expansion, joint, role)] += by
