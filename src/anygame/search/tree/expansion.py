"""Expansion of leaves: make their children in lanes, and add the children to the tree."""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled, exported
from anygame.search.evaluation import has_estimates, has_playouts
from anygame.search.evaluation.playouts import enqueue_playout
from anygame.search.lanes import (
    ACTIONS,
    END,
    FIRST_ACTION,
    FIRST_FLUENT,
    FLUENTS,
    GO,
    LANES,
    RESTART,
    bit_of,
    evaluate_moves,
    evaluate_state,
    game_at,
    joint_count,
    list_moves,
    load_states,
    read_states,
    value_of_lane,
)
from anygame.search.tree.backpropagation import (
    WIDE,
    add_to_descent,
    add_to_node,
    add_virtual_loss,
    end_descent,
    read_value,
    record_leaf,
)
from anygame.search.tree.bounds import is_proven, update_bounds
from anygame.search.tree.minimax import (
    backpropagate_minimax,
    estimate_children,
    has_minimax,
    minimax_of_option,
    set_minimax,
)
from anygame.search.tree.store import (
    CHILDREN,
    COMPETITIVE,
    EXPANDED,
    EXPANSIONS,
    IS_SHORT,
    IS_WIDE,
    LEAF,
    LEAVES,
    NODES,
    NONE,
    OPTIONS,
    TERMINAL,
    child_of,
    find_or_add,
    hash_of,
    prefetch_node,
    prefetch_slot,
    set_child,
    store_at,
)
from anygame.search.tree.worker import (
    ALL_CHILDREN,
    BRANCHING,
    JOB_COUNT,
    LISTED,
    SCALE,
    SOME_CHILDREN,
    SPEC_COUNT,
    SPECS,
    random_below,
    worker_at,
)


@exported
def make_children(store_address: int, worker_address: int, game_address: int) -> None:
    """List the legal moves of the leaves to expand, and make the children of all jobs."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    _list_moves(game, store, worker)
    _specify(game, worker)
    at = 0
    while at < worker.counts[SPEC_COUNT]:
        count = min(LANES, worker.counts[SPEC_COUNT] - at)
        _make_states(game, store, worker, at, count)
        at += count


@compiled
def _list_moves(game, store, worker):
    """List the legal moves of the leaves to expand, and read the goals of their states."""
    rows, lanes = worker.making, 0
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] == NONE:
            worker.job_lane[job] = lanes
            worker.lanes[lanes] = lanes
            worker.sources[lanes] = worker.job_node[job]
            lanes += 1
    if not lanes:
        return
    load_states(game, rows, worker.lanes, store.states, worker.sources, lanes, worker.square)
    evaluate_state(game, worker.addresses[1])
    list_moves(game, rows, lanes, worker.list_count, worker.list_first, worker.listed, LISTED)
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] == NONE:
            for role in range(worker.job_value.shape[1]):
                worker.job_value[job, role] = value_of_lane(game, rows, role, worker.job_lane[job])[0]


@compiled
def _specify(game, worker):
    """Choose the children to make: all children of a node, or a sample if there are too many."""
    roles = len(game.random)
    specs = worker.counts[SPEC_COUNT]  # The first entries are the children that jobs request one by one.
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] != NONE:
            worker.job_specs[job] = 1
            continue
        lane = worker.job_lane[job]
        is_listed = worker.list_count[lane, roles - 1] != NONE
        product = joint_count(worker.list_count, lane) if is_listed else 0
        wanted = product if product <= ALL_CHILDREN else SOME_CHILDREN
        if not is_listed or specs + wanted > SPECS:
            worker.job_specs[job] = NONE  # This pass has no room for the children, so a later pass retries.
            continue
        worker.job_specs[job] = wanted
        start = 0 if product <= ALL_CHILDREN else random_below(worker, product)
        # Sample evenly spaced joint moves from a random start.
        stride = max(1, product // max(1, wanted))
        for number in range(wanted):
            joint = (start + number * stride) % product
            worker.spec_job[specs] = job
            worker.spec_joint[specs] = joint
            for role in range(roles - 1, -1, -1):
                count = worker.list_count[lane, role]
                worker.spec_action[specs, role] = worker.listed[worker.list_first[lane, role] + joint % count]
                joint //= count
            specs += 1
    worker.counts[SPEC_COUNT] = specs


@compiled
def _make_states(game, store, worker, at, count):
    """Make the states of ``count`` children, beginning with child number ``at``, one child in each lane."""
    rows, layout = worker.making, game.layout
    roles = len(game.random)
    for lane in range(count):
        worker.lanes[lane] = lane
        worker.sources[lane] = worker.job_node[worker.spec_job[at + lane]]
    load_states(game, rows, worker.lanes, store.states, worker.sources, count, worker.square)
    evaluate_state(game, worker.addresses[1])
    first = layout[FIRST_ACTION]
    rows[first : first + layout[ACTIONS], :] = 0
    rows[GO, :] = 0
    rows[RESTART, :] = 0
    for lane in range(count):
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(roles):
            rows[first + worker.spec_action[at + lane, role], lane >> 6] |= bit
        rows[GO, lane >> 6] |= bit
    evaluate_moves(game, worker.addresses[1])
    evaluate_state(game, worker.addresses[1])
    read_states(
        rows, layout[FIRST_FLUENT], layout[FLUENTS], count, worker.spec_state[at : at + count], worker.square
    )
    for lane in range(count):
        ended = worker.spec_terminal[at + lane] = bit_of(rows, layout[END], lane)
        if ended:
            for role in range(roles):
                value, known = value_of_lane(game, rows, role, lane)
                worker.spec_value[at + lane, role] = value
                worker.spec_known[at + lane, role] = known


#: A node with two choosing roles and at most this many joint moves has its children in ``Store.child``. A
#: node with more joint moves has its children in a hash table.
LISTED_OF_TWO = 1 << 14
#: Maximum number of joint moves in ``Store.child`` if more than two roles choose: most are never tried.
LISTED_OF_MORE = 1 << 10
#: Maximum share of ``Store.child`` that one node takes.
LISTED_SHARE = 1 / 16


@exported
def expand(store_address: int, worker_address: int, game_address: int) -> None:
    """Add the children of all jobs to the tree."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    for spec in range(worker.counts[SPEC_COUNT]):
        worker.spec_hash[spec] = hash_of(worker.spec_state, spec)
        prefetch_slot(store, worker.spec_hash[spec])
    for spec in range(worker.counts[SPEC_COUNT]):
        prefetch_node(store, worker.spec_hash[spec])
    spec = 0
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] != NONE:
            spec = _add_child(game, store, worker, job, spec)
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] == NONE:
            spec = _expand_leaf(game, store, worker, job, spec)
    worker.counts[JOB_COUNT] = 0
    worker.counts[SPEC_COUNT] = 0


@compiled
def _make_terminal(game, store, node, value, known):
    """Mark a node as an end of the game. The value of a role without exactly one goal remains unproven."""
    store.status[node] = TERMINAL
    total, whole = 0.0, True
    for role in range(store.low.shape[1]):
        if known[role] or game.random[role]:
            store.low[node, role] = np.float32(value[role])
            store.high[node, role] = np.float32(value[role])
        if not game.random[role]:
            total += value[role]
            whole = whole and known[role]
    if whole and abs(total - 1.0) > 1e-6:
        store.counts[COMPETITIVE] = 0
    if not is_proven(store, node):
        add_to_node(store, node, value, 1)


@compiled
def _expand_leaf(game, store, worker, job, spec):
    """Expand the node of a job; return the number of the first child of the next job."""
    node, path = worker.job_node[job], worker.job_path[job]
    specs = worker.job_specs[job]
    counts = store.counts
    if specs == NONE:
        store.status[node] = LEAF
        end_descent(worker, path)
        return spec
    roles = store.low.shape[1]
    lane = worker.job_lane[job]
    options = 0
    choosing, mover = 0, roles
    for role in range(roles):
        count = worker.list_count[lane, role]
        options += count
        if count > 1:
            choosing += 1
            mover = role
    product = joint_count(worker.list_count, lane)
    if not product:
        # A role has no legal move, so play stops here, although the rules do not call the state terminal.
        store.status[node] = TERMINAL
        add_to_node(store, node, worker.job_value[job], 1)
        add_to_descent(worker, path, worker.job_value[job])
        end_descent(worker, path)
        return spec
    most = min(LISTED_OF_TWO if choosing == 2 else LISTED_OF_MORE, LISTED_SHARE * len(store.child))
    listed = product if product <= most or choosing < 2 else 0
    if (
        counts[EXPANSIONS] + 1 > len(store.first_child)
        or counts[OPTIONS] + options > len(store.action)
        or counts[CHILDREN] + listed > len(store.child)
        or counts[NODES] + specs > len(store.status)
    ):
        # Memory is full, so the node remains a leaf.
        counts[IS_SHORT] = 1
        store.status[node] = LEAF
        end_descent(worker, path)
        return spec + specs
    expansion = counts[EXPANSIONS]
    counts[EXPANSIONS] += 1
    store.expansion[node] = expansion
    store.first_option[expansion] = counts[OPTIONS]
    store.first_child[expansion] = counts[CHILDREN] if listed else NONE
    store.owner[expansion] = node
    store.first_link[expansion] = NONE
    store.mover[expansion] = mover if choosing < 2 else NONE
    option = counts[OPTIONS]
    for role in range(roles):
        store.option_counts[expansion, role] = worker.list_count[lane, role]
        for number in range(worker.list_count[lane, role]):
            store.action[option] = worker.listed[worker.list_first[lane, role] + number]
            store.tries[option] = 0
            store.pending[option] = 0
            store.mean[option] = 0
            store.option_low[option] = 0
            store.option_high[option] = 1
            store.amaf_tries[option] = 0
            store.amaf_mean[option] = 0
            option += 1
        if worker.list_count[lane, role] >= WIDE and choosing < 2:
            counts[IS_WIDE] = 1
    counts[OPTIONS] = option
    for child in range(counts[CHILDREN], counts[CHILDREN] + listed):
        store.child[child] = NONE
    counts[CHILDREN] += listed
    store.status[node] = EXPANDED
    _record_branching(worker, specs)
    for number in range(spec, spec + specs):
        _link_child(game, store, worker, expansion, number)
    if has_estimates(worker):
        estimate_children(game, store, worker, node, spec, specs)
        if has_minimax(game, worker):
            set_minimax(store, worker, node, spec, specs)
    if _end_if_proven(game, store, worker, path, node):
        return spec + specs
    for number in range(spec, spec + specs):
        _evaluate_child(game, store, worker, path, node, number, number - spec)
    if not worker.path_references[path]:
        end_descent(worker, path)
    return spec + specs


@compiled
def _record_branching(worker, children):
    worker.counts[BRANCHING] += (SCALE * children - worker.counts[BRANCHING]) // 8


@compiled
def _add_child(game, store, worker, job, spec):
    """Add one more child of an expanded node to the tree; return the number of the next child."""
    node, path = worker.job_node[job], worker.job_path[job]
    _record_branching(worker, 1)
    if store.counts[NODES] + 1 > len(store.status):
        end_descent(worker, path)
        return spec + 1
    expansion = store.expansion[node]
    if not _link_child(game, store, worker, expansion, spec):
        end_descent(worker, path)
    elif not _end_if_proven(game, store, worker, path, node):
        if has_minimax(game, worker):
            joint = worker.spec_joint[spec]
            backpropagate_minimax(game, store, worker, node, joint, child_of(store, expansion, joint))
        if not has_playouts(worker):
            estimate_children(game, store, worker, node, spec, 1)
        _evaluate_child(game, store, worker, path, node, spec, 0)
        if not worker.path_references[path]:
            end_descent(worker, path)
    return spec + 1


@compiled
def _link_child(game, store, worker, expansion, spec):
    """Link a child to its parent; return False if there is no room for the link."""
    child, new = find_or_add(store, worker.spec_state, spec, worker.spec_hash[spec])
    if new and worker.spec_terminal[spec]:
        _make_terminal(game, store, child, worker.spec_value[spec], worker.spec_known[spec])
    return set_child(store, expansion, worker.spec_joint[spec], child)


@compiled
def _end_if_proven(game, store, worker, path, node):
    """End a descent if the children prove the value of a node; return whether the descent ended."""
    update_bounds(game, store, node)
    if not is_proven(store, node):
        return False
    read_value(store, worker, node)
    store.counts[LEAVES] += 1
    add_to_node(store, node, worker.value, 1)
    add_to_descent(worker, path, worker.value)
    end_descent(worker, path)
    return True


@compiled
def _evaluate_child(game, store, worker, path, node, spec, number):
    """Record the known or estimated value of child ``number`` of a job, or queue a playout."""
    expansion, joint = store.expansion[node], worker.spec_joint[spec]
    child = child_of(store, expansion, joint)
    if child == NONE:
        return  # The hash table of links had no room for the new child.
    if store.visits[child] or is_proven(store, child):
        read_value(store, worker, child)
    elif has_playouts(worker):
        if enqueue_playout(worker, path, joint, child):
            add_virtual_loss(store, expansion, joint, 1)
        return
    elif has_minimax(game, worker) and store.mover[expansion] != NONE:
        value = minimax_of_option(store, expansion, joint)
        worker.value[0], worker.value[1] = value, 1 - value
    else:
        for role in range(len(worker.value)):
            worker.value[role] = worker.batch_value[1 + number, role]
    if not store.visits[child]:
        add_to_node(store, child, worker.value, 1)
    store.counts[LEAVES] += 1
    record_leaf(store, worker, path, joint, child, worker.value, 0)
