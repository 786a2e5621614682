"""Minimax values over estimates, for two roles, in addition to mean values of leaves.

With playouts, descents combine mean and minimax values (Lanctot, Winands, Pepels and Sturtevant 2014, "Monte
Carlo tree search with heuristic evaluations using implicit minimax backups"). Without playouts, descents use
minimax values alone (Korf and Chickering 1996, "Best-first minimax search"). A node where both roles choose
has the mean of its leaves as its minimax value. All minimax values are from 0 to 1, for the first role.
"""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled
from anygame.search.evaluation import evaluate, has_estimates, has_playouts
from anygame.search.tree.bounds import first_option_of, is_proven
from anygame.search.tree.store import NONE, child_of

#: Fixed-point number that represents the value 1 in ``Store.option_minimax``.
ONE = np.float32(65535)


@compiled
def has_minimax(game, worker):
    """Return whether the tree has minimax values over estimates."""
    return has_estimates(worker) and len(game.random) == 2


@compiled
def advantage(own, other):
    """Return the advantage of a role from 0 to 1, given the values of both roles; 0.5 for equal values."""
    return (1 + own - other) / 2


@compiled
def seen_by(mover, value):
    """Convert a value of the first role to the value of the mover, or back."""
    return np.float32(1) - value if mover else value


@compiled
def estimate_children(game, store, worker, node, spec, specs):
    """Set ``worker.batch_value`` to the estimate of a node, followed by the estimates of its new children.

    The function skips children that are proven, expanded or visited, as their values are more accurate.
    """
    expansion = store.expansion[node]
    chosen_by_one = has_minimax(game, worker) and store.mover[expansion] != NONE
    worker.batch_node[0] = node if has_minimax(game, worker) else NONE
    for number in range(specs):
        child = child_of(store, expansion, worker.spec_joint[spec + number])
        if child != NONE and (chosen_by_one or not has_playouts(worker)):
            known = store.expansion[child] != NONE if chosen_by_one else store.visits[child] > 0
            child = NONE if known or is_proven(store, child) else child
        else:
            child = NONE
        worker.batch_node[1 + number] = child
    evaluate(game, worker, store.states, node, 1 + specs)


@compiled
def set_minimax(store, worker, node, spec, specs):
    """Set the minimax values of a new expansion and of its options from the estimates of its children."""
    expansion = store.expansion[node]
    mover = store.mover[expansion]
    own = np.float32(worker.batch_value[0, 0])
    store.minimax[expansion] = own
    if mover == NONE:
        return
    if mover > 1:
        child = child_of(store, expansion, 0)
        if child != NONE:
            store.minimax[expansion] = _value_of_child(store, worker, child, 1)
        return
    first, count = first_option_of(store, expansion, mover), store.option_counts[expansion, mover]
    for option in range(first, first + count):
        store.option_minimax[option] = np.uint16(ONE * seen_by(mover, own))
    for number in range(specs):
        option = worker.spec_joint[spec + number]
        child = child_of(store, expansion, option)
        if child != NONE:
            value = _value_of_child(store, worker, child, 1 + number)
            store.option_minimax[first + option] = np.uint16(ONE * seen_by(mover, value))
    store.minimax[expansion] = seen_by(mover, np.float32(_best_option(store, expansion, mover)) / ONE)


@compiled
def _value_of_child(store, worker, child, place):
    """Return the minimax value of a proven or expanded child, otherwise the child's estimate in the batch."""
    if is_proven(store, child):
        # If both roles get the same goal, the value is one half, even if that goal is the highest.
        return np.float32(advantage(store.low[child, 0], store.low[child, 1]))
    if store.expansion[child] != NONE:
        return store.minimax[store.expansion[child]]
    return np.float32(worker.batch_value[place, 0])


@compiled
def _best_option(store, expansion, mover):
    best = np.int32(0)
    first = first_option_of(store, expansion, mover)
    for option in range(first, first + store.option_counts[expansion, mover]):
        best = max(best, np.int32(store.option_minimax[option]))
    return best


@compiled
def minimax_of_option(store, expansion, joint):
    """Return the minimax value of the child of a joint move at a node where at most one role chooses."""
    mover = store.mover[expansion]
    if mover > 1:
        return store.minimax[expansion]
    return seen_by(
        mover, np.float32(store.option_minimax[first_option_of(store, expansion, mover) + joint]) / ONE
    )


@compiled
def backpropagate_minimax(game, store, worker, node, joint, child):
    """Update the minimax value of a node after a change of a child; return whether the value changed."""
    expansion = store.expansion[node]
    mover, before = store.mover[expansion], store.minimax[expansion]
    if mover == NONE:
        return _set_to_mean(store, worker, node, expansion)
    if store.expansion[child] == NONE and not is_proven(store, child):
        worker.batch_node[0] = child
        evaluate(game, worker, store.states, child, 1)
    value = _value_of_child(store, worker, child, 0)
    if mover > 1:
        store.minimax[expansion] = value
        return before != value
    option = first_option_of(store, expansion, mover) + joint
    new, old = np.int32(ONE * seen_by(mover, value)), np.int32(store.option_minimax[option])
    best = np.int32(ONE * seen_by(mover, before) + np.float32(0.5))
    store.option_minimax[option] = np.uint16(new)
    if new == old or (new < best and old < best):
        return False
    best = _best_option(store, expansion, mover) if new < best else new
    store.minimax[expansion] = seen_by(mover, np.float32(best) / ONE)
    return True


@compiled
def _set_to_mean(store, worker, node, expansion):
    """Set the minimax value of a node where both roles choose to the mean of its estimated leaves."""
    if has_playouts(worker) or not store.visits[node]:
        return False
    one, other = store.sums[node, 0] / store.visits[node], store.sums[node, 1] / store.visits[node]
    value, before = np.float32(advantage(one, other)), store.minimax[expansion]
    store.minimax[expansion] = value
    return before != value
