"""Growth of a search tree in passes: select leaves, expand them, play out, and backpropagate.

A descent goes from the root to a leaf. At each node, every role chooses its move by an upper confidence bound
(UCT; Kocsis and Szepesvari 2006). Roles that choose simultaneously use separate statistics (Finnsson and
Bjornsson 2008). Running descents count as losses (Chaslot, Winands and van den Herik 2008), so the descents
of one pass differ. The root explores more than other nodes do (Tolpin and Shimony 2012, "MCTS based on simple
regret").
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from anygame.native.marking import compiled, exported
from anygame.search.evaluation.playouts import enqueue_playout, play_out
from anygame.search.lanes import LANES, game_at
from anygame.search.tree.backpropagation import (
    WIDE,
    add_to_descent,
    add_virtual_loss,
    backpropagate,
    end_descent,
    read_value,
    record_results,
)
from anygame.search.tree.bounds import first_option_of, is_proven, option_in
from anygame.search.tree.expansion import expand, make_children
from anygame.search.tree.minimax import ONE, has_minimax
from anygame.search.tree.store import (
    CHILDREN,
    DEPTH,
    DESCENTS,
    EXPANDED,
    EXPANDING,
    EXPANSIONS,
    IS_SHORT,
    LEAF,
    LEAVES,
    LINKS,
    NODES,
    NONE,
    OPTIONS,
    ROOT,
    TERMINAL,
    child_of,
    find_or_add,
    hash_of,
    store_at,
)
from anygame.search.tree.worker import (
    AMAF,
    BRANCHING,
    EXPLORATION,
    FINISHED,
    FREE_PATHS,
    IDLE,
    JOB_COUNT,
    JOBS,
    LONGEST_PATH,
    QUEUE_COUNT,
    ROOT_MOVES,
    SCALE,
    SPEC_COUNT,
    SPECS,
    TRUST,
    VIRTUAL_LOSS,
    random_below,
    worker_at,
)

#: Maximum factor by which the root explores more than other nodes.
MOST_AT_ROOT = 4.0


@exported
def select(store_address: int, worker_address: int, game_address: int) -> bool:
    """Start descents until the idle lanes have work; return whether any work is pending."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    counts = worker.counts
    wanted = max(0, counts[IDLE] - counts[QUEUE_COUNT])
    root = store.counts[ROOT]
    # The statistics of a small tree are poor, so a pass makes fewer descents than there are idle lanes.
    if wanted:
        wanted = min(
            max(1, wanted * SCALE // max(SCALE, counts[BRANCHING])), 1 + store.visits[root] // 32, JOBS
        )
    found, failures = 0, 0
    while found < wanted and failures < 8 + found and counts[FREE_PATHS] and not is_proven(store, root):
        if counts[SPEC_COUNT] + counts[BRANCHING] // SCALE > SPECS:
            break
        if descend(game, store, worker):
            found += 1
        else:
            failures += 1
    return found > 0 or counts[IDLE] < LANES or counts[QUEUE_COUNT] > 0 or counts[FINISHED] > 0


@compiled
def descend(game, store, worker):
    """Descend from the root to a leaf; return False if the leaf gave neither work nor a value."""
    counts = worker.counts
    counts[FREE_PATHS] -= 1
    path = worker.free_paths[counts[FREE_PATHS]]
    worker.path_references[path] = 0
    worker.path_leaves[path] = 0
    worker.path_sum[path, :] = 0
    store.counts[DESCENTS] += 1
    number = np.int32(store.counts[DESCENTS] & 0x7FFFFFFF)
    node = store.counts[ROOT]
    length, is_repeated = 0, False
    while True:
        worker.path_node[path, length] = node
        worker.path_length[path] = length
        store.stamp[node] = number
        is_expanded = store.status[node] == EXPANDED
        if is_repeated or not is_expanded or length == LONGEST_PATH or is_proven(store, node):
            break
        expansion = store.expansion[node]
        joint = _select_joint_move(game, store, worker, node, expansion)
        child = child_of(store, expansion, joint)
        if child == NONE:
            return _request_child(store, worker, path, node, expansion, joint)
        worker.path_joint[path, length] = joint
        add_virtual_loss(store, expansion, joint, 1)
        length += 1
        is_repeated = store.stamp[child] == number
        node = child
    store.counts[DEPTH] = max(store.counts[DEPTH], length)
    return _evaluate_leaf(store, worker, path, node, length)


@compiled
def _evaluate_leaf(store, worker, path, node, length):
    """Queue the expansion of a leaf, or evaluate it; return False if neither is possible now."""
    status, job = store.status[node], worker.counts[JOB_COUNT]
    has_room = store.counts[NODES] + 2 * SPECS <= len(store.status)
    if status == LEAF and job < JOBS and length < LONGEST_PATH and has_room:
        store.status[node] = EXPANDING
        worker.job_node[job] = node
        worker.job_path[job] = path
        worker.job_joint[job] = NONE
        worker.counts[JOB_COUNT] += 1
        return True
    goes_on = status == LEAF or (length == LONGEST_PATH and status != TERMINAL)
    if goes_on and not is_proven(store, node) and length:
        return _play_out_again(worker, path, node)
    # A proven node, or a node that occurs twice on the path, contributes its current value.
    has_value = status != EXPANDING and (store.visits[node] > 0 or is_proven(store, node))
    if has_value:
        read_value(store, worker, node)
        add_to_descent(worker, path, worker.value)
        store.counts[LEAVES] += 1
    end_descent(worker, path)
    return has_value


@compiled
def _play_out_again(worker, path, node):
    """Queue another playout from a leaf that cannot be expanded; return False if the queue is full."""
    last = worker.path_length[path] - 1
    if not enqueue_playout(worker, path, worker.path_joint[path, last], node):
        end_descent(worker, path)
        return False
    # When the playout ends, the virtual loss of the last joint move is removed, too.
    worker.path_length[path] = last
    return True


@compiled
def _request_child(store, worker, path, node, expansion, joint):
    """Queue a job for a child that the expansion of its parent left out; return False if there is no room."""
    counts = worker.counts
    if (
        counts[JOB_COUNT] >= JOBS
        or counts[SPEC_COUNT] >= SPECS
        or store.counts[NODES] + 2 * SPECS > len(store.status)
    ):
        end_descent(worker, path)
        return False
    roles = store.low.shape[1]
    job, spec = counts[JOB_COUNT], counts[SPEC_COUNT]
    worker.job_node[job] = node
    worker.job_path[job] = path
    worker.job_joint[job] = joint
    worker.spec_job[spec] = job
    worker.spec_joint[spec] = joint
    for role in range(roles):
        worker.spec_action[spec, role] = store.action[option_in(store, expansion, joint, role)]
    counts[JOB_COUNT] += 1
    counts[SPEC_COUNT] += 1
    return True


@compiled
def _select_joint_move(game, store, worker, node, expansion):
    roles = store.low.shape[1]
    mover = store.mover[expansion]
    if mover == roles:
        return np.int64(0)
    if mover != NONE:
        return _select_option(game, store, worker, node, expansion, mover, True)
    joint = np.int64(0)
    for role in range(roles):
        count = np.int64(store.option_counts[expansion, role])
        chosen = np.int64(0)
        if count > 1:
            chosen = _select_option(game, store, worker, node, expansion, role, False)
        joint = joint * count + chosen
    return joint


@compiled
def _select_option(game, store, worker, node, expansion, role, alone):
    """Return the option that a role tries next. ``alone`` says that no other role has a choice."""
    count = np.int64(store.option_counts[expansion, role])
    if game.random[role]:
        return random_below(worker, count)
    first = first_option_of(store, expansion, role)
    sure = store.low[node, role]
    visits = max(1, store.visits[node])
    exploration = worker.settings[EXPLORATION]
    if node == store.counts[ROOT]:
        # At the root, finding the best move matters more than a high mean. Exploring few moves is cheap.
        exploration *= min(max(1.0, worker.settings[ROOT_MOVES] / count), MOST_AT_ROOT)
    urge = np.float32(exploration * sqrt(log(visits + 1.0)))
    loss = np.float32(worker.settings[VIRTUAL_LOSS])
    hoped = np.float32(store.sums[node, role] / visits)
    later = np.float32(worker.settings[AMAF]) if count >= WIDE else np.float32(0)
    best, highest = np.int64(NONE), np.float32(-1e9)
    trust = np.float32(worker.settings[TRUST]) if alone and has_minimax(game, worker) else np.float32(0)
    start = random_below(worker, count) if visits < 64 else np.int64(0)
    for number in range(count):
        index = number + start
        if index >= count:
            index -= count
        option = first + index
        low, high = store.option_low[option], store.option_high[option]
        if alone and (low == high or high <= sure):
            continue
        tries = store.tries[option]
        mean = store.mean[option] if tries else hoped
        if later > 0 and store.amaf_tries[option] > 0:
            near = sqrt(later / (np.float32(3) * np.float32(tries) + later))
            mean += near * (store.amaf_mean[option] - mean)
        if trust > 0:
            mean += trust * (np.float32(store.option_minimax[option]) / ONE - mean)
        if alone:
            mean = min(max(mean, low), high)
        count_of_tries = np.float32(max(1, tries))
        rarity = np.float32(1) / sqrt(count_of_tries + loss * np.float32(store.pending[option]))
        score = mean * count_of_tries * rarity * rarity + urge * rarity
        if score > highest:
            best, highest = index, score
    if best != NONE:
        return best
    # Every option is proven or cannot improve the lower bound: take the option with the highest upper bound.
    most = np.float32(-1)
    for index in range(count):
        if store.option_high[first + index] > most:
            best, most = index, store.option_high[first + index]
    return best


#: Results of ``grow``: the tree can still grow, enough leaves are evaluated, no work remains, memory is full.
GOING, ENOUGH, DONE, FULL = range(4)


@exported
def look(store_address: int, leaves: int) -> int:
    """Return ``GOING`` if the tree can grow; otherwise return ``ENOUGH``, ``FULL`` or ``DONE``."""
    store = store_at(store_address)
    counts = store.counts
    if counts[LEAVES] >= leaves:
        return ENOUGH
    if (
        counts[IS_SHORT]
        or counts[NODES] + 2 * SPECS > len(store.status)
        or counts[EXPANSIONS] + JOBS > len(store.first_child)
        or counts[OPTIONS] + len(store.action) // 32 > len(store.action)
        or counts[CHILDREN] + len(store.child) // 32 > len(store.child)
        or 4 * counts[LINKS] > len(store.link_node)
    ):
        return FULL
    return DONE if counts[NODES] and is_proven(store, counts[ROOT]) else GOING


@exported
def grow(game_address: int, store_address: int, worker_address: int, passes: int, leaves: int) -> int:
    """Make passes until the tree has ``leaves`` evaluated leaves; return a result such as ``DONE``."""
    for _ in range(passes):
        state = look(store_address, leaves)
        if state != GOING:
            return state
        make_children(store_address, worker_address, game_address)
        play_out(store_address, worker_address, game_address)
        record_results(store_address, worker_address, game_address)
        expand(store_address, worker_address, game_address)
        backpropagate(store_address, worker_address, game_address)
        if not select(store_address, worker_address, game_address):
            return DONE
    return GOING


@exported
def add_state(store_address: int, worker_address: int) -> int:
    """Return the node of the state in the first row of ``Worker.spec_state``; add the node if missing."""
    states = worker_at(worker_address).spec_state
    return find_or_add(store_at(store_address), states, 0, hash_of(states, 0))[0]
