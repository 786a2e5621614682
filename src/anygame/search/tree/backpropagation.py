"""Backpropagation of values, virtual losses and proven bounds along the paths of descents."""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled, exported
from anygame.search.lanes import game_at
from anygame.search.tree.bounds import first_option_of, option_in, update_bounds
from anygame.search.tree.minimax import backpropagate_minimax, has_minimax
from anygame.search.tree.store import IS_WIDE, LEAVES, store_at
from anygame.search.tree.worker import FINISHED, FREE_PATHS, RESULT_COUNT, random_below, worker_at

#: Minimum number of legal moves for AMAF statistics (all moves as first). With fewer moves, AMAF does not
#: help, because each move is soon tried often enough.
WIDE = 40
#: After ENOUGH_PLAYOUTS visits, only one playout in SOME_PLAYOUTS updates the AMAF statistics of a node.
ENOUGH_PLAYOUTS, SOME_PLAYOUTS = 32, 8
#: Visits or tries are halved when they reach this number, so that 32-bit integers cannot overflow.
MOST_VISITS = 1 << 30


@exported
def record_results(store_address: int, worker_address: int, _game_address: int) -> None:
    """Add the values of finished playouts to the last nodes of their descents."""
    store, worker = store_at(store_address), worker_at(worker_address)
    for result in range(worker.counts[RESULT_COUNT]):
        path, node = worker.result_path[result], worker.result_node[result]
        joint = worker.result_joint[result]
        add_to_node(store, node, worker.result_value[result], 1)
        record_leaf(store, worker, path, joint, node, worker.result_value[result], 1)
        if store.counts[IS_WIDE]:
            # A playout makes about half of all moves, so few playouts suffice for AMAF statistics.
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
    """Add ``leaves`` leaves to a node; ``value`` is the sum of their values."""
    if store.visits[node] >= MOST_VISITS:
        # Halving the visits and the sums preserves the mean.
        store.visits[node] >>= 1
        for role in range(store.sums.shape[1]):
            store.sums[node, role] /= 2
    store.visits[node] += leaves
    for role in range(store.sums.shape[1]):
        store.sums[node, role] += value[role]


@compiled
def record_leaf(store, worker, path, joint, child, value, arrived):
    """Add the value of a leaf to the last node of a descent, and to the descent's sum for earlier nodes.

    ``arrived`` is the number of virtual losses that the leaf removes.
    """
    node = worker.path_node[path, worker.path_length[path]]
    add_to_node(store, node, value, 1)
    _record_in_options(store, node, joint, child, value, 1, arrived)
    add_to_descent(worker, path, value)


@compiled
def _record_all_moves(store, worker, path, joint, value, made, most):
    """Add the value of a playout to the AMAF statistics of the nodes of its path.

    AMAF statistics use all actions below a node: the actions ``made`` in the playout, and the actions of the
    path (Gelly and Silver 2007, "Combining online and offline knowledge in UCT"). A node with more than
    ``most`` visits records nothing, and neither do the nodes before it.
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
                # About half of the actions were made, so a branch would often be mispredicted.
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
    """Add the value of one leaf to the sum of its descent."""
    worker.path_leaves[path] += 1
    for role in range(len(value)):
        worker.path_sum[path, role] += value[role]


@compiled
def end_descent(worker, path):
    """Mark a descent as finished, so that ``backpropagate`` adds its values to the tree."""
    worker.finished[worker.counts[FINISHED]] = path
    worker.counts[FINISHED] += 1


@exported
def backpropagate(store_address: int, worker_address: int, game_address: int) -> None:
    """Add the values of finished descents to the nodes of their paths, and remove their virtual losses."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    for number in range(worker.counts[FINISHED]):
        path = worker.finished[number]
        leaves = worker.path_leaves[path]
        value = worker.path_sum[path]
        at = worker.path_length[path]
        child = worker.path_node[path, at]
        bounds, minimax = True, has_minimax(game, worker)
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
    """Set ``worker.value`` to the mean value of a node, clipped to its proven bounds."""
    value = worker.value
    visits = max(1, store.visits[node])
    for role in range(len(value)):
        mean = store.sums[node, role] / visits
        value[role] = min(max(mean, store.low[node, role]), store.high[node, role])


@compiled
def _backpropagate_bounds(game, store, node, child):
    """Update the bounds of a node if a bound of its child is proven; return whether a bound is proven."""
    is_something_proven = False
    for role in range(store.low.shape[1]):
        is_something_proven |= store.low[child, role] > 0 or store.high[child, role] < 1
    if is_something_proven:
        update_bounds(game, store, node)
    return is_something_proven


@compiled
def _record_in_options(store, node, joint, child, value, leaves, arrived):
    """Add ``leaves`` leaves to the options of a joint move; ``value`` is the sum of their values."""
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
        # After millions of tries, most updates are smaller than the rounding error of a 32-bit float.
        mean = np.float64(store.mean[chosen]) + np.float64(store.residue[chosen])
        mean += (value[role] - leaves * mean) / store.tries[chosen]
        store.mean[chosen] = np.float32(mean)
        store.residue[chosen] = np.float32(mean - np.float64(store.mean[chosen]))


@compiled
def _record_tries(store, option, leaves, arrived):
    """Add leaves to the tries of an option, and remove ``arrived`` virtual losses."""
    if store.tries[option] >= MOST_VISITS:
        store.tries[option] >>= 1
    store.tries[option] += leaves
    store.pending[option] -= arrived


@compiled
def add_virtual_loss(store, expansion, joint, by):
    """Add ``by`` virtual losses to the options of a joint move."""
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        store.pending[first_option_of(store, expansion, mover) + joint] += by
        return
    for role in range(roles):
        store.pending[option_in(store, expansion, joint, role)] += by
