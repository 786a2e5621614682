"""State keys: the part of a state that duplicate detection compares.

A fluent is relevant if legal moves, the end or a goal depend on it, now or later (cone of influence: Clarke,
Grumberg and Peled 1999, "Model checking", section 13.2).

A step counter is a set of fluents that makes every state new, although only the end and the goals read these
fluents. States that differ only in the counter have the same moves, and their successors differ only in the
counter. Of the states that differ only in the counter, a search visits only the earliest. A search that skips
the other states can miss a goal that a line reaches only by waiting until the counter ends the match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.kernels.phases import autonomous_fluents, inputs_of, run_alone
from anygame.network.network import TRUE
from anygame.network.ragged import places
from anygame.search.one_player.relaxation import conjuncts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network


class Influence:
    """Dependency graph: edges from each gate to its inputs, and from each fluent to its next value."""

    def __init__(self, network: Network) -> None:
        self.network = network
        gates = network.first_gate + np.repeat(np.arange(network.gates), np.diff(network.starts))
        self._readers = np.concatenate([gates, 1 + np.arange(network.fluents)]).astype(np.int64)
        self._read = np.concatenate([network.inputs >> 1, network.next >> 1]).astype(np.int64)

    def affected_now(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the given nodes and the nodes that depend on them in the same state: bool [nodes]."""
        gates = self._readers >= self.network.first_gate
        return _reached(nodes, self._read[gates], self._readers[gates], self.network.nodes)

    def relevant_fluents(self, chooser: int) -> NDArray[np.bool_]:
        """Return the fluents on which legal moves, the end or a goal of a role depend: bool [fluents]."""
        network = self.network
        goals = [literal >> 1 for _, literal in network.goals[chooser]]
        outputs = np.concatenate([network.legal >> 1, [network.terminal >> 1], goals]).astype(np.int64)
        return _reached(outputs, self._readers, self._read, network.nodes)[1 : network.first_action]


def _reached(
    starts: NDArray[np.int64], tails: NDArray[np.int64], heads: NDArray[np.int64], nodes: int
) -> NDArray[np.bool_]:
    """Return the nodes that can be reached from the start nodes: bool [nodes]."""
    order = np.argsort(tails, kind="stable")
    heads = heads[order]
    first = np.searchsorted(tails[order], np.arange(nodes + 1))
    reached = np.zeros(nodes, np.bool_)
    frontier = np.unique(starts)
    while len(frontier):
        reached[frontier] = True
        targets = np.unique(heads[places(first[frontier], first[frontier + 1] - first[frontier])])
        frontier = targets[~reached[targets]]
    return reached


#: Maximum number of values of a step counter.
_MOST_TICKS: Final = 2_000
#: Maximum product of a counter's numbers of fluents and of values. A larger product takes over a second.
_MOST_WORK: Final = 300_000


def find_step_counter(
    influence: Influence, chooser: int, start: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], frozenset[int]]:
    """Return the step counter's fluents, bool [fluents], and the goals for which a search can ignore it.

    If the game has no step counter, the result is no fluents and all goals. ``start``, bool [fluents], is the
    first state.
    """
    network = influence.network
    none = np.zeros(network.fluents, np.bool_), frozenset(value for value, _ in network.goals[chooser])
    relevant, alone = influence.relevant_fluents(chooser), np.zeros(network.fluents, np.bool_)
    alone[list(autonomous_fluents(network))] = True
    fluents = np.flatnonzero(alone & relevant)
    most = min(_MOST_TICKS, _MOST_WORK // max(1, len(fluents)))
    ticks = np.array(run_alone(network, fluents.tolist(), start, most)[:-1], np.bool_)
    counter = np.zeros(network.fluents, np.bool_)
    counter[fluents] = (ticks != ticks[:1]).any(axis=0)
    affected = influence.affected_now(1 + np.flatnonzero(counter))
    reads_counter = affected[[*network.legal >> 1, *network.next[relevant & ~alone] >> 1]].any()
    if reads_counter or not counter.any():
        return none
    return counter, _safe_goals(influence, chooser, counter, affected)


def _safe_goals(
    influence: Influence, chooser: int, counter: NDArray[np.bool_], affected: NDArray[np.bool_]
) -> frozenset[int]:
    """Return the goals that do not depend on the step counter, and that end the match at every counter value.

    The condition of the end is a disjunction. The result is empty unless each disjunct depends on the counter
    alone or not at all. Otherwise a state can be terminal at one value of the counter, and not at a later
    value. ``affected``, bool [nodes], tells which nodes depend on the counter.
    """
    network = influence.network
    others = 1 + np.flatnonzero(~counter)
    mixed = affected & influence.affected_now(others)
    if any(mixed[literal >> 1] for literal in conjuncts(network, network.terminal ^ 1)):
        return frozenset()
    unsafe = set()
    for value, literal in network.goals[chooser]:
        conditions = set(conjuncts(network, literal)) - {network.terminal}
        if any(affected[part >> 1] for part in conditions) or not _implies_end(network, literal):
            unsafe.add(value)
    return frozenset(value for value, _ in network.goals[chooser]) - unsafe


def _implies_end(network: Network, goal: int) -> bool:
    """Return whether the conditions of a goal imply the end, by unit propagation.

    If the end itself is a condition of the goal, this condition is ignored.
    """
    forced, waiting = {TRUE}, [goal, network.terminal ^ 1]
    while waiting:
        literal = waiting.pop()
        if literal == network.terminal:
            continue
        if literal ^ 1 in forced:
            return True
        if literal not in forced:
            forced.add(literal)
            node = literal >> 1
            waiting += inputs_of(network, node) if node >= network.first_gate and not literal & 1 else []
    return False


class StateKey:
    """The compared bits of a packed state. Other bits are irrelevant, or depend only on the number of moves.

    Args:
        mask: uint64 [words]; the compared bits.
        safe_goals: goals for which a search that visits each key once finds the shortest lines; None for all.
        counter: bool [fluents]; the fluents of a step counter that the key omits.
    """

    def __init__(
        self,
        mask: NDArray[np.uint64],
        safe_goals: frozenset[int] | None = None,
        counter: NDArray[np.bool_] | None = None,
    ) -> None:
        self.counter = np.zeros(0, np.bool_) if counter is None else counter
        self._mask = mask
        self._places = np.flatnonzero(mask) if mask.any() else np.zeros(1, np.int64)
        self.safe_goals = safe_goals

    @classmethod
    def whole(cls, words: int) -> StateKey:
        """Return the key that compares whole states of ``words`` words."""
        return cls(np.full(words, ~np.uint64(0)))

    @classmethod
    def of_network(
        cls, network: Network, chooser: int, root: NDArray[np.uint64], *, skip_counter: bool
    ) -> StateKey:
        """Return the key of relevant fluents; with ``skip_counter``, the key omits a step counter.

        ``root``, uint64 [1, words], is the first state.
        """
        influence = Influence(network)
        counter, safe_goals = np.zeros(network.fluents, np.bool_), None
        if skip_counter:
            start = np.unpackbits(root.view(np.uint8), bitorder="little")[: network.fluents].astype(np.bool_)
            counter, safe_goals = find_step_counter(influence, chooser, start)
        bits = np.zeros(root.shape[1] * 64, np.bool_)
        bits[: network.fluents] = influence.relevant_fluents(chooser) & ~counter
        mask = np.packbits(bits, bitorder="little").view(np.uint64)
        return cls(mask, safe_goals if counter.any() else None, counter)

    def is_safe(self, goal: float) -> bool:
        """Return whether a search that visits each key once finds the shortest lines to a goal."""
        return self.safe_goals is None or goal in self.safe_goals

    def of(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the keys of states: uint64 [n, words of a key]."""
        return np.ascontiguousarray(states[:, self._places] & self._mask[self._places])

    def rest(self, state: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the bits that the key of a state omits: uint64 [words]."""
        return state & ~self._mask

    def restored(self, keys: NDArray[np.uint64], rest: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return states, uint64 [n, words], given their keys and the bits that the keys omit."""
        states = np.array(np.broadcast_to(rest, (len(keys), rest.shape[-1])))
        states[:, self._places] |= keys
        return states
