"""What is known of nodes besides means: proven bounds, and estimates with minimax over them.

Bounds are what a role can make sure of, and what it cannot pass: score-bounded search (Cazenave and Saffidine
2010, "Score bounded Monte-Carlo tree search"), here for any number of roles, moves made together, and chance.

An estimate comes from a network of one hidden layer, whose inputs are the fluents of a state, and how many
``patterns`` hold by how much; what changes
from a state to the next is added and taken away (Nasu 2018, "Efficiently updatable neural-network-based
evaluation functions for computer shogi"). Of two roles it says by how much the first does better, of more
than two what each gets. Minimax values over estimates, for two roles, stand in the tree beside the means of
playouts (Lanctot, Winands, Pepels and Sturtevant 2014, "Monte Carlo tree search with heuristic evaluations
using implicit minimax backups"). Where estimates count alone, nothing is played out (Korf and Chickering
1996, "Best-first minimax search"); what two choose at once, and what more than two do, is worth the mean of
estimates then. The weights are learned by ``self_play``.
"""

from __future__ import annotations

from math import exp

import numpy as np

from anygame.native.marking import compiled
from anygame.search.tree.game_code import lowest_bit
from anygame.search.tree.patterns import begin_from_base, count_patterns, tally
from anygame.search.tree.store import COMPETITIVE, NONE, product_of
from anygame.search.tree.worker import MINIMAX


@compiled
def is_proven(store, node):
    """Return whether the value of a node is known for all roles."""
    for role in range(store.low.shape[1]):  # noqa: SIM110 - compiled functions know no generators
        if store.low[node, role] != store.high[node, role]:
            return False
    return True


@compiled
def update_bounds(game, store, node):
    """Tighten the bounds of an expanded node by those of its children; return whether they changed.

    Bounds only ever get tighter, so that they hold where children have been forgotten, and where states can
    come again.
    """
    expansion = store.expansion[node]
    mover = store.mover[expansion]
    if store.first_child[expansion] < 0:
        return False
    roles = store.low.shape[1]
    before = is_proven(store, node)
    if mover == roles:
        changed = _of_only_child(store, node, expansion)
    elif mover == NONE:
        changed = _of_joint_moves(game, store, node, expansion)
    elif game.random[mover]:
        changed = _of_chance(store, node, expansion, mover)
    else:
        changed = _of_choice(store, node, expansion, mover)
    if changed and not before and is_proven(store, node):
        _set_distance(game, store, node, expansion, mover)
    return changed


@compiled
def _tighten(store, node, role, low, high):
    changed = False
    if low > store.low[node, role]:
        store.low[node, role] = min(low, store.high[node, role])
        changed = True
    if high < store.high[node, role]:
        store.high[node, role] = max(high, store.low[node, role])
        changed = True
    return changed


@compiled
def _of_only_child(store, node, expansion):
    child = store.child[store.first_child[expansion]]
    if child == NONE:
        return False
    changed = False
    for role in range(store.low.shape[1]):
        changed |= _tighten(store, node, role, store.low[child, role], store.high[child, role])
    return changed


@compiled
def _of_choice(store, node, expansion, mover):
    """One role chooses: the best for it; for others the worst, or anything where they may agree."""
    roles = store.low.shape[1]
    first, count = store.first_child[expansion], store.option_counts[expansion, mover]
    option = first_option_of(store, expansion, mover)
    changed = False
    best_low, best_high = np.float32(0), np.float32(0)
    for number in range(count):
        child = store.child[first + number]
        if child != NONE:
            store.option_low[option + number] = max(
                store.option_low[option + number], store.low[child, mover]
            )
            store.option_high[option + number] = min(
                store.option_high[option + number], store.high[child, mover]
            )
        best_low = max(best_low, store.option_low[option + number])
        best_high = max(best_high, store.option_high[option + number])
    changed |= _tighten(store, node, mover, best_low, best_high)
    against = store.counts[COMPETITIVE] != 0
    for role in range(roles):
        if role == mover:
            continue
        low = np.float32(1)
        high = np.float32(1) if against else np.float32(0)
        for number in range(count):
            child = store.child[first + number]
            child_low = store.low[child, role] if child != NONE else np.float32(0)
            child_high = store.high[child, role] if child != NONE else np.float32(1)
            low = min(low, child_low)
            high = min(high, child_high) if against else max(high, child_high)
        changed |= _tighten(store, node, role, low, high)
    return changed


@compiled
def _of_chance(store, node, expansion, mover):
    """Chance chooses among all moves alike: the means."""
    first, count = store.first_child[expansion], store.option_counts[expansion, mover]
    changed = False
    for role in range(store.low.shape[1]):
        low, high = 0.0, 0.0
        for number in range(count):
            child = store.child[first + number]
            low += store.low[child, role] if child != NONE else 0.0
            high += store.high[child, role] if child != NONE else 1.0
        changed |= _tighten(store, node, role, np.float32(low / count), np.float32(high / count))
    return changed


@compiled
def _of_joint_moves(game, store, node, expansion):
    """Several roles choose at once: what a move makes sure of against all that the others may do."""
    roles = store.low.shape[1]
    first = store.first_child[expansion]
    product = product_of(store.option_counts, expansion)
    # Chance holds nobody to anything.
    against = store.counts[COMPETITIVE] != 0 and not _has_chance(game, store, expansion)
    changed = False
    stride = product
    for role in range(roles):
        count = store.option_counts[expansion, role]
        stride //= count
        if game.random[role]:
            continue
        low = _made_sure_of(store, node, first, product, stride, count, role)
        if against:
            high = _held_to(store, node, first, product, stride, count, role)
        else:
            high = _most_of_all(store, node, first, product, role)
        changed |= _tighten(store, node, role, low, high)
    return changed


@compiled
def _has_chance(game, store, expansion):
    """Return whether chance is among those who choose."""
    for role in range(store.low.shape[1]):
        if game.random[role] and store.option_counts[expansion, role] > 1:
            return True
    return False


@compiled
def _made_sure_of(store, node, first, product, stride, count, role):
    """Return what a role can make sure of: the most, over its moves, of the least, or what it already is.

    What the others may do is looked at only as long as a move could still tell something new: of thousands of
    joint moves most are not even known.
    """
    most = store.low[node, role]
    for number in range(count):
        least = np.float32(1)
        for start in range(number * stride, product, stride * count):
            for joint in range(start, start + stride):
                child = store.child[first + joint]
                least = min(least, store.low[child, role] if child != NONE else np.float32(0))
                if least <= most:
                    break
            if least <= most:
                break
        most = max(most, least)
    return most


@compiled
def _most_of_all(store, node, first, product, role):
    """Return the most that any joint move may bring a role; or what is known as that already."""
    most = np.float32(0)
    for joint in range(product):
        child = store.child[first + joint]
        most = max(most, store.high[child, role] if child != NONE else np.float32(1))
        if most >= store.high[node, role]:
            break
    return most


@compiled
def _held_to(store, node, first, product, stride, count, role):
    """Return to what the other one of two roles can hold a role: the least, over its moves, of the best."""
    least = store.high[node, role]
    for start in range(0, product, stride * count):
        for joint in range(start, start + stride):
            most = np.float32(0)
            for number in range(count):
                child = store.child[first + joint + number * stride]
                most = max(most, store.high[child, role] if child != NONE else np.float32(1))
                if most >= least:
                    break
            least = min(least, most)
    return least


@compiled
def _set_distance(game, store, node, expansion, mover):
    """Say how far the end is: a role that does well hurries, one that does badly takes its time."""
    roles = store.low.shape[1]
    product = product_of(store.option_counts, expansion)
    hurried, delayed = 32000, 0
    for joint in range(product):
        child = store.child[store.first_child[expansion] + joint]
        if child == NONE:
            continue
        if 0 <= mover < roles and store.low[child, mover] != store.low[node, mover]:
            continue
        hurried = min(hurried, store.distance[child])
        delayed = max(delayed, store.distance[child])
    does_well = not 0 <= mover < roles or store.low[node, mover] >= 0.5
    store.distance[node] = min(32000, 1 + (hurried if does_well and hurried < 32000 else delayed))


@compiled
def first_option_of(store, expansion, role):
    """Return the first option of a role."""
    option = store.first_option[expansion]
    for other in range(role):
        option += store.option_counts[expansion, other]
    return option


@compiled
def option_in(store, expansion, joint, role):
    """Return the option of a role in a joint move."""
    for other in range(store.option_counts.shape[1] - 1, role, -1):
        joint //= store.option_counts[expansion, other]
    return first_option_of(store, expansion, role) + joint % store.option_counts[expansion, role]


#: What ``Store.option_minimax`` holds for a value of 1.
ONE = np.float32(65535)


@compiled
def advantage(own, other):
    """Return by how much a role does better than the other, 0 to 1; one half where they are even."""
    return (1 + own - other) / 2


@compiled
def outputs_of(game):
    """Return how many numbers the estimates of a state are: one for two roles, otherwise one for each."""
    roles = len(game.random)
    return 1 if roles == 2 else roles


@compiled
def first_pattern(game, states):
    """Return from which row on weights are those of patterns."""
    return 64 * states.shape[1] + 1 + outputs_of(game)


@compiled
def add_up(game, weights, worker, states, index):
    """Set the base of the worker to the inputs of the hidden layer for a state."""
    base = worker.base
    size, units = 64 * states.shape[1], weights.shape[1]
    for unit in range(units):
        base[unit] = weights[size, unit]
    for word in range(states.shape[1]):
        bits = states[index, word]
        while bits:
            fluent = 64 * word + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for unit in range(units):
                base[unit] += weights[fluent, unit]
    if len(game.first_tallies):
        count_patterns(game, worker, states, index)
        _add_rows(weights, worker.counted, first_pattern(game, states), base)


@compiled
def estimate_near(game, weights, worker, states, index, others, other):
    """Return what a state seems worth to the first role, that is much like the one that the base was set to.

    Args:
        game: the game.
        weights: of the estimates.
        worker: the thread; its hidden layer is set.
        states: uint64 [any, words]; where the state is.
        index: its row.
        others: uint64 [any, words]; where the state of the base is.
        other: its row.
    """
    hidden, base = worker.hidden, worker.base
    units = weights.shape[1]
    for unit in range(units):
        hidden[unit] = base[unit]
    if len(game.first_tallies):
        begin_from_base(game, worker)
    for word in range(states.shape[1]):
        bits = states[index, word] ^ others[other, word]
        while bits:
            bit = lowest_bit(bits)
            fluent = 64 * word + bit
            bits &= bits - np.uint64(1)
            held = (states[index, word] >> np.uint64(bit)) & np.uint64(1)
            sign = np.float32(1) if held else np.float32(-1)
            for unit in range(units):
                hidden[unit] += sign * weights[fluent, unit]
            if len(game.first_tallies):
                tally(game, worker, fluent, np.int32(1) if held else np.int32(-1))
    if len(game.first_tallies):
        _add_rows(weights, worker.amounts, first_pattern(game, states), hidden)
    return output(weights, worker, 64 * states.shape[1] + 1, 0)


@compiled
def _add_rows(weights, amounts, first, layer):
    """Add the weights of patterns, which begin at a row, to a layer, each as often as it is noted."""
    for row in range(weights.shape[0] - first):
        amount = np.float32(amounts[row])
        if amount != 0:
            for unit in range(weights.shape[1]):
                layer[unit] += amount * weights[first + row, unit]


@compiled
def output(weights, worker, first, number):
    """Return an output, 0 to 1, for the hidden layer as it is; ``first`` is the row of the first one."""
    hidden, parts, units = worker.hidden, worker.parts, weights.shape[1]
    for unit in range(units):
        parts[unit] = max(np.float32(0), hidden[unit]) * weights[first + number, unit]
    parts[units - 1 - number] = hidden[units - 1 - number]
    # Added up by halves, which makes vector instructions.
    while units > 1:
        units >>= 1
        for unit in range(units):
            parts[unit] += parts[unit + units]
    return np.float32(1) / (np.float32(1) + np.float32(exp(-parts[0])))


@compiled
def estimate_of(game, weights, worker, states, index):
    """Return what a state seems worth to the first role; the base and the hidden layer are set."""
    add_up(game, weights, worker, states, index)
    return estimate_near(game, weights, worker, states, index, states, index)


@compiled
def estimate_child(game, store, worker, node, child):
    """Put what a child seems worth to each role into ``worker.value``; the base is set to its parent."""
    first = 64 * store.states.shape[1] + 1
    worker.value[0] = estimate_near(game, game.weights, worker, store.states, child, store.states, node)
    if outputs_of(game) == 1:
        worker.value[1] = 1 - worker.value[0]
        return
    for role in range(1, len(worker.value)):
        worker.value[role] = output(game.weights, worker, first, role)


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
    return estimate_of(game, game.weights, worker, store.states, node)


@compiled
def _seen_by(mover, value):
    """Return what a value for the first role is for a role, and the other way round."""
    return np.float32(1) - value if mover else value


@compiled
def set_minimax(game, store, worker, node):
    """Set the values of a node that was expanded just now, and of its options; the base is set to it."""
    if outputs_of(game) > 1:
        # There is no minimax of more than two roles.
        add_up(game, game.weights, worker, store.states, node)
        return
    expansion = store.expansion[node]
    mover, children = store.mover[expansion], store.first_child[expansion]
    own = estimate_of(game, game.weights, worker, store.states, node)
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
            found = estimate_near(game, game.weights, worker, store.states, child, store.states, node)
        store.option_minimax[first + number] = np.uint16(ONE * _seen_by(mover, found))
        best = max(best, np.float32(store.option_minimax[first + number]))
    store.minimax[expansion] = _seen_by(mover, best / ONE)


@compiled
def option_estimate(game, store, worker, expansion, joint, child):
    """Return what the child of a joint move seems worth to the first role; one role at most chooses there."""
    mover = store.mover[expansion]
    if mover > 1:
        return _minimax_of(game, store, worker, child)
    return _seen_by(
        mover, np.float32(store.option_minimax[first_option_of(store, expansion, mover) + joint]) / ONE
    )


@compiled
def backpropagate_minimax(game, store, worker, node, joint, child):
    """Let the value of a child change that of its parent; return whether it did."""
    if outputs_of(game) > 1:
        return False
    expansion = store.expansion[node]
    mover, before = store.mover[expansion], store.minimax[expansion]
    if mover == NONE:
        return _set_to_mean(store, worker, node, expansion)
    found = _minimax_of(game, store, worker, child)
    if mover > 1:
        store.minimax[expansion] = found
        return before != found
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


@compiled
def _set_to_mean(store, worker, node, expansion):
    """Let a node where both roles choose be worth the mean of its leaves, if these are estimates."""
    if worker.settings[MINIMAX] < 1 or not store.visits[node]:
        return False
    one, other = store.sums[node, 0] / store.visits[node], store.sums[node, 1] / store.visits[node]
    found, before = np.float32(advantage(one, other)), store.minimax[expansion]
    store.minimax[expansion] = found
    return before != found
