"""Proven lower and upper bounds of the values of nodes.

The method is score-bounded search (Cazenave and Saffidine 2010, "Score bounded Monte-Carlo tree search") for
any number of roles, with simultaneous moves and chance.
"""

from __future__ import annotations

import numpy as np

from anygame.native.marking import compiled
from anygame.search.lanes import joint_count
from anygame.search.tree.store import COMPETITIVE, NONE


@compiled
def is_proven(store, node):
    """Return whether the value of a node is proven for all roles."""
    for role in range(store.low.shape[1]):  # noqa: SIM110 - compiled functions cannot use generators
        if store.low[node, role] != store.high[node, role]:
            return False
    return True


@compiled
def update_bounds(game, store, node):
    """Tighten the bounds of an expanded node using its children; return whether the bounds changed.

    Bounds never get looser, and remain valid after the tree forgets the children. Bounds are also valid in
    games with cycles.
    """
    expansion = store.expansion[node]
    mover = store.mover[expansion]
    if store.first_child[expansion] < 0:
        return False
    roles = store.low.shape[1]
    before = is_proven(store, node)
    if mover == NONE:
        changed = _tighten_by_joint_moves(game, store, node, expansion)
    elif mover == roles:
        changed = _tighten_by_mean(store, node, expansion, 1)
    elif game.random[mover]:
        changed = _tighten_by_mean(store, node, expansion, store.option_counts[expansion, mover])
    else:
        changed = _tighten_by_choice(store, node, expansion, mover)
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
def _tighten_by_choice(store, node, expansion, mover):
    """Tighten the bounds of a node where one role chooses.

    The mover chooses the child that is best for the mover. With opposed goals, the best child for the mover
    is the worst for the other role. Without opposed goals, another role can get the value of any child.
    """
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
def _tighten_by_mean(store, node, expansion, count):
    """Tighten the bounds of a node to the mean bounds of its equally likely children."""
    first = store.first_child[expansion]
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
def _tighten_by_joint_moves(game, store, node, expansion):
    roles = store.low.shape[1]
    first = store.first_child[expansion]
    product = joint_count(store.option_counts, expansion)
    # The random role is not an opponent, so it does not minimise the value of a role.
    against = store.counts[COMPETITIVE] != 0 and not _has_chance(game, store, expansion)
    changed = False
    stride = product
    for role in range(roles):
        count = store.option_counts[expansion, role]
        stride //= count
        if game.random[role]:
            continue
        low = _guaranteed(store, node, first, product, stride, count, role)
        if against:
            high = _limited_to(store, node, first, product, stride, count, role)
        else:
            high = _most_of_all(store, node, first, product, role)
        changed |= _tighten(store, node, role, low, high)
    return changed


@compiled
def _has_chance(game, store, expansion):
    for role in range(store.low.shape[1]):
        if game.random[role] and store.option_counts[expansion, role] > 1:
            return True
    return False


@compiled
def _guaranteed(store, node, first, product, stride, count, role):
    """Return the maximin value of a role over its moves, or the present lower bound if that is higher.

    A move guarantees its lowest value over all replies. Most joint moves have no child, so the loop leaves a
    move as soon as this move cannot raise the bound.
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
    """Return the highest upper bound of a role among all children, or a value that tightens no bound."""
    most = np.float32(0)
    for joint in range(product):
        child = store.child[first + joint]
        most = max(most, store.high[child, role] if child != NONE else np.float32(1))
        if most >= store.high[node, role]:
            break
    return most


@compiled
def _limited_to(store, node, first, product, stride, count, role):
    """Return the lowest upper bound of a role that its only opponent can enforce with a move."""
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
    """Set the distance of a proven node: a winner takes the shortest line, and a loser takes the longest."""
    roles = store.low.shape[1]
    product = joint_count(store.option_counts, expansion)
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
    """Return the index of the first option of a role."""
    option = store.first_option[expansion]
    for other in range(role):
        option += store.option_counts[expansion, other]
    return option


@compiled
def option_in(store, expansion, joint, role):
    """Return the index of the option of a role in a joint move."""
    for other in range(store.option_counts.shape[1] - 1, role, -1):
        joint //= store.option_counts[expansion, other]
    return first_option_of(store, expansion, role) + joint % store.option_counts[expansion, role]
