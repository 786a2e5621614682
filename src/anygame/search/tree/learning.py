"""What playouts and new children teach: statistics and bounds go up the ways that led to them."""

from __future__ import annotations

import numpy as np
from anygame.search.tree.compiling import compiled

from anygame.search.tree.making import product_of
from anygame.search.tree.proving import first_option_of, is_proven, update_bounds
from anygame.search.tree.store import (
    CHILDREN,
    COMPETITIVE,
    EXPANDED,
    EXPANSIONS,
    LEAF,
    LEAVES,
    NODES,
    NONE,
    OPTIONS,
    TERMINAL,
    child_of,
    find_or_add,
    set_child,
)
from anygame.search.tree.worker import (
    ALL_CHILDREN,
    BRANCHING,
    FREE_PATHS,
    JOB_COUNT,
    QUEUE,
    QUEUE_COUNT,
    QUEUE_FIRST,
    RESULT_COUNT,
    SPEC_COUNT,
)

__all__ = ["climb", "learn", "release", "recall", "wait_for"]

#: Joint moves of several roles are kept in a list up to so many, and found by hash if they are more.
LISTED_CHILDREN = 1 << 14


@compiled
def learn(game, store, worker):
    """Learn from the results of playouts, then put the new children into the tree."""
    for result in range(worker.counts[RESULT_COUNT]):
        path, node = worker.result_path[result], worker.result_node[result]
        _add(store, node, worker.result_value[result])
        climb(game, store, worker, path, worker.result_joint[result], node, worker.result_value[result], 1)
        worker.path_references[path] -= 1
        if not worker.path_references[path]:
            release(store, worker, path)
    store.counts[LEAVES] += worker.counts[RESULT_COUNT]
    worker.counts[RESULT_COUNT] = 0
    spec = 0
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] != NONE:
            spec = _insert(game, store, worker, job, spec)
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] == NONE:
            spec = _insert_all(game, store, worker, job, spec)
    worker.counts[JOB_COUNT] = 0
    worker.counts[SPEC_COUNT] = 0


@compiled
def _add(store, node, value):
    store.visits[node] += 1
    for role in range(store.sums.shape[1]):
        store.sums[node, role] += value[role]


@compiled
def climb(game, store, worker, path, joint, child, value, arrived):
    """Add a value to the nodes of a path and to the options that were taken there.

    Args:
        game: the game.
        store: the tree.
        worker: the thread.
        path: the descent.
        joint: the joint move made behind its last node, NONE if none was.
        child: the node that this led to.
        value: float64 [roles].
        arrived: how many descents are no longer under way behind its last node.
    """
    at = worker.path_length[path]
    if joint == NONE:
        child = worker.path_node[path, at]
        at -= 1
        if at < 0:
            return
        joint = worker.path_joint[path, at]
        arrived = 0
    bounds = True
    while True:
        node = worker.path_node[path, at]
        _add(store, node, value)
        _teach(store, node, joint, child, value, arrived)
        if bounds:
            bounds = _pass_bounds(game, store, node, child)
        child = node
        at -= 1
        if at < 0:
            return
        joint = worker.path_joint[path, at]
        arrived = 0


@compiled
def recall(store, worker, node):
    """Put what is known of the value of a node, its mean between its bounds, into ``worker.value``."""
    value = worker.value
    visits = max(1, store.visits[node])
    for role in range(len(value)):
        mean = store.sums[node, role] / visits
        value[role] = min(max(mean, store.low[node, role]), store.high[node, role])


@compiled
def _pass_bounds(game, store, node, child):
    """Update the bounds of a node if those of a child tell something; return whether they may go on up."""
    told = False
    for role in range(store.low.shape[1]):
        told |= store.low[child, role] > 0 or store.high[child, role] < 1
    if told:
        update_bounds(game, store, node)
    return told


@compiled
def _teach(store, node, joint, child, value, arrived):
    """Add a value to the options that make up a joint move."""
    expansion = store.expansion[node]
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        option = first_option_of(store, expansion, mover) + joint
        store.tries[option] += 1
        store.pending[option] -= arrived
        mean = store.sums[child, mover] / store.visits[child] if store.visits[child] else value[mover]
        store.mean[option] = mean
        return
    option = store.first_option[expansion]
    stride = np.int64(1)
    for role in range(roles):
        stride *= store.option_counts[expansion, role]
    for role in range(roles):
        count = store.option_counts[expansion, role]
        stride //= count
        chosen = option + joint // stride % count
        store.tries[chosen] += 1
        store.pending[chosen] -= arrived
        store.mean[chosen] += np.float32((value[role] - store.mean[chosen]) / store.tries[chosen])
        option += count


@compiled
def wait_for(store, expansion, joint, by):
    """Note that so many more descents are under way through the options of a joint move."""
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        store.pending[first_option_of(store, expansion, mover) + joint] += by
        return
    option = store.first_option[expansion]
    stride = np.int64(1)
    for role in range(roles):
        stride *= store.option_counts[expansion, role]
    for role in range(roles):
        count = store.option_counts[expansion, role]
        stride //= count
        store.pending[option + joint // stride % count] += by
        option += count


@compiled
def release(store, worker, path):
    """End a descent: it is no longer under way."""
    for at in range(worker.path_length[path]):
        wait_for(store, store.expansion[worker.path_node[path, at]], worker.path_joint[path, at], -1)
    worker.free_paths[worker.counts[FREE_PATHS]] = path
    worker.counts[FREE_PATHS] += 1


@compiled
def _end(game, store, node, value):
    """Make a node an end of the game."""
    store.status[node] = TERMINAL
    total = 0.0
    for role in range(store.low.shape[1]):
        store.low[node, role] = np.float32(value[role])
        store.high[node, role] = np.float32(value[role])
        total += 0.0 if game.random[role] else value[role]
    if abs(total - 1.0) > 1e-6:
        store.counts[COMPETITIVE] = 0


@compiled
def _insert_all(game, store, worker, job, spec):
    """Expand the node of a job whose moves were listed; return the number of the next child."""
    node, path = worker.job_node[job], worker.job_path[job]
    specs = worker.job_specs[job]
    counts = store.counts
    if specs == NONE:
        store.status[node] = LEAF
        release(store, worker, path)
        return spec
    roles = store.low.shape[1]
    product, options = np.int64(1), 0
    choosing, mover = 0, roles
    for role in range(roles):
        count = worker.job_count[job, role]
        options += count
        product = min(product * max(count, 1), np.int64(1) << 40) if count else np.int64(0)
        if count > 1:
            choosing += 1
            mover = role
        if not count:
            product = 0
            break
    if not product:
        # A role without a move ends the game, whatever the rules say.
        _end(game, store, node, worker.job_value[job])
        _add(store, node, worker.job_value[job])
        climb(game, store, worker, path, NONE, node, worker.job_value[job], 0)
        release(store, worker, path)
        return spec
    product = product_of(worker.job_count, job)
    listed = product if product <= LISTED_CHILDREN or choosing < 2 else 0
    if (
        counts[EXPANSIONS] + 1 > len(store.first_child)
        or counts[OPTIONS] + options > len(store.action)
        or counts[CHILDREN] + listed > len(store.child)
        or counts[NODES] + specs > len(store.status)
    ):
        # The memory is used up: the leaf stays one.
        store.status[node] = LEAF
        release(store, worker, path)
        return spec + specs
    expansion = counts[EXPANSIONS]
    counts[EXPANSIONS] += 1
    store.expansion[node] = expansion
    store.first_option[expansion] = counts[OPTIONS]
    store.first_child[expansion] = counts[CHILDREN] if listed else NONE
    store.mover[expansion] = mover if choosing < 2 else NONE
    option = counts[OPTIONS]
    for role in range(roles):
        store.option_counts[expansion, role] = worker.job_count[job, role]
        for number in range(worker.job_count[job, role]):
            store.action[option] = worker.listed[worker.job_first[job, role] + number]
            store.tries[option] = 0
            store.pending[option] = 0
            store.mean[option] = 0
            store.option_low[option] = 0
            store.option_high[option] = 1
            store.amaf_tries[option] = 0
            store.amaf_mean[option] = 0
            option += 1
    counts[OPTIONS] = option
    for child in range(counts[CHILDREN], counts[CHILDREN] + listed):
        store.child[child] = NONE
    counts[CHILDREN] += listed
    store.status[node] = EXPANDED
    worker.counts[BRANCHING] = (7 * worker.counts[BRANCHING] + min(specs, 512) + 7) // 8
    for number in range(spec, spec + specs):
        _link(game, store, worker, expansion, number)
    if _prove(game, store, worker, path, node):
        return spec + specs
    for number in range(spec, spec + specs):
        _follow(game, store, worker, path, expansion, number)
    _let_go(store, worker, path)
    return spec + specs


@compiled
def _insert(game, store, worker, job, spec):
    """Put one more child of an expanded node into the tree; return the number of the next child."""
    node, path = worker.job_node[job], worker.job_path[job]
    if store.counts[NODES] + 1 > len(store.status):
        release(store, worker, path)
        return spec + 1
    expansion = store.expansion[node]
    if not _link(game, store, worker, expansion, spec):
        release(store, worker, path)
    elif not _prove(game, store, worker, path, node):
        _follow(game, store, worker, path, expansion, spec)
        _let_go(store, worker, path)
    return spec + 1


@compiled
def _link(game, store, worker, expansion, spec):
    """Find or make the node of a child; return whether there was room for it."""
    child, new = find_or_add(store, worker.spec_state, spec)
    if new and worker.spec_terminal[spec]:
        _end(game, store, child, worker.spec_value[spec])
    return set_child(store, expansion, worker.spec_joint[spec], child)


@compiled
def _prove(game, store, worker, path, node):
    """Look whether a node is proven by its children: then its value counts, and no playout is needed."""
    update_bounds(game, store, node)
    if not is_proven(store, node):
        return False
    recall(store, worker, node)
    _add(store, node, worker.value)
    climb(game, store, worker, path, NONE, node, worker.value, 0)
    release(store, worker, path)
    return True


@compiled
def _follow(game, store, worker, path, expansion, spec):
    """Learn what is known of a child, or have it played out."""
    joint = worker.spec_joint[spec]
    child = child_of(store, expansion, joint)
    counts = worker.counts
    if store.visits[child] or is_proven(store, child):
        recall(store, worker, child)
        if not store.visits[child]:
            _add(store, child, worker.value)
        climb(game, store, worker, path, joint, child, worker.value, 0)
        return
    if counts[QUEUE_COUNT] >= QUEUE:
        return
    at = (counts[QUEUE_FIRST] + counts[QUEUE_COUNT]) % QUEUE
    worker.queue_node[at] = child
    worker.queue_path[at] = path
    worker.queue_joint[at] = joint
    counts[QUEUE_COUNT] += 1
    worker.path_references[path] += 1
    wait_for(store, expansion, joint, 1)


@compiled
def _let_go(store, worker, path):
    """Drop the reference of the job; the playouts hold theirs."""
    if not worker.path_references[path]:
        release(store, worker, path)
