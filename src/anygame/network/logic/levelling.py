"""From a circuit to a network: only what outputs need, in an order in which it can be computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.network.logic.circuit import strong_components
from anygame.network.network import Cycle, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from anygame.network.logic.gates import Gates

__all__ = ["lay_out"]


def lay_out(
    gates: Gates,
    *,
    actions: tuple[int, ...],
    initial: NDArray[np.bool_],
    legal: Sequence[int],
    terminal: int,
    goals: Sequence[Sequence[tuple[int, int]]],
    following: Sequence[int],
) -> Network:
    """Return the network of some gates over ``len(initial)`` fluents and the actions.

    Args:
        gates: the gates; literals below are over them.
        actions: how many each role has.
        initial: bool [fluents].
        legal: per action.
        terminal: a literal.
        goals: per role, values with their literals.
        following: per fluent, whether it holds next.
    """
    fluents = len(initial)
    first_gate = gates.inputs
    state_outputs = [*legal, terminal, *(literal for role in goals for _, literal in role)]

    def parents(node: int) -> list[int]:
        inputs = gates.inputs_of(2 * node)
        return [] if inputs is None else [literal >> 1 for literal in inputs if literal >> 1 >= first_gate]

    depends = _moves_matter(gates, 1 + fluents)
    from_state = [literal >> 1 for literal in state_outputs if literal >> 1 >= first_gate]
    from_moves = [literal >> 1 for literal in following if literal >> 1 >= first_gate]
    # What depends on the state alone comes first, even where only the next state needs it.
    order = sorted(
        strong_components([*from_state, *from_moves], parents), key=lambda component: depends(component[0])
    )
    place: dict[int, int] = {}
    cycles: list[Cycle] = []
    for component in order:
        first = len(place)
        if len(component) > 1 or component[0] in parents(component[0]):
            component = _by_feedback(component, parents)
            cycles.append(Cycle(first, first + len(component)))
        for node in component:
            place[node] = first_gate + len(place)
    state_gates = sum(len(component) for component in order if not depends(component[0]))

    def moved(literal: int) -> int:
        node = literal >> 1
        return 2 * place.get(node, node) + (literal & 1)

    inputs: list[int] = []
    starts = [0]
    for node in place:
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
            {place[node] for node in gates.opened & place.keys()},
        ),
        initial=initial,
        legal=np.array([moved(literal) for literal in legal], np.int32),
        terminal=moved(terminal),
        goals=tuple(tuple((value, moved(literal)) for value, literal in role) for role in goals),
        next=np.array([moved(literal) for literal in following], np.int32),
    )


def _moves_matter(gates: Gates, first_action: int) -> Callable[[int], bool]:
    """Return a function that says whether a gate depends on the moves."""
    known = np.zeros(gates.inputs + len(gates.gates), np.bool_)
    known[first_action : gates.inputs] = True
    changed = True
    while changed:
        # Gates come after what they read but for cycles, so one round mostly settles it.
        changed = False
        for number, inputs in enumerate(gates.gates, gates.inputs):
            if not known[number] and inputs and any(known[literal >> 1] for literal in inputs):
                known[number] = changed = True
    return lambda node: bool(known[node])


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
