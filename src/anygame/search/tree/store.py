"""The arrays of a search tree: nodes, expanded nodes, options, and a transposition table.

A state that is reached on several paths is one node (a directed graph rather than a tree; Childs, Brodeur and
Kocsis 2008, "Transpositions and move groups in Monte Carlo tree search").

A step of a descent reads records of three kinds: a node, its expansion, and the options of the mover. For two
roles, and states of up to 128 fluents (``x2``: for each role, or each word of a state):

    ============= ========== ===== ======================================================
    node             type    bytes holds
    ============= ========== ===== ======================================================
    sums          float64 x2    16 sums of the values of its leaves, for each role
    low           float32 x2     8 proven bounds of its value, for each role
    high          float32 x2     8
    visits        int32          4 leaves evaluated at or below it
    expansion     int32          4 the number of its expansion
    stamp         int32          4 the last descent through it
    distance      int16          2 joint moves to the end, if it is proven
    status        uint8          1 leaf, being expanded, expanded, or an end
    states        uint64 x2     16 the state, a bit a fluent
    ============= ========== ===== ======================================================
    expansion        type    bytes holds
    ============= ========== ===== ======================================================
    first_option  int64          8 the first option of the first role; the others follow
    first_child   int64          8 the child of the first joint move; the others follow
    option_counts int32 x2       8 legal moves of each role
    mover         int16          2 the only role with a choice
    minimax       float32        4 the minimax value over estimates
    owner         int32          4 the number of its node
    first_link    int32          4 the first child that is found by hash
    ============= ========== ===== ======================================================
    option           type    bytes holds
    ============= ========== ===== ======================================================
    action        int32          4 a legal move of one role
    tries         int32          4 leaves evaluated through it
    pending       int16          2 descents under way through it: virtual losses
    option_minimax uint16        2 the minimax value of its child
    mean          float32        4 of values for its role
    option_low    float32        4 proven bounds of its child, if one role chooses
    option_high   float32        4
    amaf_tries    float32        4 leaves in which its action was made later on
    amaf_mean     float32        4 of their values
    residue       float32        0 in the bytes of ``option_low``, if several roles
                                   choose: the rounding error of the mean
    ============= ========== ===== ======================================================
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anygame.native.marking import (
    Bundle,
    Float32Rows,
    Float32s,
    Float64Rows,
    Int16s,
    Int32Rows,
    Int32s,
    Int64s,
    UInt8s,
    UInt16s,
    UInt64Rows,
    UInt64s,
    compiled,
    prefetch,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: Places in ``Store.counts``.
NODES, EXPANSIONS, OPTIONS, CHILDREN, LINKS, SLOTS = range(6)
ROOT, DEPTH, DESCENTS, LEAVES, COMPETITIVE, IS_WIDE = range(6, 12)
#: Whether a node could not be expanded for lack of memory.
IS_SHORT = 12
#: Number of slots in use of a new tree, and their maximum before all are used: a small table fits the caches.
FIRST_SLOTS, MOST_SMALL_SLOTS = 1 << 12, 1 << 20
#: Mask of the half of a slot that holds the node plus one.
LOW_HALF = np.uint64(0xFFFFFFFF)
#: The status of a node. A leaf need not be evaluated.
LEAF, EXPANDING, EXPANDED, TERMINAL = range(4)
#: Minimum number of nodes of a tree: room for the children of a pass; see ``growing``.
FEWEST_NODES = 1 << 13
#: Number of nodes ahead for which slots are prefetched.
_AHEAD = 16
#: Place of a missing expansion, child or link.
NONE = -1


class Store(NamedTuple):
    """A search tree. Values lie between 0 and 1, bounds too.

    Attributes, besides those of records (see the module):
        counts: see the places above.
        slots: the transposition table, by hash of a state, with open addressing. The low half of a slot is
            the node plus one, the high half that of the hash, so that lookups hardly ever read other states.
        first_child: NONE if there are too many joint moves to list their children.
        mover: the number of roles if no role has a choice; NONE if several roles have one.
        child: the node, or NONE, by joint move; the option of the last role changes fastest.
        next_link: the next slot of the same expansion, or NONE.
        link_expansion, link_joint, link_node: a hash table with open addressing for the children that are too
            many to be listed; ``link_node`` has the node plus one.
    """

    counts: Int64s
    slots: UInt64s
    states: UInt64Rows
    status: UInt8s
    visits: Int32s
    sums: Float64Rows
    low: Float32Rows
    high: Float32Rows
    distance: Int16s
    expansion: Int32s
    option_counts: Int32Rows
    first_option: Int64s
    first_child: Int64s
    mover: Int16s
    minimax: Float32s
    child: Int32s
    action: Int32s
    tries: Int32s
    pending: Int16s
    option_minimax: UInt16s
    mean: Float32s
    option_low: Float32s
    option_high: Float32s
    amaf_tries: Float32s
    amaf_mean: Float32s
    residue: Float32s
    stamp: Int32s
    owner: Int32s
    first_link: Int32s
    next_link: Int32s
    link_expansion: Int32s
    link_joint: Int64s
    link_node: Int32s


#: The element type of each array.
_ELEMENTS = {name: np.dtype(each.kind) for name, each in Bundle(Store).arrays.items()}
#: Size in bytes of a cache line.
_CACHE_LINE = 64
#: Fields of the records of nodes, expansions and options. Access to memory limits the speed of descents, so
#: fields of a record lie side by side. States come last, as they can be long.
_NODE = ("sums", "low", "high", "visits", "expansion", "stamp", "distance", "status", "states")
_EXPANSION = ("first_option", "first_child", "option_counts", "mover", "minimax", "owner", "first_link")
_OPTION = (
    "action",
    "tries",
    "pending",
    "option_minimax",
    "mean",
    "option_low",
    "option_high",
    "amaf_tries",
    "amaf_mean",
)


def _record(names: Sequence[str], columns: Mapping[str, int]) -> np.dtype[Any]:
    """Return the type of records; those of more than half a cache line fill the whole line."""
    fields = [(name, _ELEMENTS[name], (columns[name],) if name in columns else ()) for name in names]
    record = np.dtype(fields, align=True)
    if not _CACHE_LINE // 2 < record.itemsize < _CACHE_LINE:
        return record
    formats, offsets = zip(*(field[:2] for field in (record.fields or {}).values()), strict=True)
    return np.dtype({"names": [*names], "formats": formats, "offsets": offsets, "itemsize": _CACHE_LINE})


def _sharing(record: np.dtype[Any], name: str, place: str) -> np.dtype[Any]:
    """Return the type of records with another field in the bytes of an existing field."""
    fields = dict(record.fields or {})
    fields[name] = fields[place]
    formats, offsets = zip(*(field[:2] for field in fields.values()), strict=True)
    return np.dtype({"names": [*fields], "formats": formats, "offsets": offsets, "itemsize": record.itemsize})


#: The record of an option. All its fields are single numbers, so its size does not depend on the game.
_OPTION_RECORD = _sharing(_record(_OPTION, {}), "residue", "option_low")

store_at = Bundle(
    Store,
    records=dict.fromkeys((*_NODE, *_EXPANSION))
    | dict.fromkeys(_OPTION_RECORD.names or (), _OPTION_RECORD.itemsize),
)


def make_store(words: int, roles: int, memory: int) -> Store:
    """Return an empty tree with a maximum size in bytes, which is at least a few megabytes.

    The tree takes its pages from the system as it grows.
    """
    columns = dict.fromkeys(("sums", "low", "high", "option_counts"), roles) | {"states": words}
    node, expansion, option = _record(_NODE, columns), _record(_EXPANSION, columns), _OPTION_RECORD
    # Expected numbers for each node: about one option for each role, half an expansion, and two slots.
    options_a_node = 1.25 + 0.25 * (roles - 1)
    # The last terms are the slots of nodes and links, and scratch for forgetting.
    per = node.itemsize + 0.5 * expansion.itemsize + options_a_node * option.itemsize + 1.25 * 4 + 16 + 8 + 10
    nodes = max(FEWEST_NODES, min(int(memory / per), 1 << 30))
    slots = 1 << max(12, int(nodes * 1.33).bit_length() - 1)
    slots = slots if slots > nodes * 1.2 else slots * 2
    arrays = {
        "counts": np.zeros(13, np.int64),
        "slots": _zeros(slots, _ELEMENTS["slots"]),
        "child": _zeros(int(nodes * 1.25), _ELEMENTS["child"]),
    }
    for count, record in (nodes, node), (nodes // 2, expansion), (int(nodes * options_a_node), option):
        table = _zeros(count, record)
        arrays |= {name: table[name] for name in record.names or ()}
    for name in "next_link", "link_expansion", "link_joint", "link_node":
        arrays[name] = _zeros(slots // 4, _ELEMENTS[name])
    arrays["counts"][SLOTS], arrays["counts"][ROOT] = min(slots, FIRST_SLOTS), NONE
    return Store(**arrays)


def _zeros(count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that begin with a cache line, in pages of the usual size.

    numpy asks for huge pages. A growing tree takes its pages one by one, and in a virtual machine a new huge
    page can take milliseconds: 20 to 30 % of the time of a search. Existing huge pages gain at most 5 %.
    """
    size = count * kind.itemsize
    if sys.platform == "linux":
        try:
            pages = mmap.mmap(-1, size + _CACHE_LINE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"no {size:,} bytes for a tree: {error}") from None
        with suppress(OSError):  # from a kernel without huge pages
            pages.madvise(mmap.MADV_NOHUGEPAGE)
        memory = np.frombuffer(pages, np.uint8)
    else:
        memory = np.zeros(size + _CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + size].view(kind)


@compiled
def empty(store: Store) -> None:
    """Remove all nodes."""
    counts = store.counts
    store.slots[: counts[SLOTS]] = 0
    if counts[LINKS]:
        store.link_node[:] = 0
    counts[NODES] = counts[EXPANSIONS] = counts[OPTIONS] = counts[CHILDREN] = counts[LINKS] = 0
    counts[IS_SHORT] = 0


@compiled
def hash_of(states, index):
    """Return the hash of a state, its words mixed as in splitmix64 (Steele, Lea and Flood 2014)."""
    mixed = np.uint64(0)
    for word in range(states.shape[1]):
        mixed ^= states[index, word]
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


@compiled
def find(store, states, index, hashed):
    """Return the node of a state; if it has none, -1 minus the free slot for it."""
    mask = np.uint64(store.counts[SLOTS] - 1)
    slot = hashed & mask
    words = states.shape[1]
    while True:
        found = store.slots[slot]
        if not found:
            return -1 - np.int64(slot)
        node = np.int64(found & LOW_HALF) - 1
        same = (found ^ hashed) <= LOW_HALF
        for word in range(words):
            if not same:
                break
            same = store.states[node, word] == states[index, word]
        if same:
            return node
        slot = (slot + np.uint64(1)) & mask


@compiled
def _slot_of(node, hashed):
    """Return the content of the slot of a node."""
    return (hashed & ~LOW_HALF) | np.uint64(node + 1)


@compiled
def rehash(store):
    """Rebuild the transposition table."""
    store.slots[: store.counts[SLOTS]] = 0
    for node in range(store.counts[NODES]):
        if node + _AHEAD < store.counts[NODES]:
            prefetch_slot(store, hash_of(store.states, node + _AHEAD))
        hashed = hash_of(store.states, node)
        store.slots[-1 - find(store, store.states, node, hashed)] = _slot_of(node, hashed)


@compiled
def prefetch_slot(store, hashed):
    """Prefetch the slot of a hash."""
    prefetch(store.slots, np.int64(hashed & np.uint64(store.counts[SLOTS] - 1)))


@compiled
def prefetch_node(store, hashed):
    """Prefetch the node of a hash."""
    found = store.slots[hashed & np.uint64(store.counts[SLOTS] - 1)]
    if found and (found ^ hashed) <= LOW_HALF:
        node = np.int64(found & LOW_HALF) - 1
        prefetch(store.states, node)
        prefetch(store.status, node)


@compiled
def find_or_add(store, states, index, hashed):
    """Return the node of a state, and whether it is new; the caller checks that there is room."""
    found = find(store, states, index, hashed)
    if found >= 0:
        return found, False
    node = store.counts[NODES]
    store.counts[NODES] = node + 1
    store.slots[-1 - found] = _slot_of(node, hashed)
    for word in range(states.shape[1]):
        store.states[node, word] = states[index, word]
    if 2 * node > store.counts[SLOTS] and store.counts[SLOTS] < len(store.slots):
        # Above a threshold, grow to the final size at once: rehashing millions of nodes takes too long.
        more = 4 * store.counts[SLOTS]
        store.counts[SLOTS] = more if more <= min(MOST_SMALL_SLOTS, len(store.slots)) else len(store.slots)
        rehash(store)
    store.status[node] = LEAF
    store.visits[node] = 0
    store.expansion[node] = NONE
    store.distance[node] = 0
    store.stamp[node] = 0
    for role in range(store.sums.shape[1]):
        store.sums[node, role] = 0.0
        store.low[node, role] = 0.0
        store.high[node, role] = 1.0
    return node, True


@compiled
def _link_slot(store, expansion, joint):
    """Return the slot that holds a joint move, or the free slot for it."""
    mixed = (np.uint64(joint) ^ (np.uint64(expansion) << np.uint64(40))) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mask = np.uint64(len(store.link_node) - 1)
    slot = mixed & mask
    while store.link_node[slot] and not (
        store.link_expansion[slot] == expansion and store.link_joint[slot] == joint
    ):
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def child_of(store, expansion, joint):
    """Return the child of a joint move, or NONE."""
    first = store.first_child[expansion]
    if first >= 0:
        return np.int64(store.child[first + joint])
    return np.int64(store.link_node[_link_slot(store, expansion, joint)]) - 1


@compiled
def set_child(store, expansion, joint, node):
    """Set the child of a joint move; return whether there was room."""
    first = store.first_child[expansion]
    if first >= 0:
        store.child[first + joint] = node
        return True
    if 2 * (store.counts[LINKS] + 1) > len(store.link_node):
        return False
    slot = _link_slot(store, expansion, joint)
    if not store.link_node[slot]:
        store.counts[LINKS] += 1
        store.next_link[slot] = store.first_link[expansion]
        store.first_link[expansion] = slot
    store.link_expansion[slot] = expansion
    store.link_joint[slot] = joint
    store.link_node[slot] = node + 1
    return True
