"""Minimax over estimates, for two roles, beside the means of leaves.

With playouts, these values are a second opinion (Lanctot, Winands, Pepels and Sturtevant 2014, "Monte Carlo
tree search with heuristic evaluations using implicit minimax backups"). Without, they are all there is (Korf
and Chickering 1996, "Best-first minimax search"). The value of a node where both roles choose at once is then
the mean of its leaves. Values are for the first role, from 0 to 1, with one half where both are even.
"""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled
from anygame.search.evaluation import evaluate, has_estimates, has_playouts
from anygame.search.tree.bounds import first_option_of, is_proven
from anygame.search.tree.store import NONE, child_of

#: A value of 1 in ``Store.option_minimax``.
ONE = np.float32(65535)


@compiled
def has_minimax(game, worker):
    """Return whether there is minimax over estimates."""
    return has_estimates(worker) and len(game.random) == 2


@compiled
def advantage(own, other):
    """Return by how much a role does better than the other, 0 to 1."""
    return (1 + own - other) / 2


@compiled
def seen_by(mover, value):
    """Return a value for the first role as one for a role, and the reverse."""
    return np.float32(1) - value if mover else value


@compiled
def estimate_children(game, store, worker, node, spec, specs):
    """Estimate the values of a node and of the children made of it, as far as nothing better is known.

    That of the node is the first of ``worker.batch_value``, those of the children follow.
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
    """Set the values of a node expanded just now and of its options; its children have been estimated."""
    expansion = store.expansion[node]
    mover = store.mover[expansion]
    own = np.float32(worker.batch_value[0, 0])
    store.minimax[expansion] = own
    if mover == NONE:
        return
    if mover > 1:
        child = child_of(store, expansion, 0)
        if child != NONE:
            store.minimax[expansion] = _value_of_child(store, worker, child, 0)
        return
    first, count = first_option_of(store, expansion, mover), store.option_counts[expansion, mover]
    for option in range(first, first + count):
        store.option_minimax[option] = np.uint16(ONE * seen_by(mover, own))
    for number in range(specs):
        option = worker.spec_joint[spec + number]
        child = child_of(store, expansion, option)
        if child != NONE:
            value = _value_of_child(store, worker, child, number)
            store.option_minimax[first + option] = np.uint16(ONE * seen_by(mover, value))
    store.minimax[expansion] = seen_by(mover, np.float32(_best_option(store, expansion, mover)) / ONE)


@compiled
def _value_of_child(store, worker, child, number):
    """Return the known value of a child, or its estimate, by its number among the children made."""
    if is_proven(store, child) or store.expansion[child] != NONE:
        return _known_value(store, child)
    return np.float32(worker.batch_value[1 + number, 0])


@compiled
def _known_value(store, node):
    """Return the value of a node that is proven or expanded."""
    if is_proven(store, node):
        # A draw is neither won nor lost, for any goals that the two roles get.
        return np.float32(advantage(store.low[node, 0], store.low[node, 1]))
    return store.minimax[store.expansion[node]]


@compiled
def _best_option(store, expansion, mover):
    """Return the highest minimax value of the options of a role."""
    best = np.int32(0)
    first = first_option_of(store, expansion, mover)
    for option in range(first, first + store.option_counts[expansion, mover]):
        best = max(best, np.int32(store.option_minimax[option]))
    return best


@compiled
def minimax_of_option(store, expansion, joint):
    """Return the value of the child of a joint move; one role at most chooses there."""
    mover = store.mover[expansion]
    if mover > 1:
        return store.minimax[expansion]
    return seen_by(
        mover, np.float32(store.option_minimax[first_option_of(store, expansion, mover) + joint]) / ONE
    )


@compiled
def backpropagate_minimax(game, store, worker, node, joint, child):
    """Update the value of a node by that of a child; return whether it changed."""
    expansion = store.expansion[node]
    mover, before = store.mover[expansion], store.minimax[expansion]
    if mover == NONE:
        return _set_to_mean(store, worker, node, expansion)
    if is_proven(store, child) or store.expansion[child] != NONE:
        value = _known_value(store, child)
    else:
        worker.batch_node[0] = child
        evaluate(game, worker, store.states, child, 1)
        value = np.float32(worker.batch_value[0, 0])
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
    """Let the value of a node where both roles choose be the mean of its leaves, if these are estimates."""
    if has_playouts(worker) or not store.visits[node]:
        return False
    one, other = store.sums[node, 0] / store.visits[node], store.sums[node, 1] / store.visits[node]
    value, before = np.float32(advantage(one, other)), store.minimax[expansion]
    store.minimax[expansion] = value
    return before != value
