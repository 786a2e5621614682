"""From a circuit to a network: only the gates that outputs need, in topological order.

This is the one place where gates are put in order: what depends on the state alone, then what depends on the
moves, each gate behind what it reads; gates that depend on themselves lie together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.components import strong_components
from anygame.network.network import Cycle, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from anygame.network.logic.gates import Gates

__all__ = ["assemble"]


def assemble(
    gates: Gates,
    *,
    actions: tuple[int, ...],
    initial: NDArray[np.bool_],
    legal: Sequence[int],
    terminal: int,
    goals: Sequence[Sequence[tuple[int, int]]],
    next_state: Sequence[int],
) -> Network:
    """Return the network of some gates over ``len(initial)`` fluents and the actions.

    Args:
        gates: the gates; literals below are over them.
        actions: how many each role has.
        initial: bool [fluents].
        legal: per action.
        terminal: a literal.
        goals: per role, values with their literals.
        next_state: per fluent, whether it holds next.
    """
    fluents = len(initial)
    first_gate = gates.inputs
    state_outputs = [*legal, terminal, *(literal for role in goals for _, literal in role)]

    def parents(node: int) -> list[int]:
        inputs = gates.inputs_of(2 * node)
        return [] if inputs is None else [literal >> 1 for literal in inputs if literal >> 1 >= first_gate]

    needed = [literal >> 1 for literal in (*state_outputs, *next_state) if literal >> 1 >= first_gate]
    of_state, of_moves = _by_dependence(strong_components(needed, parents), gates, 1 + fluents)
    position: dict[int, int] = {}
    cycles: list[Cycle] = []
    # What depends on the state alone comes first, even where only the next state needs it.
    for component in (*of_state, *of_moves):
        first = len(position)
        if len(component) > 1 or component[0] in parents(component[0]):
            component = _by_feedback(component, parents)
            cycles.append(Cycle(first, first + len(component)))
        for node in component:
            position[node] = first_gate + len(position)
    state_gates = sum(map(len, of_state))

    def moved(literal: int) -> int:
        node = literal >> 1
        return 2 * position.get(node, node) + (literal & 1)

    inputs: list[int] = []
    starts = [0]
    for node in position:
        found = gates.inputs_of(2 * node)
        assert found is not None
        inputs += map(moved, found)
        starts.append(len(inputs))
    starts_array, inputs_array = np.array(starts, np.int32), np.array(inputs, np.int32)
    return Network(
        fluents=fluents,
        actions=actions,
        starts=starts_array,
        inputs=inputs_array,
        state_gates=state_gates,
        cycles=tuple(cycles),
        initially=_initially(
            cycles,
            starts_array,
            inputs_array,
            first_gate,
            {position[node] for node in gates.opened & position.keys()},
        ),
        initial=initial,
        legal=np.array([moved(literal) for literal in legal], np.int32),
        terminal=moved(terminal),
        goals=tuple(tuple((value, moved(literal)) for value, literal in role) for role in goals),
        next=np.array([moved(literal) for literal in next_state], np.int32),
    )


def _by_dependence(
    components: Iterable[list[int]], gates: Gates, first_action: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the components that depend on the state alone, and those that depend on the moves, in order."""
    of_moves = [False] * (gates.inputs + len(gates.gates))
    of_moves[first_action : gates.inputs] = [True] * (gates.inputs - first_action)
    found: tuple[list[list[int]], list[list[int]]] = [], []
    for component in components:
        # Components come behind what they read.
        depends = any(
            of_moves[literal >> 1] for node in component for literal in gates.inputs_of(2 * node) or ()
        )
        for node in component:
            of_moves[node] = depends
        found[depends].append(component)
    return found


def _by_feedback(component: list[int], parents: Callable[[int], list[int]]) -> list[int]:
    """Order the gates of a cycle so that few read what comes later."""
    members = set(component)
    done: set[int] = set()
    order: list[int] = []
    for root in sorted(component):
        work = [(root, iter(parents(root)))]
        seen_now = {root}
        if root in done:
            continue
        while work:
            node, rest = work[-1]
            for parent in rest:
                if parent in members and parent not in done and parent not in seen_now:
                    seen_now.add(parent)
                    work.append((parent, iter(parents(parent))))
                    break
            else:
                work.pop()
                if node not in done:
                    done.add(node)
                    order.append(node)
    return order


def _initially(
    cycles: Sequence[Cycle],
    starts: NDArray[np.int32],
    inputs: NDArray[np.int32],
    first_gate: int,
    opened: set[int],
) -> NDArray[np.bool_]:
    """Return the value from which each gate of a cycle begins.

    Derived atoms begin as false, so the inverted gates that stand for them as true; all gates of a cycle
    rise or fall together with them.
    """
    result = np.zeros(len(starts) - 1, np.bool_)
    for cycle in cycles:
        members = range(cycle.first, cycle.end)
        readers: dict[int, list[tuple[int, bool]]] = {gate: [] for gate in members}
        for gate in members:
            for literal in inputs[starts[gate] : starts[gate + 1]].tolist():
                source = (literal >> 1) - first_gate
                if source in readers:
                    readers[source].append((gate, bool(literal & 1)))
        pending = [gate for gate in members if first_gate + gate in opened]
        known = dict.fromkeys(pending, True)
        while pending:
            gate = pending.pop()
            for reader, inverted in readers[gate]:
                if reader not in known:
                    known[reader] = known[gate] ^ inverted
                    pending.append(reader)
        result[list(known)] = list(known.values())
    return result
