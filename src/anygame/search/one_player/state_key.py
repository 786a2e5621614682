"""State keys: the part of a state that duplicate detection compares.

A fluent is relevant if legal moves, the end or a goal depend on it, now or later (cone of influence: Clarke,
Grumberg and Peled 1999, "Model checking", section 13.2).

A step counter is a set of fluents that make every state new, although only the end reads them. States that
differ only in the counter have the same moves, and lead to states that differ only in the counter. So a
search needs to visit only the earlier one. No line to a goal is lost if that goal ends the match for every
value of the counter. A line to a goal that only the counter ends may be lost: the earlier state may have no
way to wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.network.kernels.phases import autonomous_fluents, cyclic_gates, inputs_of, run_alone
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class Influence:
    """Dependency graph: edges from each gate to its inputs, and from each fluent to its next value.

    Attributes:
        readers: int64 [edges]; the dependent nodes.
        read: int64 [edges]; the node that each reader depends on.
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

    def outputs(self, chooser: int) -> NDArray[np.int64]:
        """Return the nodes of legal moves, the end and the goals of a role."""
        network = self.network
        goals = [literal >> 1 for _, literal in network.goals[chooser]]
        return np.concatenate([network.legal >> 1, [network.terminal >> 1], goals]).astype(np.int64)

    def sources_of(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the given nodes and all that they depend on, now or later, as a mask: bool [nodes]."""
        return _reached(nodes, self.readers, self.read, self.network.nodes)

    def affected_now(self, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the given nodes and all that depend on them in the same state, as a mask: bool [nodes]."""
        gates = self.readers >= self.network.first_gate
        return _reached(nodes, self.read[gates], self.readers[gates], self.network.nodes)

    def relevant_fluents(self, chooser: int) -> NDArray[np.bool_]:
        """Return the relevant fluents as a mask: bool [fluents]."""
        return self.sources_of(self.outputs(chooser))[1 : self.network.first_action]


def _reached(
    starts: NDArray[np.int64], tails: NDArray[np.int64], heads: NDArray[np.int64], nodes: int
) -> NDArray[np.bool_]:
    """Return the nodes reachable from the given nodes, as a mask: bool [nodes]."""
    order = np.argsort(tails, kind="stable")
    heads = heads[order]
    first = np.searchsorted(tails[order], np.arange(nodes + 1))
    reached = np.zeros(nodes, np.bool_)
    frontier = np.unique(starts)
    while len(frontier):
        reached[frontier] = True
        counts = first[frontier + 1] - first[frontier]
        begins = np.repeat(first[frontier] - np.cumsum(counts) + counts, counts)
        targets = np.unique(heads[begins + np.arange(len(begins))])
        frontier = targets[~reached[targets]]
    return reached


#: Upper bound of the values of a step counter.
_MOST_TICKS: Final = 2_000
#: Maximum product of gates (or fluents) and ticks, which takes a fraction of a second.
_MOST_WORK: Final = 300_000


@dataclass(frozen=True, eq=False)
class StepCounter:
    """Fluents that duplicate detection may ignore.

    Attributes:
        fluents: bool [fluents].
        safe_goals: goals whose shortest lines are kept if, of two states that differ only in these fluents,
            only the earlier is visited.
    """

    fluents: NDArray[np.bool_]
    safe_goals: frozenset[int]


def find_step_counter(influence: Influence, chooser: int, start: NDArray[np.bool_]) -> StepCounter:
    """Return the step counter of a game; without fluents if the game has no step counter.

    Args:
        influence: the dependency graph of the network.
        chooser: the index of the role that chooses.
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
    others = relevant & ~alone
    if affected[network.legal >> 1].any() or affected[network.next[others] >> 1].any():
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
        chooser: the index of the role that chooses.
        nodes: int64 [fluents]; the nodes of the step counter.
        ticks: bool [ticks, fluents]; its consecutive values.
        affected: bool [nodes]; the nodes that depend on it.
    """
    gates = [node for node in np.flatnonzero(affected).tolist() if node >= network.first_gate]
    is_cyclic = cyclic_gates(network)[np.array(gates, np.int64) - network.first_gate].any()
    if is_cyclic or len(gates) * len(ticks) > _MOST_WORK:
        return frozenset()
    # Residual gates: the fluents of the step counter are replaced by constants.
    residues = Gates(network.nodes)
    going: int | None = None
    wanted = network.goals[chooser]
    # By term, not by value: the terms 100 and 0100 have the same value.
    by_term: list[set[int]] = [set() for _ in wanted]
    for tick in ticks.tolist():
        constants = {node: TRUE if value else FALSE for node, value in zip(nodes.tolist(), tick, strict=True)}
        for gate in gates:
            inputs = inputs_of(network, gate)
            constants[gate] = residues.conjunction([_become(literal, constants) for literal in inputs])
        end = _become(network.terminal, constants)
        going = end if going is None else going
        for (_, literal), residual in zip(wanted, by_term, strict=True):
            residual.add(_become(literal, constants))
        if end == TRUE:
            break
        if end != going:
            return frozenset()
    assert going is not None
    unsafe = {
        value
        for (value, _), residual in zip(wanted, by_term, strict=True)
        if len(residual) > 1 or not all(_implies(network, residues, literal, going) for literal in residual)
    }
    return frozenset(value for value, _ in wanted) - unsafe


def _become(literal: int, known: dict[int, int]) -> int:
    """Substitute the node of a literal by a known literal."""
    return known.get(literal >> 1, literal & ~1) ^ (literal & 1)


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
            made = residues.inputs_of(here)
            waiting += made or (
                inputs_of(network, node) if network.first_gate <= node < network.nodes else []
            )
    return False


class StateKey:
    """The part of a packed state that is compared; the rest depends only on the number of moves.

    Args:
        mask: uint64 [words]; the compared bits.
        safe_goals: goals whose shortest lines are kept if only the first state with each key is visited;
            None for all goals.

    Attributes:
        counter: bool [fluents]; the fluents of a step counter that is left out.
    """

    def __init__(
        self,
        mask: NDArray[np.uint64],
        safe_goals: frozenset[int] | None = None,
        counter: NDArray[np.bool_] | None = None,
    ) -> None:
        self.counter = np.zeros(0, np.bool_) if counter is None else counter
        self._mask = mask
        self._places = np.flatnonzero(mask)
        if not len(self._places):
            self._places = np.zeros(1, np.int64)
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
            chooser: the index of the role that chooses.
            root: uint64 [1, words]; the first state.
            skip_counter: whether the key also leaves out a step counter.
        """
        influence = Influence.of(network)
        counts = influence.relevant_fluents(chooser)
        safe: frozenset[int] | None = None
        left_out = np.zeros(network.fluents, np.bool_)
        if skip_counter:
            start = np.unpackbits(root.view(np.uint8), bitorder="little")[: network.fluents].astype(np.bool_)
            counter = find_step_counter(influence, chooser, start)
            if counter.fluents.any():
                left_out, safe = counter.fluents, counter.safe_goals
        bits = np.zeros(root.shape[1] * 64, np.bool_)
        bits[: network.fluents] = counts & ~left_out
        return cls(np.packbits(bits, bitorder="little").view(np.uint64), safe, left_out)

    def is_safe(self, goal: float) -> bool:
        """Return whether the shortest lines to a goal are kept."""
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
