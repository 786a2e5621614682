"""Search trees as arrays of nodes, expansions and options, with a transposition table.

A node is a state. A state that is reached on several paths has one node (Childs, Brodeur and Kocsis 2008,
"Transpositions and move groups in Monte Carlo tree search"). An expansion lists the legal moves of a node. An
option is a legal move of one role at a node. Memory access limits the speed of descents, so the fields of a
node, an expansion or an option form one record.
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

#: Indices of ``Store.counts``: numbers of nodes, expansions, options, children, links and slots in use.
NODES, EXPANSIONS, OPTIONS, CHILDREN, LINKS, SLOTS = range(6)
#: Indices of ``Store.counts``: root node, maximum depth of a descent, number of descents, number of evaluated
#: leaves, whether the goals of two roles are opposed, and whether some role has many moves (``WIDE``).
ROOT, DEPTH, DESCENTS, LEAVES, COMPETITIVE, IS_WIDE = range(6, 12)
#: Index of ``Store.counts``: whether memory was too short to expand a node.
IS_SHORT = 12
#: Number of slots in use in a new tree. Small tables fit into the CPU caches.
FIRST_SLOTS = 1 << 12
#: Number of slots beyond which the table grows to its final size at once.
MOST_SMALL_SLOTS = 1 << 20
#: Mask of the lower half of a slot, which contains the node number plus one.
LOW_HALF = np.uint64(0xFFFFFFFF)
#: Status of a node: not expanded, queued for expansion, expanded, or an end of the game.
LEAF, EXPANDING, EXPANDED, TERMINAL = range(4)
#: Minimum capacity of a tree in nodes: one pass can add thousands of children.
FEWEST_NODES = 1 << 13
#: Number of nodes by which ``rehash`` prefetches slots ahead.
_AHEAD = 16
#: Index of a missing expansion, child or link.
NONE = -1


class Store(NamedTuple):
    """A search tree. All values and bounds lie between 0 and 1."""

    counts: Int64s  # Counters and flags; see the indices above.
    # Transposition table with open addressing. The low half of a slot is the node number plus one. The high
    # half is the high half of the state's hash, so a lookup rarely reads the state of another node.
    slots: UInt64s
    # Nodes:
    states: UInt64Rows  # State of the node, with one bit per fluent.
    status: UInt8s  # Status of the node; see the constants above.
    visits: Int32s  # Number of leaves evaluated at or below the node.
    sums: Float64Rows  # Sum of the values of the evaluated leaves, for each role.
    low: Float32Rows  # Proven lower bound of the node's value, for each role.
    high: Float32Rows  # Proven upper bound of the node's value, for each role.
    distance: Int16s  # Number of joint moves to the end, if the value is proven.
    expansion: Int32s  # Index of the node's expansion, or NONE.
    stamp: Int32s  # Number of the last descent through the node.
    # Expansions:
    option_counts: Int32Rows  # Number of legal moves of each role.
    first_option: Int64s  # Index of the first option of the first role; the other options follow.
    first_child: Int64s  # Index in ``child`` of the first joint move, or NONE if the children are in links.
    # The only role with a choice; NONE if several roles have a choice; the number of roles if none has one.
    mover: Int16s
    minimax: Float32s  # Minimax value over estimates.
    owner: Int32s  # The expanded node.
    first_link: Int32s  # First slot of the expansion's children in the hash table of links, or NONE.
    # Node of each listed joint move, or NONE. The move of the last role changes fastest.
    child: Int32s
    # Options:
    action: Int32s  # The move, as an action number.
    tries: Int32s  # Number of leaves evaluated through the option.
    pending: Int16s  # Virtual losses: number of running descents through the option.
    option_minimax: UInt16s  # Minimax value of the child, from 0 to ``minimax.ONE``.
    mean: Float32s  # Mean value of the leaves for the role that has the option.
    option_low: Float32s  # Proven lower bound of the child's value, if only one role chooses.
    option_high: Float32s  # Proven upper bound of the child's value, if only one role chooses.
    amaf_tries: Float32s  # Number of leaves whose paths or playouts contain the action at or below the node.
    amaf_mean: Float32s  # Mean value of the leaves that ``amaf_tries`` counts.
    residue: Float32s  # Rounding error of ``mean`` if several roles choose; same bytes as ``option_low``.
    # Links: a hash table with open addressing for the children of expansions that do not fit in ``child``.
    next_link: Int32s  # Next slot of the same expansion, or NONE.
    link_expansion: Int32s  # Expansion to which the slot belongs.
    link_joint: Int64s  # Joint move that leads to the child.
    link_node: Int32s  # Number of the child plus one, or 0 if the slot is free.


#: Element type of each array.
_ELEMENTS = {name: np.dtype(each.kind) for name, each in Bundle(Store).arrays.items()}
#: Size in bytes of a cache line.
_CACHE_LINE = 64
#: Fields of the records, in the order in which they lie in memory. States come last, as they can be long.
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
    """Return the type of a record; a record of more than half a cache line is padded to a full line."""
    fields = [(name, _ELEMENTS[name], (columns[name],) if name in columns else ()) for name in names]
    record = np.dtype(fields, align=True)
    if not _CACHE_LINE // 2 < record.itemsize < _CACHE_LINE:
        return record
    formats, offsets = zip(*(field[:2] for field in (record.fields or {}).values()), strict=True)
    return np.dtype({"names": [*names], "formats": formats, "offsets": offsets, "itemsize": _CACHE_LINE})


def _sharing(record: np.dtype[Any], name: str, place: str) -> np.dtype[Any]:
    """Return a record type in which another field shares the bytes of an existing field."""
    fields = dict(record.fields or {})
    fields[name] = fields[place]
    formats, offsets = zip(*(field[:2] for field in fields.values()), strict=True)
    return np.dtype({"names": [*fields], "formats": formats, "offsets": offsets, "itemsize": record.itemsize})


#: Record type of an option, whose size does not depend on the game.
_OPTION_RECORD = _sharing(_record(_OPTION, {}), "residue", "option_low")

store_at = Bundle(
    Store,
    records=dict.fromkeys((*_NODE, *_EXPANSION))
    | dict.fromkeys(_OPTION_RECORD.names or (), _OPTION_RECORD.itemsize),
)


def make_store(words: int, roles: int, memory: int) -> Store:
    """Return an empty tree of about ``memory`` bytes, but with room for at least ``FEWEST_NODES`` nodes."""
    columns = dict.fromkeys(("sums", "low", "high", "option_counts"), roles) | {"states": words}
    node, expansion, option = _record(_NODE, columns), _record(_EXPANSION, columns), _OPTION_RECORD
    # Assumed averages per node: ``options_a_node`` options, half an expansion, and two slots.
    options_a_node = 1.25 + 0.25 * (roles - 1)
    # The last terms are the bytes of children, slots, links, and the temporary arrays of ``forget``.
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
    """Return an array of zeros that is aligned to cache lines and does not use huge pages.

    NumPy would request huge pages. In a virtual machine, the first access to a huge page can take
    milliseconds. All first accesses take 20 to 30 % of the time of a search. Huge pages make later accesses
    at most 5 % faster.
    """
    size = count * kind.itemsize
    if sys.platform == "linux":
        try:
            pages = mmap.mmap(-1, size + _CACHE_LINE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"cannot allocate {size:,} bytes for the search tree: {error}") from None
        with suppress(OSError):  # Some kernels do not support huge pages.
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
def mix(word):
    """Return a 64-bit word, mixed as in splitmix64 (Steele, Lea and Flood 2014)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def hash_of(states, index):
    """Return the hash of a state."""
    hashed = np.uint64(0)
    for word in range(states.shape[1]):
        hashed = mix(hashed ^ states[index, word])
    return hashed


@compiled
def find(store, states, index, hashed):
    """Return the node of a state. If the state has no node, return -1 minus the number of a free slot."""
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
    """Prefetch the slot in which the lookup of a hash begins."""
    prefetch(store.slots, np.int64(hashed & np.uint64(store.counts[SLOTS] - 1)))


@compiled
def prefetch_node(store, hashed):
    """Prefetch the node to which the slot of a hash refers."""
    found = store.slots[hashed & np.uint64(store.counts[SLOTS] - 1)]
    if found and (found ^ hashed) <= LOW_HALF:
        node = np.int64(found & LOW_HALF) - 1
        prefetch(store.states, node)
        prefetch(store.status, node)


@compiled
def find_or_add(store, states, index, hashed):
    """Return the node of a state, and whether the node is new. The caller ensures that the tree has room."""
    found = find(store, states, index, hashed)
    if found >= 0:
        return found, False
    node = store.counts[NODES]
    store.counts[NODES] = node + 1
    store.slots[-1 - found] = _slot_of(node, hashed)
    for word in range(states.shape[1]):
        store.states[node, word] = states[index, word]
    if 2 * node > store.counts[SLOTS] and store.counts[SLOTS] < len(store.slots):
        # Rehashing millions of nodes takes long, so a large table grows to its final size at once.
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
    """Return the slot of a joint move in the hash table of links, or a free slot for the joint move."""
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
    """Set the child of a joint move; return False if the hash table of links is full."""
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
