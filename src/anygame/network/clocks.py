"""Clocks: fluents that depend on nothing but each other, so that no move has to do with what they become.

Such are turns that are taken one after the other, and counters of steps: all states after the same number of
moves agree on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anygame.network.network import Network

#: The next value of a clock is found among so many gates, or it is none.
_CLOCK_GATES: Final = 64


def autonomous_fluents(network: Network) -> dict[int, set[int]]:
    """Return, for each fluent that only depends on such fluents, those that it depends on."""
    read = {}
    is_cyclic = cyclic_gates(network)
    for fluent, literal in enumerate(network.next.tolist()):
        found = _fluents_below(network, literal >> 1, is_cyclic)
        if found is not None:
            read[fluent] = found
    while True:
        others = [fluent for fluent, found in read.items() if not found <= read.keys()]
        if not others:
            return read
        for fluent in others:
            del read[fluent]


def cyclic_gates(network: Network) -> NDArray[np.bool_]:
    """Return which gates depend on themselves: bool [gates]."""
    found = np.zeros(network.gates, np.bool_)
    for cycle in network.cycles:
        found[cycle.first : cycle.end] = True
    return found


def _fluents_below(network: Network, node: int, is_cyclic: NDArray[np.bool_]) -> set[int] | None:
    """Return the fluents that a node depends on; None where it asks for moves, is circular or is large."""
    state = network.first_gate + network.state_gates
    seen, pending = {node}, [node]
    while pending:
        node = pending.pop()
        if network.first_action <= node < network.first_gate or node >= state:
            return None
        gate = node - network.first_gate
        if gate >= 0:
            if is_cyclic[gate]:
                return None
            below = {literal >> 1 for literal in inputs_of(network, node)} - seen
            seen |= below
            pending += below
            if len(seen) > _CLOCK_GATES:
                return None
    return {node - 1 for node in seen if 0 < node < network.first_action}


def run_alone(
    network: Network, fluents: Sequence[int], start: NDArray[np.bool_], most: int
) -> list[tuple[bool, ...]]:
    """Return the values that fluents run through by themselves, up to the first that comes again.

    Args:
        network: of the game.
        fluents: autonomous ones, with all that they depend on.
        start: bool [fluents of the network]; the state in which they begin.
        most: different values at most.

    Returns:
        the values, of which the last one is there twice; nothing where they are too many.
    """
    values = tuple(bool(start[fluent]) for fluent in fluents)
    seen: dict[tuple[bool, ...], None] = {}
    while values not in seen:
        seen[values] = None
        if len(seen) > most:
            return []
        known = {0: False, **{1 + fluent: value for fluent, value in zip(fluents, values, strict=True)}}
        values = tuple(_value(network, known, int(network.next[fluent])) for fluent in fluents)
    return [*seen, values]


def _value(network: Network, known: dict[int, bool], literal: int) -> bool:
    node = literal >> 1
    if node not in known:
        known[node] = all(_value(network, known, each) for each in inputs_of(network, node))
    return known[node] ^ bool(literal & 1)


def inputs_of(network: Network, node: int) -> list[int]:
    """Return the inputs of the gate of a node, as literals."""
    gate = node - network.first_gate
    found: list[int] = network.inputs[network.starts[gate] : network.starts[gate + 1]].tolist()
    return found
