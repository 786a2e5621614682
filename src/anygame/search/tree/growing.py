"""Growing a tree, pass after pass: children are made, lanes play, all learn from it, descents find leaves."""

from __future__ import annotations

from anygame.search.tree.compiling import compiled
from anygame.search.tree.game_code import game_at
from anygame.search.tree.lanes import LANES
from anygame.search.tree.learning import learn
from anygame.search.tree.making import make_children
from anygame.search.tree.playing import play
from anygame.search.tree.proving import is_proven
from anygame.search.tree.selecting import select
from anygame.search.tree.store import (
    CHILDREN,
    EXPANSIONS,
    LEAVES,
    LINKS,
    NODES,
    OPTIONS,
    ROOT,
    find_or_add,
    store_at,
)
from anygame.search.tree.worker import IDLE, JOBS, QUEUE_COUNT, SPECS, worker_at

__all__ = ["DONE", "FULL", "GOING", "add_state", "grow", "is_full"]

#: How growing went: it can go on, there is nothing left to do, or the memory is used up.
GOING, DONE, FULL = range(3)


@compiled
def grow(game_address, store_address, worker_address, passes, leaves):
    """Make so many passes at most, until so many leaves have been evaluated in all."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    for _ in range(passes):
        if store.counts[LEAVES] >= leaves:
            return GOING
        if is_proven(store, store.counts[ROOT]):
            return DONE
        if _is_full(store):
            return FULL
        make_children(game, store, worker)
        play(game, store, worker)
        learn(game, store, worker)
        found = select(game, store, worker)
        if not found and worker.counts[IDLE] == LANES and not worker.counts[QUEUE_COUNT]:
            return DONE
    return GOING


@compiled
def _is_full(store):
    """Return whether there is no room for what a pass may need."""
    counts = store.counts
    return (
        counts[NODES] + 2 * SPECS > len(store.status)
        or counts[EXPANSIONS] + JOBS > len(store.first_child)
        or counts[OPTIONS] + len(store.action) // 32 > len(store.action)
        or counts[CHILDREN] + len(store.child) // 32 > len(store.child)
        or 4 * counts[LINKS] > len(store.link_node)
    )


@compiled
def is_full(store_address):
    """Return whether there is no room for what a pass may need."""
    return _is_full(store_at(store_address))


@compiled
def add_state(store_address, worker_address):
    """Return the node of the first state of a worker's children, made if it is missing."""
    return find_or_add(store_at(store_address), worker_at(worker_address).spec_state, 0)[0]
