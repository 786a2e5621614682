"""Freeing of memory: the tree keeps only the most visited nodes below the root."""

from __future__ import annotations

import numpy as np

from anygame.native.marking import Float64s, Int32s, Int64s, compiled, exported, prefetch
from anygame.search.lanes import LANES, joint_count
from anygame.search.tree.store import (
    CHILDREN,
    EXPANDED,
    EXPANDING,
    EXPANSIONS,
    LEAF,
    LINKS,
    NODES,
    NONE,
    OPTIONS,
    ROOT,
    rehash,
    set_child,
    store_at,
)
from anygame.search.tree.worker import (
    FINISHED,
    FREE_PATHS,
    IDLE,
    JOB_COUNT,
    PATHS,
    QUEUE_COUNT,
    RESULT_COUNT,
    SPEC_COUNT,
    worker_at,
)

#: Marks of nodes: keep the node without its expansion, or with it. Nodes with the mark NONE are dropped.
_LEAF, _WHOLE = range(2)
#: Number of nodes by which ``_mark`` prefetches ahead.
_AHEAD = 16
#: Number of classes of nodes. The class of a node is the highest set bit of its number of visits.
LEVELS = 32


@exported
def drop_work(store_address: int, worker_address: int) -> None:
    """Abandon all running descents, jobs and playouts."""
    store, worker = store_at(store_address), worker_at(worker_address)
    for job in range(worker.counts[JOB_COUNT]):
        if store.status[worker.job_node[job]] == EXPANDING:
            store.status[worker.job_node[job]] = LEAF
    for path in range(PATHS):
        for at in range(worker.path_length[path] + 1):
            _clear_virtual_losses(store, worker.path_node[path, at])
    worker.lane_node[:] = NONE
    for path in range(PATHS):
        worker.free_paths[path] = path
    counts = worker.counts
    counts[FREE_PATHS], counts[IDLE] = PATHS, LANES
    counts[FINISHED] = counts[QUEUE_COUNT] = counts[JOB_COUNT] = counts[SPEC_COUNT] = counts[RESULT_COUNT] = 0


@compiled
def _clear_virtual_losses(store, node):
    """Clear the virtual losses of a node; ignore the number of a node that no longer exists."""
    if node >= store.counts[NODES] or store.status[node] != EXPANDED:
        return
    expansion = store.expansion[node]
    option = store.first_option[expansion]
    for role in range(store.option_counts.shape[1]):
        for _ in range(store.option_counts[expansion, role]):
            store.pending[option] = 0
            option += 1


@exported
def least_visits(store_address: int, share: float, sizes: Float64s) -> int:
    """Return a number of visits: expansions of nodes with at least as many visits fit in a share of memory.

    ``sizes``, float64 [LEVELS], is a temporary array of zeros.
    """
    store = store_at(store_address)
    for expansion in range(store.counts[EXPANSIONS]):
        level, visits = 0, store.visits[store.owner[expansion]]
        while visits > 1:
            visits >>= 1
            level += 1
        sizes[level] += _share_of(store, expansion)
    kept = 0.0
    for level in range(LEVELS - 1, 0, -1):
        kept += sizes[level]
        if kept > share:
            return 2 << level
    return 1


@compiled
def _share_of(store, expansion):
    """Return an expansion's share of memory: of options or of children, whichever share is larger."""
    options = 0
    for role in range(store.option_counts.shape[1]):
        options += store.option_counts[expansion, role]
    listed = joint_count(store.option_counts, expansion) if store.first_child[expansion] >= 0 else 0
    return max((1 + options) / len(store.status), listed / len(store.child))


@exported
def forget(
    store_address: int,
    least: int,
    new_nodes: Int32s,
    new_expansions: Int32s,
    waiting: Int32s,
    link_expansion: Int32s,
    link_joint: Int64s,
    link_node: Int32s,
) -> None:
    """Keep the root, its children, and the children of kept nodes that have at least ``least`` visits.

    Kept nodes get new numbers. Call ``drop_work`` first. Temporary arrays are ``new_nodes`` [nodes], filled
    with NONE, ``waiting`` [nodes] and ``new_expansions`` [expansions]. The other arrays are copies of the
    tree's links, or empty if the tree has no links.
    """
    store = store_at(store_address)
    _mark(store, least, new_nodes, waiting)
    _move_nodes(store, new_nodes)
    _move_expansions(store, new_nodes, new_expansions)
    if store.counts[LINKS]:
        store.link_node[:] = 0
        store.counts[LINKS] = 0
    for slot in range(len(link_node)):
        if not link_node[slot]:
            continue
        expansion, child = new_expansions[link_expansion[slot]], new_nodes[link_node[slot] - 1]
        if expansion != NONE and child != NONE:
            set_child(store, expansion, link_joint[slot], child)
    store.counts[ROOT] = new_nodes[store.counts[ROOT]]
    rehash(store)


@compiled
def _mark(store, least, marks, waiting):
    root = store.counts[ROOT]
    marks[root] = _LEAF
    waiting[0] = root
    count, at = 1, 0
    while at < count:
        node = np.int64(waiting[at])
        at += 1
        if at + _AHEAD < count:
            prefetch(store.status, np.int64(waiting[at + _AHEAD]))
        if store.status[node] != EXPANDED or (store.visits[node] < least and node != root):
            continue
        marks[node] = _WHOLE
        expansion = store.expansion[node]
        if store.first_child[expansion] >= 0:
            for joint in range(joint_count(store.option_counts, expansion)):
                child = store.child[store.first_child[expansion] + joint]
                count = _mark_child(child, marks, waiting, count)
        slot = store.first_link[expansion]
        while slot != NONE:
            count = _mark_child(store.link_node[slot] - 1, marks, waiting, count)
            slot = store.next_link[slot]


@compiled
def _mark_child(child, marks, waiting, count):
    if child != NONE and marks[child] == NONE:
        marks[child] = _LEAF
        waiting[count] = child
        return count + 1
    return count


@compiled
def _move_nodes(store, new_nodes):
    made = 0
    roles = store.sums.shape[1]
    for node in range(store.counts[NODES]):
        if new_nodes[node] == NONE:
            continue
        whole = new_nodes[node] == _WHOLE
        new_nodes[node] = made
        status = store.status[node]
        store.status[made] = LEAF if status == EXPANDED and not whole else status
        store.expansion[made] = store.expansion[node] if whole else NONE
        store.visits[made] = store.visits[node]
        store.distance[made] = store.distance[node]
        for word in range(store.states.shape[1]):
            store.states[made, word] = store.states[node, word]
        for role in range(roles):
            store.sums[made, role] = store.sums[node, role]
            store.low[made, role] = store.low[node, role]
            store.high[made, role] = store.high[node, role]
        store.stamp[made] = 0
        made += 1
    store.counts[NODES] = made


@compiled
def _move_expansions(store, new_nodes, new_expansions):
    roles = store.option_counts.shape[1]
    made, options, children = 0, np.int64(0), np.int64(0)
    for expansion in range(store.counts[EXPANSIONS]):
        new_expansions[expansion] = NONE
        owner = new_nodes[store.owner[expansion]]
        if owner == NONE or store.expansion[owner] != expansion:
            continue
        new_expansions[expansion] = made
        count, product = 0, joint_count(store.option_counts, expansion)
        for role in range(roles):
            count += store.option_counts[expansion, role]
            store.option_counts[made, role] = store.option_counts[expansion, role]
        first = store.first_option[expansion]
        for number in range(count):
            _move_option(store, first + number, options + number)
        first = store.first_child[expansion]
        if first >= 0:
            for joint in range(product):
                child = store.child[first + joint]
                store.child[children + joint] = NONE if child == NONE else new_nodes[child]
        store.first_option[made] = options
        store.first_child[made] = children if first >= 0 else NONE
        store.first_link[made] = NONE
        store.mover[made] = store.mover[expansion]
        store.minimax[made] = store.minimax[expansion]
        store.owner[made] = owner
        options += count
        children += product if first >= 0 else 0
        made += 1
    for expansion in range(made):
        store.expansion[store.owner[expansion]] = expansion
    store.counts[EXPANSIONS] = made
    store.counts[OPTIONS] = options
    store.counts[CHILDREN] = children


@compiled
def _move_option(store, option, to):
    store.action[to] = store.action[option]
    store.tries[to] = store.tries[option]
    store.pending[to] = 0
    store.option_minimax[to] = store.option_minimax[option]
    store.mean[to] = store.mean[option]
    store.option_low[to] = store.option_low[option]  # This also copies ``residue``.
    store.option_high[to] = store.option_high[option]
    store.amaf_tries[to] = store.amaf_tries[option]
    store.amaf_mean[to] = store.amaf_mean[option]
