"""State keys: the part of a state that duplicate detection compares.

A fluent is relevant if legal moves, the end or a goal depend on it, now or later (cone of influence: Clarke,
Grumberg and Peled 1999, "Model checking", section 13.2).

A step counter is a set of fluents that makes every state new, although only the end reads these fluents.
States that differ only in the counter have the same moves, and their successors differ only in the counter.
So a search needs to visit only the earliest of these states. The search still finds all goals that end the
match for every value of the counter. It can miss a line to another goal, which only the counter ends,
because the earliest state possibly has no way to wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.kernels.phases import autonomous_fluents, cyclic_gates, inputs_of, run_alone
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE, TRUE
from anygame.network.ragged import places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class Influence:
    """Dependency graph: edges from each gate to its inputs, and from each fluent to its next value.

    Attributes:
        readers: int64 [edges]; the dependent nodes.
        read: int64 [edges]; for each reader, the node that it depends on.
    """

    network: Network
    readers: NDArray[np.int64]
    read: NDArray[np.int64]

    @classmethod
    def of(cls, network: Network) -> Influence:
        """Return the dependency graph of a network."""
        gates = network.first_gate + np.repeat(np.arange(network.gates), np.diff(network.starts))
        fluents = 1 + np.arange(network.fluents)
        readers = np.concatenate([gates, fluents]).astype(np.int64)
        read = np.concatenate([network.inputs >> 1, network.next >> 1]).astype(np.int64)
        return cls(network, readers, read)

    def affected_now(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the given nodes and the nodes that depend on them in the same state: bool [nodes]."""
        gates = self.readers >= self.network.first_gate
        return _reached(nodes, self.read[gates], self.readers[gates], self.network.nodes)

    def relevant_fluents(self, chooser: int) -> NDArray[np.bool_]:
        """Return the fluents on which legal moves, the end or a goal of a role depend: bool [fluents]."""
        network = self.network
        goals = [literal >> 1 for _, literal in network.goals[chooser]]
        outputs = np.concatenate([network.legal >> 1, [network.terminal >> 1], goals]).astype(np.int64)
        return _reached(outputs, self.readers, self.read, network.nodes)[1 : network.first_action]


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
#: Maximum product of the number of gates (or fluents) and the number of values, for a fraction of a second.
_MOST_WORK: Final = 300_000


@dataclass(frozen=True, eq=False)
class StepCounter:
    """Fluents that duplicate detection may ignore.

    Attributes:
        fluents: bool [fluents].
        safe_goals: goals for which a search still finds the shortest lines if it ignores these fluents.
    """

    fluents: NDArray[np.bool_]
    safe_goals: frozenset[int]


def find_step_counter(influence: Influence, chooser: int, start: NDArray[np.bool_]) -> StepCounter:
    """Return the step counter of a game; it has no fluents if the game has no step counter.

    Args:
        influence: the dependency graph of the network.
        chooser: index of the role that chooses.
        start: bool [fluents]; the first state.
    """
    network = influence.network
    goals = frozenset(value for value, _ in network.goals[chooser])
    none = StepCounter(np.zeros(network.fluents, np.bool_), goals)
    relevant = influence.relevant_fluents(chooser)
    alone = np.zeros_like(relevant)
    alone[list(autonomous_fluents(network))] = True
    fluents = np.flatnonzero(alone & relevant).tolist()
    most = min(_MOST_TICKS, _MOST_WORK // max(1, len(fluents)))
    ticks = np.array(run_alone(network, fluents, start, most)[:-1], np.bool_)
    if not len(fluents) or not len(ticks):
        return none
    varying = np.zeros_like(relevant)
    varying[fluents] = (ticks != ticks[0]).any(axis=0)
    nodes = 1 + np.flatnonzero(varying)
    if not len(nodes):
        return none
    affected = influence.affected_now(nodes)
    if affected[network.legal >> 1].any() or affected[network.next[relevant & ~alone] >> 1].any():
        return none
    return StepCounter(varying, _safe_goals(network, chooser, nodes, ticks[:, varying[fluents]], affected))


def _safe_goals(
    network: Network,
    chooser: int,
    nodes: NDArray[np.int64],
    ticks: NDArray[np.bool_],
    affected: NDArray[np.bool_],
) -> frozenset[int]:
    """Return the goals that end the match for every value of the step counter.

    Args:
        network: the game.
        chooser: index of the role that chooses.
        nodes: int64 [fluents]; the nodes of the step counter.
        ticks: bool [ticks, fluents]; the consecutive values of these nodes.
        affected: bool [nodes]; the nodes that depend on the step counter.
    """
    gates = [node for node in np.flatnonzero(affected).tolist() if node >= network.first_gate]
    is_cyclic = cyclic_gates(network)[np.array(gates, np.int64) - network.first_gate].any()
    if is_cyclic or len(gates) * len(ticks) > _MOST_WORK:
        return frozenset()
    # In the residual gates, constants replace the fluents of the step counter.
    residues = Gates(network.nodes)
    first_end: int | None = None
    wanted = network.goals[chooser]
    # Each term has its own entry, since the terms 100 and 0100 have the same value.
    by_term: list[set[int]] = [set() for _ in wanted]
    for tick in ticks.tolist():
        constants = {node: TRUE if value else FALSE for node, value in zip(nodes.tolist(), tick, strict=True)}
        for gate in gates:
            inputs = inputs_of(network, gate)
            constants[gate] = residues.conjunction([_substitute(literal, constants) for literal in inputs])
        end = _substitute(network.terminal, constants)
        first_end = end if first_end is None else first_end
        for (_, literal), residual in zip(wanted, by_term, strict=True):
            residual.add(_substitute(literal, constants))
        if end == TRUE:
            break
        if end != first_end:
            return frozenset()
    assert first_end is not None
    unsafe = {
        value
        for (value, _), residual in zip(wanted, by_term, strict=True)
        if len(residual) > 1
        or not all(_implies(network, residues, literal, first_end) for literal in residual)
    }
    return frozenset(value for value, _ in wanted) - unsafe


def _substitute(literal: int, by_node: dict[int, int]) -> int:
    """Replace the node of a literal by the literal of this node in ``by_node``, if there is one."""
    return by_node.get(literal >> 1, literal & ~1) ^ (literal & 1)


def _implies(network: Network, residues: Gates, literal: int, other: int) -> bool:
    """Return whether unit propagation shows that one literal implies another."""
    forced: set[int] = set()
    waiting = [literal, other ^ 1]
    while waiting:
        here = waiting.pop()
        if here == FALSE or here ^ 1 in forced:
            return True
        if here in forced or here == TRUE:
            continue
        forced.add(here)
        if not here & 1:
            node = here >> 1
            is_gate = network.first_gate <= node < network.nodes
            waiting += residues.inputs_of(here) or (inputs_of(network, node) if is_gate else [])
    return False


class StateKey:
    """The part of a packed state that is compared. The other part depends only on the number of moves.

    Args:
        mask: uint64 [words]; the compared bits.
        safe_goals: goals for which a search that visits each key once finds the shortest lines; None for all.
        counter: bool [fluents]; the fluents of a step counter that the key leaves out.
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
        """Return a key for the states of a network.

        Args:
            network: the game.
            chooser: index of the role that chooses.
            root: uint64 [1, words]; the first state.
            skip_counter: whether the key also leaves out a step counter.
        """
        influence = Influence.of(network)
        relevant = influence.relevant_fluents(chooser)
        safe: frozenset[int] | None = None
        left_out = np.zeros(network.fluents, np.bool_)
        if skip_counter:
            start = np.unpackbits(root.view(np.uint8), bitorder="little")[: network.fluents].astype(np.bool_)
            counter = find_step_counter(influence, chooser, start)
            if counter.fluents.any():
                left_out, safe = counter.fluents, counter.safe_goals
        bits = np.zeros(root.shape[1] * 64, np.bool_)
        bits[: network.fluents] = relevant & ~left_out
        return cls(np.packbits(bits, bitorder="little").view(np.uint64), safe, left_out)

    def is_safe(self, goal: float) -> bool:
        """Return whether a search that visits each key once finds the shortest lines to a goal."""
        return self.safe_goals is None or goal in self.safe_goals

    def of(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the keys of states: uint64 [n, words of a key]."""
        return np.ascontiguousarray(states[:, self._places] & self._mask[self._places])

    def rest(self, state: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the part of a state outside its key: uint64 [words]."""
        return state & ~self._mask

    def restored(self, keys: NDArray[np.uint64], rest: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return states, uint64 [n, words], from keys and rests, uint64 [words] or [n, words]."""
        states = np.array(np.broadcast_to(rest, (len(keys), rest.shape[-1])))
        states[:, self._places] |= keys
        return states
