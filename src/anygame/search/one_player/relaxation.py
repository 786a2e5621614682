"""Estimated distances to a goal: the additive heuristic of planning, on a network.

In the relaxed game, a fluent keeps all values that it ever had (Bonet and Geffner 2001, "Planning as
heuristic search"). Each node has a cost of being true and a cost of being false. A value of a fluent costs
one move more than the literal that causes the value. The cost of a conjunction is the sum of the costs of its
inputs. If the cost of a goal is infinite, the goal is unreachable in the game.
"""

from __future__ import annotations

from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.native.marking import BoolRows, Int64s, UInt64Rows, compiled, exported, native_code
from anygame.search.lanes import holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network


class ChoiceGates(NamedTuple):
    """The gates of a network, for a role that makes exactly one move.

    A gate that reads only moves is replaced by a set of moves: the moves for which the gate is true. If a
    gate reads several moves and other nodes, one set replaces the moves. So the literal "neither a nor b" has
    the cost of the cheapest other move. Literals are encoded as in ``Network``. A set that replaces inputs
    gets a new node after the last node of the network.
    """

    gates: NDArray[np.int64]  # [gates]; the nodes of the gates that are not sets of moves
    starts: NDArray[np.int64]  # [gates + 1]; the index of each gate's first input in ``inputs``
    inputs: NDArray[np.int64]  # the input literals of all gates
    state_gates: int  # number of gates that do not depend on moves; these gates come first
    sets: NDArray[np.int64]  # [sets]; the node of each set of moves
    has: NDArray[np.bool_]  # [sets, moves]; the moves of the role in each set
    fixed: NDArray[np.int64]  # literals whose cost is always 0
    nodes: int  # number of nodes

    @classmethod
    def of(cls, network: Network, chooser: int) -> ChoiceGates:
        """Return the gates of a network for the moves of one role."""
        # In this method, a set of moves is an integer with one bit per move.
        moves, own = network.actions[chooser], network.first_action + sum(network.actions[:chooser])
        everything = (1 << moves) - 1
        sets, fixed = _moves_as_sets(network, chooser, own)
        cyclic = {gate for cycle in network.cycles for gate in range(cycle.first, cycle.end)}
        fixed += [2 * (network.first_gate + gate) + (not network.initially[gate]) for gate in cyclic]
        inputs, starts = network.inputs.tolist(), network.starts.tolist()
        gates: dict[int, list[int]] = {}
        common_sets: dict[int, int] = {}
        for gate in range(network.gates):
            read = inputs[starts[gate] : starts[gate + 1]]
            choices = [literal for literal in read if literal >> 1 in sets]
            common = everything
            for literal in choices:
                common &= sets[literal >> 1] ^ (everything if literal & 1 else 0)
            if len(choices) == len(read) and gate not in cyclic:
                sets[network.first_gate + gate] = common
                continue
            if len(choices) > 1:
                node = common_sets.setdefault(common, network.nodes + len(common_sets))
                read = [*(literal for literal in read if literal >> 1 not in sets), 2 * node]
            gates[network.first_gate + gate] = read
        used = {literal >> 1 for read in (*gates.values(), network.next.tolist()) for literal in read}
        listed = {node: bits for node, bits in sets.items() if node in used and not own <= node < own + moves}
        listed.update({node: bits for bits, node in common_sets.items()})
        state_end = network.first_gate + network.state_gates
        return cls(
            gates=np.array(list(gates), np.int64),
            starts=np.cumsum([0, *map(len, gates.values())], dtype=np.int64),
            inputs=np.array([literal for read in gates.values() for literal in read], np.int64),
            state_gates=sum(node < state_end for node in gates),
            sets=np.array(list(listed), np.int64),
            has=_bits(list(listed.values()), moves),
            fixed=np.array(fixed, np.int64),
            nodes=network.nodes + len(common_sets),
        )


def _moves_as_sets(network: Network, chooser: int, own: int) -> tuple[dict[int, int], list[int]]:
    """Return sets of moves by node, and the literals of other roles' moves, which cost nothing."""
    sets = {own + move: 1 << move for move in range(network.actions[chooser])}
    free, node = list[int](), network.first_action
    for role, count in enumerate(network.actions):
        if role != chooser and count == 1:
            # A role with only one move always makes this move.
            sets[node] = (1 << network.actions[chooser]) - 1
        elif role != chooser:
            # The choices of other roles are unknown: literals of their moves cost nothing, inverted or not.
            free += range(2 * node, 2 * (node + count))
        node += count
    return sets, free


def _bits(sets: list[int], moves: int) -> NDArray[np.bool_]:
    """Convert sets, which are integers with one bit per move, to an array: bool [sets, moves]."""
    size = -(-moves // 8)
    rows = [np.frombuffer(bits.to_bytes(size, "little"), np.uint8) for bits in sets]
    packed = np.array(rows, np.uint8).reshape(len(sets), size)
    return np.unpackbits(packed, axis=1, count=moves, bitorder="little").astype(np.bool_)


#: Cost of an unreachable literal, greater than every cost of a reachable literal.
ENDLESS: Final = 1 << 28
#: Maximum number of rounds of cost updates. If costs still fall at the end, no goal counts as unreachable.
_ROUNDS: Final = 500
#: Maximum number of parts of a goal.
_MOST_PARTS: Final = 256


class Estimates(NamedTuple):
    """Estimates of n states."""

    costs: NDArray[np.int64]  # [n]; estimated number of moves to the target goal, or ``ENDLESS``
    goals: NDArray[np.int64]  # [n]; the index of the greatest goal that holds in the state; -1 if none does
    open_parts: NDArray[np.bool_]  # [n, parts]; whether each part of the target goal is false


class Relaxation:
    """Estimates distances from states of a network to a target goal, which is the greatest goal at first.

    Args:
        chooser: index of the role that chooses.
        free: bool [fluents]; fluents whose values cost nothing, such as a step counter.

    Attributes:
        goals: the goals of the role, ascending.
    """

    def __init__(self, network: Network, chooser: int, free: NDArray[np.bool_]) -> None:
        self._network = network
        self.goals = [value for value, _ in network.goals[chooser]]
        self._literals = [literal for _, literal in network.goals[chooser]]
        self._gates = ChoiceGates.of(network, chooser)
        free_nodes = 1 + np.flatnonzero(free)
        self._fixed = np.concatenate([self._gates.fixed, 2 * free_nodes, 2 * free_nodes + 1])
        first_move = sum(network.actions[:chooser])
        self._first_move = network.first_action + first_move
        self._legal = network.legal[first_move:][: network.actions[chooser]].astype(np.int64)
        self._next = network.next.astype(np.int64)
        self._parts = np.zeros(0, np.int64)
        self._place = 0
        if self.goals:
            self.aim(len(self.goals) - 1)

    @property
    def parts(self) -> int:
        """Number of parts of the target goal; see ``conjuncts``."""
        return len(self._parts)

    def aim(self, place: int) -> None:
        """Make the goal with the given index the target."""
        self._place = place
        self._parts = np.array(conjuncts(self._network, self._literals[place]), np.int64)

    def estimate(self, states: NDArray[np.uint64], wanted: Sequence[int]) -> Estimates:
        """Return the estimates of states.

        Args:
            states: uint64 [n, words]; packed states.
            wanted: indices of goals. A state from which no wanted goal can be reached costs ``ENDLESS``.
        """
        gates = self._gates
        costs = np.empty(len(states), np.int64)
        goals = np.full(len(states), -1, np.int64)
        is_open = np.empty((len(states), len(self._parts)), np.bool_)
        _estimate(
            np.ascontiguousarray(states),
            self._next,
            self._first_move,
            self._legal,
            gates.gates,
            gates.starts,
            gates.inputs,
            gates.state_gates,
            gates.sets,
            gates.has,
            self._fixed,
            np.array(self._literals, np.int64),
            self._place,
            np.array(wanted, np.int64),
            self._parts,
            costs,
            goals,
            is_open,
            np.empty(2 * gates.nodes, np.int64),
        )
        return Estimates(costs, goals, is_open)

    def reachable(self, state: NDArray[np.uint64]) -> list[int]:
        """Return the indices of the goals that the relaxed game reaches from a packed state."""
        return [place for place in range(len(self.goals)) if self.estimate(state, [place]).costs[0] < ENDLESS]


def conjuncts(network: Network, literal: int) -> list[int]:
    """Return at most ``_MOST_PARTS`` literals whose conjunction equals a literal."""
    parts: list[int] = []
    waiting = [literal]
    while waiting:
        here = waiting.pop()
        gate = (here >> 1) - network.first_gate
        inputs = network.inputs[network.starts[gate] : network.starts[gate + 1]] if gate >= 0 else ()
        if gate < 0 or here & 1 or len(parts) + len(waiting) + len(inputs) > _MOST_PARTS:
            parts.append(here)
        else:
            waiting += [int(literal) for literal in inputs]
    return sorted(set(parts))


@cache
def prepare() -> Thread:
    """Start a thread that compiles the native code of the estimates, and return the thread."""
    thread = Thread(target=native_code, args=("search",))
    thread.start()
    return thread


@exported
def _estimate(
    states: UInt64Rows,
    after: Int64s,
    first_move: int,
    legal: Int64s,
    nodes: Int64s,
    starts: Int64s,
    inputs: Int64s,
    state_gates: int,
    sets: Int64s,
    has: BoolRows,
    fixed: Int64s,
    literals: Int64s,
    aimed: int,
    wanted: Int64s,
    parts: Int64s,
    costs: Int64s,
    goals: Int64s,
    is_open: BoolRows,
    cost: Int64s,
) -> None:
    """Write the estimates of states to ``costs``, ``goals`` and ``is_open``.

    ``cost`` is scratch space with one element per literal.
    """
    fluents, gates = len(after), len(nodes)
    for state in range(len(states)):
        cost[:] = ENDLESS
        cost[1] = 0
        for fluent in range(fluents):
            cost[2 * (1 + fluent) + (0 if holds(states, state, fluent) else 1)] = 0
        for literal in fixed:
            cost[literal] = 0
        changed, rounds = True, 0
        while changed and rounds < _ROUNDS:
            changed = False
            for gate in range(gates + 1):
                if gate == state_gates:
                    # All gates that determine legality are done; later gates depend on moves.
                    _set_choices(first_move, legal, sets, has, cost)
                if gate == gates:
                    break
                total, least = 0, ENDLESS
                for place in range(starts[gate], starts[gate + 1]):
                    literal = inputs[place]
                    here = cost[literal]
                    total = ENDLESS if max(here, total) == ENDLESS else min(ENDLESS - 1, total + here)
                    least = min(least, cost[literal ^ 1])
                node = 2 * nodes[gate]
                if total < cost[node]:
                    cost[node] = total
                if least < cost[node + 1]:
                    cost[node + 1] = least
            if rounds == 0:
                for place in range(len(parts)):
                    is_open[state, place] = cost[parts[place]] > 0
                for place in range(len(literals)):
                    if cost[literals[place]] == 0:
                        goals[state] = place
            for fluent in range(fluents):
                node = 2 * (1 + fluent)
                for side in range(2):
                    before = cost[after[fluent] ^ side]
                    if before < ENDLESS and min(before, ENDLESS - 2) + 1 < cost[node + side]:
                        cost[node + side] = min(before, ENDLESS - 2) + 1
                        changed = True
            rounds += 1
        reachable = changed
        for place in wanted:
            if cost[literals[place]] < ENDLESS:
                reachable = True
        costs[state] = min(cost[literals[aimed]], ENDLESS - 1) if reachable else ENDLESS


@compiled
def _set_choices(first_move, legal, sets, has, cost):
    """Set the costs of both values of each move of the role, and of each set of moves."""
    best, second = ENDLESS, ENDLESS
    for move in range(len(legal)):
        here = cost[legal[move]]
        cost[2 * (first_move + move)] = here
        second = min(second, max(best, here))
        best = min(best, here)
    for move in range(len(legal)):
        node = 2 * (first_move + move)
        cost[node + 1] = second if cost[node] == best else best
    for number in range(len(sets)):
        inside, outside = ENDLESS, ENDLESS
        for move in range(len(legal)):
            here = cost[2 * (first_move + move)]
            if has[number, move]:
                inside = min(inside, here)
            else:
                outside = min(outside, here)
        cost[2 * sets[number]] = inside
        cost[2 * sets[number] + 1] = outside
