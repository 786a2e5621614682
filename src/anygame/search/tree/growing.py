"""Growing a tree, pass after pass: make children, play out, record, expand, backpropagate, select."""

from __future__ import annotations

from typing import Final

from anygame.search.native.marking import exported
from anygame.search.tree.backpropagating import backpropagate, record_results
from anygame.search.tree.expanding import expand
from anygame.search.tree.making import make_children
from anygame.search.tree.playing import play_out
from anygame.search.tree.proving import is_proven
from anygame.search.tree.selecting import select
from anygame.search.tree.store import (
    CHILDREN,
    EXPANSIONS,
    IS_SHORT,
    LEAVES,
    LINKS,
    NODES,
    OPTIONS,
    ROOT,
    find_or_add,
    hash_of,
    store_at,
)
from anygame.search.tree.worker import JOBS, SPECS, worker_at

#: How growing went: it can go on, so many leaves have been evaluated, there is nothing left to do, or the
#: memory is used up.
GOING, ENOUGH, DONE, FULL = range(4)


#: What a pass does, one after the other, each with the addresses of store, worker and game; the last one
#: returns whether there is something to do.
STEPS: Final = (make_children, play_out, record_results, expand, backpropagate, select)


@exported
def look(store_address: int, leaves: int) -> int:
    """Return whether the tree can be grown."""
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
    """Make so many passes at most, until so many leaves have been evaluated in all; return how it went."""
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
    """Return the node of the first state of a worker's children, made if it is missing."""
    states = worker_at(worker_address).spec_state
    return find_or_add(store_at(store_address), states, 0, hash_of(states, 0))[0]
