"""Estimates of states without playing on, and minimax over them in the tree, for two roles that take turns.

An estimate comes from a network of one hidden layer, whose inputs are the fluents of a state; what changes
from a state to the next is added and taken away (Nasu 2018, "Efficiently updatable neural-network-based
evaluation functions for computer shogi"). Minimax values over estimates stand in the tree beside the means
of playouts (Lanctot, Winands, Pepels and Sturtevant 2014, "Monte Carlo tree search with heuristic evaluations
using implicit minimax backups"). The weights are learned by ``practising``.
"""

from __future__ import annotations

from math import exp

import numpy as np

from anygame.search.native.marking import compiled
from anygame.search.tree.game_code import UNITS, lowest_bit
from anygame.search.tree.proving import first_option_of, is_proven
from anygame.search.tree.store import NONE

#: What ``Store.option_minimax`` holds for a value of 1.
ONE = np.float32(65535)


@compiled
def advantage(own, other):
    """Return by how much a role does better than the other, 0 to 1; one half where they are even."""
    return (1 + own - other) / 2


@compiled
def add_up(game, worker, states, index):
    """Set the base of the worker to the inputs of the hidden layer for a state."""
    base, weights = worker.base, game.weights
    size = 64 * states.shape[1]
    for unit in range(UNITS):
        base[unit] = weights[size, unit]
    for word in range(states.shape[1]):
        bits = states[index, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for unit in range(UNITS):
                base[unit] += weights[fluent, unit]


@compiled
def estimate_near(game, worker, states, index, others, other):
    """Return what a state seems worth to the first role, that is much like the one that the base was set to.

    Args:
        game: the game.
        worker: the thread; its hidden layer is set.
        states: uint64 [any, words]; where the state is.
        index: its row.
        others: uint64 [any, words]; where the state of the base is.
        other: its row.
    """
    hidden, base, weights = worker.hidden, worker.base, game.weights
    size = 64 * states.shape[1]
    for unit in range(UNITS):
        hidden[unit] = base[unit]
    for word in range(states.shape[1]):
        bits = states[index, word] ^ others[other, word]
        while bits:
            bit = lowest_bit(bits)
            fluent = 64 * word + bit
            bits &= bits - np.uint64(1)
            held = (states[index, word] >> np.uint64(bit)) & np.uint64(1)
            sign = np.float32(1) if held else np.float32(-1)
            for unit in range(UNITS):
                hidden[unit] += sign * weights[fluent, unit]
    total = hidden[UNITS - 1]
    for unit in range(UNITS - 1):
        total += max(np.float32(0), hidden[unit]) * weights[size + 1, unit]
    return np.float32(1) / (np.float32(1) + np.float32(exp(-total)))


@compiled
def estimate_of(game, worker, states, index):
    """Return what a state seems worth to the first role; the base and the hidden layer are set."""
    add_up(game, worker, states, index)
    return estimate_near(game, worker, states, index, states, index)


@compiled
def _is_known(store, node):
    """Return whether more is known of a node than an estimate: its value, or that of minimax."""
    return store.expansion[node] != NONE or is_proven(store, node)


@compiled
def _minimax_of(game, store, worker, node):
    """Return the value of a node for the first role: a proven one, one by minimax, or an estimate."""
    if is_proven(store, node):
        # Whatever a draw is worth to both, it is neither won nor lost.
        return np.float32(advantage(store.low[node, 0], store.low[node, 1]))
    expansion = store.expansion[node]
    if expansion != NONE:
        return store.minimax[expansion]
    return estimate_of(game, worker, store.states, node)


@compiled
def _seen_by(mover, value):
    """Return what a value for the first role is for a role, and the other way round."""
    return np.float32(1) - value if mover else value


@compiled
def set_minimax(game, store, worker, node):
    """Set the values of a node that was expanded just now, and of its options."""
    expansion = store.expansion[node]
    mover, children = store.mover[expansion], store.first_child[expansion]
    own = estimate_of(game, worker, store.states, node)
    store.minimax[expansion] = own
    if children == NONE or mover == NONE:
        return
    if mover > 1:
        if store.child[children] != NONE:
            store.minimax[expansion] = _minimax_of(game, store, worker, store.child[children])
        return
    first = first_option_of(store, expansion, mover)
    best = np.float32(0)
    for number in range(store.option_counts[expansion, mover]):
        child = store.child[children + number]
        if child == NONE:
            found = own
        elif _is_known(store, child):
            found = _minimax_of(game, store, worker, child)
        else:
            found = estimate_near(game, worker, store.states, child, store.states, node)
        store.option_minimax[first + number] = np.uint16(ONE * _seen_by(mover, found))
        best = max(best, np.float32(store.option_minimax[first + number]))
    store.minimax[expansion] = _seen_by(mover, best / ONE)


@compiled
def backpropagate_minimax(game, store, worker, node, joint, child):
    """Let the value of a child change that of its parent; return whether it did."""
    expansion = store.expansion[node]
    mover = store.mover[expansion]
    found, before = _minimax_of(game, store, worker, child), store.minimax[expansion]
    if mover > 1:
        store.minimax[expansion] = found
        return before != found
    if mover == NONE:
        return False
    first = first_option_of(store, expansion, mover)
    new, old = np.int32(ONE * _seen_by(mover, found)), np.int32(store.option_minimax[first + joint])
    best = np.int32(ONE * _seen_by(mover, before) + np.float32(0.5))
    store.option_minimax[first + joint] = np.uint16(new)
    if new == old or (new < best and old < best):
        return False
    if new < best:
        best = np.int32(0)
        for number in range(store.option_counts[expansion, mover]):
            best = max(best, np.int32(store.option_minimax[first + number]))
    else:
        best = new
    store.minimax[expansion] = _seen_by(mover, np.float32(best) / ONE)
    return True
