"""What playouts and new children teach: statistics and bounds go up the ways that led to them."""

from __future__ import annotations

import numpy as np

from anygame.search.native.marking import compiled, exported
from anygame.search.tree.estimating import pass_minimax, set_minimax
from anygame.search.tree.game_code import game_at
from anygame.search.tree.making import random_below
from anygame.search.tree.proving import first_option_of, is_proven, option_in, update_bounds
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
    ask_for_node,
    ask_for_slot,
    child_of,
    find_or_add,
    hash_of,
    product_of,
    set_child,
    store_at,
)
from anygame.search.tree.worker import (
    BRANCHING,
    FINISHED,
    FREE_PATHS,
    JOB_COUNT,
    MINIMAX,
    QUEUE,
    QUEUE_COUNT,
    QUEUE_FIRST,
    RESULT_COUNT,
    SCALE,
    SPEC_COUNT,
    worker_at,
)

#: Moves of a role from which on those that are made later in playouts are looked at too: where there are
#: fewer, each is soon tried often enough, and it was no gain.
WIDE = 40
#: Nodes with more visits learn of moves made later from one playout in eight.
ENOUGH_PLAYOUTS, SOME_PLAYOUTS = 32, 8
#: Joint moves of two roles are kept in a list up to so many, and of more roles, which hardly ever know them
#: all; if they are more, or more than a share of the memory, they are found by hash.
LISTED_OF_TWO, LISTED_OF_MORE, LISTED_SHARE = 1 << 14, 1 << 10, 1 / 16
#: Visits and tries that are as many are halved: they have 31 bits, which hours of search would fill.
MOST_VISITS = 1 << 30


@exported
def hear(store_address: int, worker_address: int, _game_address: int) -> None:
    """Learn from the results of playouts."""
    store, worker = store_at(store_address), worker_at(worker_address)
    for result in range(worker.counts[RESULT_COUNT]):
        path, node = worker.result_path[result], worker.result_node[result]
        joint = worker.result_joint[result]
        _add(store, node, worker.result_value[result], 1)
        _tell(store, worker, path, joint, node, worker.result_value[result], 1)
        if store.counts[IS_WIDE]:
            # A playout tells of half of the moves: soon some of them tell as much as all.
            most = ENOUGH_PLAYOUTS if random_below(worker, SOME_PLAYOUTS) else MOST_VISITS
            _tell_all_moves(
                store, worker, path, joint, worker.result_value[result], worker.result_made[result], most
            )
        worker.path_references[path] -= 1
        if not worker.path_references[path]:
            finish(worker, path)
    store.counts[LEAVES] += worker.counts[RESULT_COUNT]
    worker.counts[RESULT_COUNT] = 0


@exported
def expand(store_address: int, worker_address: int, game_address: int) -> None:
    """Put the children that were made into the tree."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    for spec in range(worker.counts[SPEC_COUNT]):
        worker.spec_hash[spec] = hash_of(worker.spec_state, spec)
        ask_for_slot(store, worker.spec_hash[spec])
    for spec in range(worker.counts[SPEC_COUNT]):
        ask_for_node(store, worker.spec_hash[spec])
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
def _add(store, node, value, leaves):
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
def _tell(store, worker, path, joint, child, value, arrived):
    """Add the value of a leaf to the last node of a path, and keep it for those before.

    Args:
        store: the tree.
        worker: the thread.
        path: the descent.
        joint: the joint move that led to the leaf.
        child: the leaf.
        value: float64 [roles].
        arrived: how many playouts are no longer waited for.
    """
    node = worker.path_node[path, worker.path_length[path]]
    _add(store, node, value, 1)
    _teach(store, node, joint, child, value, 1, arrived)
    keep(worker, path, value)


@compiled
def _tell_all_moves(store, worker, path, joint, value, made, most):
    """Tell the nodes of a path how a playout ended in which some actions were made sooner or later.

    All moves as first (AMAF): rapid action value estimation, Gelly and Silver 2007, "Combining online and
    offline knowledge in UCT".

    Args:
        store: the tree.
        worker: the thread.
        path: the descent.
        joint: the joint move that led to the playout.
        value: float64 [roles].
        made: uint64 [words], a bit an action; those of the path are added.
        most: visits from which on a node, and those above it, are not told.
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
def keep(worker, path, value):
    """Keep the value of a leaf until all leaves of its descent are known."""
    worker.path_leaves[path] += 1
    for role in range(len(value)):
        worker.path_sum[path, role] += value[role]


@compiled
def finish(worker, path):
    """End a descent: what its leaves told is to go up the way to the root."""
    worker.finished[worker.counts[FINISHED]] = path
    worker.counts[FINISHED] += 1


@exported
def climb(store_address: int, worker_address: int, game_address: int) -> None:
    """Let what the finished descents told go up; they are no longer under way."""
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
                _add(store, node, value, leaves)
                _teach(store, node, joint, child, value, leaves, 1)
            else:
                wait_for(store, store.expansion[node], joint, -1)
            if bounds:
                bounds = _pass_bounds(game, store, node, child)
            if minimax:
                minimax = pass_minimax(game, store, worker, node, joint, child)
            child = node
        worker.free_paths[worker.counts[FREE_PATHS]] = path
        worker.counts[FREE_PATHS] += 1
    worker.counts[FINISHED] = 0


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
def _teach(store, node, joint, child, value, leaves, arrived):
    """Add the sum of the values of some leaves to the options that make up a joint move."""
    expansion = store.expansion[node]
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        option = first_option_of(store, expansion, mover) + joint
        _count(store, option, leaves, arrived)
        visits = store.visits[child]
        store.mean[option] = store.sums[child, mover] / visits if visits else value[mover] / leaves
        return
    for role in range(roles):
        chosen = option_in(store, expansion, joint, role)
        _count(store, chosen, leaves, arrived)
        # After millions of tries most changes are less than what rounding to 32 bits takes away.
        mean = np.float64(store.mean[chosen]) + np.float64(store.option_low[chosen])
        mean += (value[role] - leaves * mean) / store.tries[chosen]
        store.mean[chosen] = np.float32(mean)
        store.option_low[chosen] = np.float32(mean - np.float64(store.mean[chosen]))


@compiled
def _count(store, option, leaves, arrived):
    """Count leaves that were evaluated through an option, and descents that are no longer under way."""
    if store.tries[option] >= MOST_VISITS:
        store.tries[option] >>= 1
    store.tries[option] += leaves
    store.pending[option] -= arrived


@compiled
def wait_for(store, expansion, joint, by):
    """Note that so many more descents are under way through the options of a joint move."""
    roles = store.option_counts.shape[1]
    mover = store.mover[expansion]
    if 0 <= mover < roles:
        store.pending[first_option_of(store, expansion, mover) + joint] += by
        return
    for role in range(roles):
        store.pending[option_in(store, expansion, joint, role)] += by


@compiled
def _end(game, store, node, value, known):
    """Make a node an end of the game; where the rules give no goal, or several, it may be worth anything."""
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
        _add(store, node, value, 1)


@compiled
def _insert_all(game, store, worker, job, spec):
    """Expand the node of a job whose moves were listed; return the number of the next child."""
    node, path = worker.job_node[job], worker.job_path[job]
    specs = worker.job_specs[job]
    counts = store.counts
    if specs == NONE:
        store.status[node] = LEAF
        finish(worker, path)
        return spec
    roles = store.low.shape[1]
    options = 0
    choosing, mover = 0, roles
    for role in range(roles):
        count = worker.job_count[job, role]
        options += count
        if count > 1:
            choosing += 1
            mover = role
    product = product_of(worker.job_count, job)
    if not product:
        # A role without a move ends the game, whatever the rules say, and without a goal.
        store.status[node] = TERMINAL
        _add(store, node, worker.job_value[job], 1)
        keep(worker, path, worker.job_value[job])
        finish(worker, path)
        return spec
    most = min(LISTED_OF_TWO if choosing == 2 else LISTED_OF_MORE, LISTED_SHARE * len(store.child))
    listed = product if product <= most or choosing < 2 else 0
    if (
        counts[EXPANSIONS] + 1 > len(store.first_child)
        or counts[OPTIONS] + options > len(store.action)
        or counts[CHILDREN] + listed > len(store.child)
        or counts[NODES] + specs > len(store.status)
    ):
        # The memory is used up: the leaf stays one.
        counts[IS_SHORT] = 1
        store.status[node] = LEAF
        finish(worker, path)
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
        if worker.job_count[job, role] >= WIDE and choosing < 2:
            counts[IS_WIDE] = 1
    counts[OPTIONS] = option
    for child in range(counts[CHILDREN], counts[CHILDREN] + listed):
        store.child[child] = NONE
    counts[CHILDREN] += listed
    store.status[node] = EXPANDED
    _note_children(worker, specs)
    for number in range(spec, spec + specs):
        _link(game, store, worker, expansion, number)
    if worker.settings[MINIMAX] > 0:
        set_minimax(game, store, worker, node)
    if _prove(game, store, worker, path, node):
        return spec + specs
    for number in range(spec, spec + specs):
        _follow(store, worker, path, expansion, number)
    if not worker.path_references[path]:
        finish(worker, path)
    return spec + specs


@compiled
def _note_children(worker, children):
    """Keep the mean number of children of jobs up to date."""
    worker.counts[BRANCHING] += (SCALE * children - worker.counts[BRANCHING]) // 8


@compiled
def _insert(game, store, worker, job, spec):
    """Put one more child of an expanded node into the tree; return the number of the next child."""
    node, path = worker.job_node[job], worker.job_path[job]
    _note_children(worker, 1)
    if store.counts[NODES] + 1 > len(store.status):
        finish(worker, path)
        return spec + 1
    expansion = store.expansion[node]
    if not _link(game, store, worker, expansion, spec):
        finish(worker, path)
    elif not _prove(game, store, worker, path, node):
        _follow(store, worker, path, expansion, spec)
        if not worker.path_references[path]:
            finish(worker, path)
    return spec + 1


@compiled
def _link(game, store, worker, expansion, spec):
    """Find or make the node of a child; return whether there was room for it."""
    child, new = find_or_add(store, worker.spec_state, spec, worker.spec_hash[spec])
    if new and worker.spec_terminal[spec]:
        _end(game, store, child, worker.spec_value[spec], worker.spec_known[spec])
    return set_child(store, expansion, worker.spec_joint[spec], child)


@compiled
def _prove(game, store, worker, path, node):
    """Look whether a node is proven by its children: then its value counts, and no playout is needed."""
    update_bounds(game, store, node)
    if not is_proven(store, node):
        return False
    recall(store, worker, node)
    store.counts[LEAVES] += 1
    _add(store, node, worker.value, 1)
    keep(worker, path, worker.value)
    finish(worker, path)
    return True


@compiled
def _follow(store, worker, path, expansion, spec):
    """Learn what is known of a child, or have it played out."""
    joint = worker.spec_joint[spec]
    child = child_of(store, expansion, joint)
    if child == NONE:
        # There was no room to note which it is.
        return
    if store.visits[child] or is_proven(store, child):
        recall(store, worker, child)
        if not store.visits[child]:
            _add(store, child, worker.value, 1)
        store.counts[LEAVES] += 1
        _tell(store, worker, path, joint, child, worker.value, 0)
        return
    if enqueue(worker, path, joint, child):
        wait_for(store, expansion, joint, 1)


@compiled
def enqueue(worker, path, joint, node):
    """Have what a joint move at the end of a descent leads to played out; return whether there is room."""
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
