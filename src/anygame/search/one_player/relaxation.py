"""Estimated distances to a goal: the additive heuristic of planning, on a network.

In the relaxed game every value that a fluent had once stays available (Bonet and Geffner 2001, "Planning as
heuristic search"). Both values of every node have a cost. The value of a fluent costs one move more than the
literal that causes it. The cost of a conjunction is the sum of the costs of its inputs. A goal of infinite
cost cannot be reached by any moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.native.marking import (
    BoolRows,
    Int64s,
    UInt64Rows,
    compiled,
    exported,
    native_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """A network in which gates that depend on moves alone are replaced by sets of moves.

    Literals are as in ``Network``; nodes are the constant, the fluents, the sets, and the other gates.

    Attributes:
        has: bool [sets, moves]; the moves of the role in each set.
        starts: int64 [gates + 1]; where the inputs of each gate begin.
        inputs: int64 literals.
        state_gates: number of gates that depend on fluents alone; they come first.
        legal: int64 literals [moves].
        next: int64 literals [fluents].
        fixed: int64 literals of cost 0.
        become: int64 [nodes of the network]; the literal of each node; -1 where it has none.
    """

    fluents: int
    has: NDArray[np.bool_]
    starts: NDArray[np.int64]
    inputs: NDArray[np.int64]
    state_gates: int
    legal: NDArray[np.int64]
    next: NDArray[np.int64]
    fixed: NDArray[np.int64]
    become: NDArray[np.int64]

    @classmethod
    def of(cls, network: Network, chooser: int) -> ChoiceSets:
        """Replace the gates of a network by sets of moves of a role."""
        return _SetsBuilder(network, chooser).build()

    def literal(self, literal: int) -> int:
        """Return the literal here of a literal of the network."""
        return int(self.become[literal >> 1]) ^ (literal & 1)


class _SetsBuilder:
    """Rewrites a network; a set of moves is an integer with a bit for each move."""

    def __init__(self, network: Network, chooser: int) -> None:
        self._network = network
        self._moves = network.actions[chooser]
        self._all = (1 << self._moves) - 1
        self._first = network.first_action + sum(network.actions[:chooser])
        #: The set of moves of each node that depends on moves alone.
        self._sets: dict[int, int] = {}
        #: The number of each set that other nodes read.
        self._numbers: dict[int, int] = {}
        self._others: list[int] = []
        self._name_moves(chooser)

    def _name_moves(self, chooser: int) -> None:
        network, node = self._network, self._network.first_action
        for role, count in enumerate(network.actions):
            for move in range(count):
                if role == chooser:
                    self._sets[node] = 1 << move
                elif count == 1:
                    self._sets[node] = self._all  # the only move of a role is always made
                else:
                    self._others.append(node)
                node += 1

    def build(self) -> ChoiceSets:
        network = self._network
        cyclic = {gate for cycle in network.cycles for gate in range(cycle.first, cycle.end)}
        kept: list[tuple[int, list[int], int | None]] = []
        inputs, starts = network.inputs.tolist(), network.starts.tolist()
        for gate in range(network.gates):
            node = network.first_gate + gate
            read = inputs[starts[gate] : starts[gate + 1]]
            rest = [literal for literal in read if literal >> 1 not in self._sets]
            common = self._common(literal for literal in read if literal >> 1 in self._sets)
            if not rest and gate not in cyclic:
                self._sets[node] = self._all if common is None else common
            else:
                kept.append((node, rest, common))
        after = [self._set_of(literal) for literal in network.next.tolist()]
        for held in [*after, *(common for _, _, common in kept)]:
            if held is not None:
                self._numbers.setdefault(held, len(self._numbers))
        return self._built(kept, after)

    def _set_of(self, literal: int) -> int | None:
        held = self._sets.get(literal >> 1)
        return None if held is None else held ^ self._all if literal & 1 else held

    def _common(self, literals: Iterable[int]) -> int | None:
        common: int | None = None
        for literal in literals:
            held = self._set_of(literal)
            assert held is not None
            common = held if common is None else common & held
        return common

    def _built(self, kept: list[tuple[int, list[int], int | None]], after: list[int | None]) -> ChoiceSets:
        network = self._network
        first_set = 1 + network.fluents
        first_gate = first_set + len(self._numbers)
        become = np.full(network.nodes, -1, np.int64)
        become[:first_set] = 2 * np.arange(first_set)
        for number, (node, _, _) in enumerate(kept):
            become[node] = 2 * (first_gate + number)
        # The choices of other roles are unknown: their moves cost nothing, made or not.
        last = first_gate + len(kept)
        become[self._others] = 2 * (last + np.arange(len(self._others)))

        def literal(old: int) -> int:
            return int(become[old >> 1]) ^ (old & 1)

        def of_set(held: int) -> int:
            return 2 * (first_set + self._numbers[held])

        inputs: list[int] = []
        starts = [0]
        for _, rest, common in kept:
            inputs += [literal(old) for old in rest] + ([] if common is None else [of_set(common)])
            starts.append(len(inputs))
        state_end = network.first_gate + network.state_gates
        own = network.legal[self._first - network.first_action :][: self._moves].tolist()
        return ChoiceSets(
            fluents=network.fluents,
            has=_bits(list(self._numbers), self._moves),
            starts=np.array(starts, np.int64),
            inputs=np.array(inputs, np.int64),
            state_gates=sum(node < state_end for node, _, _ in kept),
            legal=np.array([literal(old) for old in own], np.int64),
            next=np.array(
                [
                    literal(old) if held is None else of_set(held)
                    for old, held in zip(network.next.tolist(), after, strict=True)
                ],
                np.int64,
            ),
            fixed=self._fixed(become),
            become=become,
        )

    def _fixed(self, become: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return literals of cost 0: initial values of cycles, and the moves of other roles, made or not."""
        network = self._network
        literals = [
            int(become[network.first_gate + gate]) ^ (not network.initially[gate])
            for cycle in network.cycles
            for gate in range(cycle.first, cycle.end)
        ]
        for node in self._others:
            literals += [int(become[node]), int(become[node]) ^ 1]
        return np.array(literals, np.int64)


def _bits(sets: list[int], moves: int) -> NDArray[np.bool_]:
    size = -(-moves // 8)
    rows = [np.frombuffer(held.to_bytes(size, "little"), np.uint8) for held in sets]
    packed = np.array(rows, np.uint8).reshape(len(sets), size)
    return np.unpackbits(packed, axis=1, count=moves, bitorder="little").astype(np.bool_)


#: The cost of an unreachable literal. Sums of reachable ones are capped below it.
ENDLESS: Final = 1 << 28
#: Upper bound of the rounds. If it is reached, costs may be too high, and no goal counts as unreachable.
_ROUNDS: Final = 500
#: Sets up to this size are listed. In larger ones the cheapest move is found in the order of all costs.
_FEW: Final = 16
#: Upper bound of the parts of a goal.
_MOST_PARTS: Final = 256


class Estimates(NamedTuple):
    """Estimates of some states.

    Attributes:
        costs: int64 [n]; of the target goal; ``ENDLESS`` where no wanted goal can be reached.
        goals: int64 [n]; the place of the greatest goal that holds in a state, terminal or not; -1 for none.
        open_parts: bool [n, parts]; the parts of the target goal that do not hold.
    """

    costs: NDArray[np.int64]
    goals: NDArray[np.int64]
    open_parts: NDArray[np.bool_]

    def at(self, places: NDArray[np.int64]) -> Estimates:
        """Return the estimates of some of the states."""
        return Estimates(self.costs[places], self.goals[places], self.open_parts[places])


class Relaxation:
    """Estimates for the states of a network.

    Args:
        chooser: the index of the role that chooses.
        free: bool [fluents]; fluents whose values cost nothing, such as a step counter.

    Attributes:
        goals: the goals of the role, ascending.
    """

    def __init__(self, network: Network, chooser: int, free: NDArray[np.bool_]) -> None:
        self._network = network
        self.goals = [value for value, _ in network.goals[chooser]]
        self._literals = [literal for _, literal in network.goals[chooser]]
        known = 1 + np.flatnonzero(free)
        self._sets = ChoiceSets.of(network, chooser)
        self._has = np.ascontiguousarray(self._sets.has)
        self._members = _Members.of(self._has)
        self._fixed = np.concatenate([self._sets.fixed, 2 * known, 2 * known + 1])
        # A cost for each literal: of constants, fluents, sets of moves and gates.
        nodes = 1 + self._sets.fluents + len(self._has) + len(self._sets.starts) - 1
        self._literals_known = max(2 * nodes, int(self._fixed.max(initial=0) | 1) + 1)
        self._parts = np.zeros(0, np.int64)
        self._place = 0
        if self.goals:
            self.aim(len(self.goals) - 1)

    @property
    def parts(self) -> int:
        """Number of parts of the target goal: literals that all have to hold."""
        return len(self._parts)

    def aim(self, place: int) -> None:
        """Make one of the goals the target."""
        self._place = place
        self._parts = np.array(_parts(self._network, self._literals[place]), np.int64)

    def estimate(self, states: NDArray[np.uint64], wanted: Sequence[int]) -> Estimates:
        """Estimate states, uint64 [n, words].

        Args:
            states: packed.
            wanted: places of goals; a state is hopeless if none of them can be reached.
        """
        sets = self._sets
        costs = np.empty(len(states), np.int64)
        goals = np.full(len(states), -1, np.int64)
        is_open = np.empty((len(states), len(self._parts)), np.bool_)
        moves = self._has.shape[1]
        _estimate(
            np.ascontiguousarray(states),
            sets.fluents,
            self._has,
            self._members.starts,
            self._members.moves,
            sets.state_gates,
            sets.starts,
            sets.inputs,
            sets.legal,
            sets.next,
            self._fixed,
            np.array([sets.literal(literal) for literal in self._literals], np.int64),
            self._place,
            np.array(wanted, np.int64),
            np.array([sets.literal(int(literal)) for literal in self._parts], np.int64),
            costs,
            goals,
            is_open,
            np.empty(self._literals_known, np.int64),
            np.empty(moves, np.int64),
            np.empty(moves, np.int64),
        )
        return Estimates(costs, goals, is_open)

    def reachable(self, state: NDArray[np.uint64]) -> list[int]:
        """Return the places of the goals that may be reached from a state, uint64 [1, words]."""
        target = self._place
        reachable = []
        for place in range(len(self.goals)):
            self.aim(place)
            if self.estimate(state, [place]).costs[0] < ENDLESS:
                reachable.append(place)
        self.aim(target)
        return reachable


def _parts(network: Network, literal: int) -> list[int]:
    """Split a literal into literals that all have to hold, at most ``_MOST_PARTS``."""
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


class _Members(NamedTuple):
    """The moves in each set, then the moves outside each set, where there are at most ``_FEW``.

    Attributes:
        starts: int64 [2 * sets + 1]; where the moves of each begin.
        moves: int64.
    """

    starts: NDArray[np.int64]
    moves: NDArray[np.int64]

    @classmethod
    def of(cls, has: NDArray[np.bool_]) -> _Members:
        sides = np.concatenate([has, ~has])
        sides[sides.sum(axis=1) > _FEW] = False
        starts = np.concatenate([[0], np.cumsum(sides.sum(axis=1))])
        return cls(starts.astype(np.int64), np.nonzero(sides)[1].astype(np.int64))


@cache
def prepare() -> Thread:
    """Start to compile the estimates; they are ready when the thread has ended."""
    thread = Thread(target=native_code, args=("search",))
    thread.start()
    return thread


@compiled
def _sort_by(keys, order):
    """Sort numbers by their keys (heapsort: Williams 1964)."""
    count = len(order)
    for start in range(count // 2 - 1, -1, -1):
        _sift(keys, order, start, count)
    for last in range(count - 1, 0, -1):
        order[0], order[last] = order[last], order[0]
        _sift(keys, order, 0, last)


@compiled
def _sift(keys, order, at, count):
    """Sift a number down a heap."""
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and keys[order[below]] < keys[order[below + 1]]:
            below += 1
        if keys[order[at]] >= keys[order[below]]:
            return
        order[at], order[below] = order[below], order[at]
        at = below


@exported
def _estimate(
    states: UInt64Rows,
    fluents: int,
    has: BoolRows,
    member_starts: Int64s,
    members: Int64s,
    state_gates: int,
    starts: Int64s,
    inputs: Int64s,
    legal: Int64s,
    after: Int64s,
    fixed: Int64s,
    literals: Int64s,
    aimed: int,
    wanted: Int64s,
    parts: Int64s,
    costs: Int64s,
    goals: Int64s,
    is_open: BoolRows,
    cost: Int64s,
    of_move: Int64s,
    order: Int64s,
) -> None:
    """Estimate states; the last three arrays are scratch: for literals, for moves, and for moves in order."""
    sets, moves = has.shape
    first_set, first_gate, gates = 1 + fluents, 1 + fluents + sets, len(starts) - 1
    for state in range(len(states)):
        cost[:] = ENDLESS
        cost[1] = 0
        for fluent in range(fluents):
            bit = (states[state, fluent >> 6] >> np.uint64(fluent & 63)) & np.uint64(1)
            cost[2 * (1 + fluent) + (1 if bit == 0 else 0)] = 0
        for literal in fixed:
            cost[literal] = 0
        changed, rounds = True, 0
        while changed and rounds < _ROUNDS:
            changed = False
            for gate in range(gates + 1):
                if gate == state_gates:
                    # The costs of legal moves are known now; later gates read moves.
                    for move in range(moves):
                        of_move[move] = cost[legal[move]]
                        order[move] = move
                    _sort_by(of_move, order)
                    for number in range(2 * sets):
                        held, inside = number % sets, number < sets
                        least = ENDLESS
                        if member_starts[number] < member_starts[number + 1]:
                            for place in range(member_starts[number], member_starts[number + 1]):
                                least = min(least, of_move[members[place]])
                        else:
                            for move in order:
                                if of_move[move] == ENDLESS:
                                    break
                                if has[held, move] == inside:
                                    least = of_move[move]
                                    break
                        cost[2 * (first_set + held) + (0 if inside else 1)] = least
                if gate == gates:
                    break
                total, least = 0, ENDLESS
                for place in range(starts[gate], starts[gate + 1]):
                    literal = inputs[place]
                    here = cost[literal]
                    total = ENDLESS if max(here, total) == ENDLESS else min(ENDLESS - 1, total + here)
                    least = min(least, cost[literal ^ 1])
                node = 2 * (first_gate + gate)
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
