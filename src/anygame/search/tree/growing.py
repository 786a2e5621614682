"""Growing a tree, pass after pass: children are made, lanes play, all learn from it, descents find leaves."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from numba import int64

from anygame.search.tree.compiling import compiled
from anygame.search.tree.intrinsics import call_step
from anygame.search.tree.learning import climb, expand, hear
from anygame.search.tree.making import make_children
from anygame.search.tree.playing import play
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

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DONE", "FULL", "GOING", "STEPS", "add_state", "compile_steps", "grow", "look"]

#: How growing went: it can go on, so many leaves have been evaluated, there is nothing left to do, or the
#: memory is used up.
GOING, ENOUGH, DONE, FULL = range(4)
#: What a pass does, one after the other; the last one tells whether there is something to do.
STEPS: Final = (make_children, play, hear, expand, climb, select)
_THREE: Final = (int64, int64, int64)


def grow(addresses: Sequence[int], passes: int, leaves: int) -> int:
    """Make so many passes at most, until so many leaves have been evaluated in all; return how it went.

    Other threads of Python go on meanwhile.
    """
    game, store, worker = addresses
    told: int = _grow(store, worker, game, *_addresses_of_steps(), passes, leaves)
    return told


@cache
def _addresses_of_steps() -> tuple[int, ...]:
    found = []
    for step in STEPS:
        step.compile(_THREE)
        code = step.overloads[_THREE]
        found.append(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))
    return tuple(found)


def compile_steps() -> None:
    """Compile all that growing needs, or find it where it was cached; Python waits meanwhile."""
    look.compile((int64, int64))
    _grow.compile((int64,) * (3 + len(STEPS) + 2))
    _addresses_of_steps()


@compiled
def look(store_address, leaves):
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


@compiled
def _grow(store, worker, game, making, playing, hearing, expanding, climbing, selecting, passes, leaves):
    for _ in range(passes):
        told = look(store, leaves)
        if told != GOING:
            return told
        call_step(making, store, worker, game)
        call_step(playing, store, worker, game)
        call_step(hearing, store, worker, game)
        call_step(expanding, store, worker, game)
        call_step(climbing, store, worker, game)
        if not call_step(selecting, store, worker, game):
            return DONE
    return GOING


@compiled
def add_state(store_address, worker_address):
    """Return the node of the first state of a worker's children, made if it is missing."""
    states = worker_at(worker_address).spec_state
    return find_or_add(store_at(store_address), states, 0, hash_of(states, 0))[0]
