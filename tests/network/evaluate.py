"""A network evaluated in plain Python: slow, obvious, and what the kernels are measured against.

A value is a Python integer whose bits are lanes: bit ``i`` of every node belongs to game ``i``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.network.network import Network


class NodeValues:
    """The values of the nodes of a network in a number of lanes.

    Attributes:
        nodes: per node an integer whose bit ``i`` is the value in lane ``i``.
        lanes: how many lanes.
    """

    __slots__ = ("_everywhere", "lanes", "nodes")

    def __init__(self, network: Network, lanes: int) -> None:
        self.lanes = lanes
        self.nodes = [0] * network.nodes
        self._everywhere = (1 << lanes) - 1

    def literal(self, literal: int) -> int:
        """Return the value of a literal, as bits."""
        value = self.nodes[literal >> 1]
        return value ^ self._everywhere if literal & 1 else value

    def conjunction(self, literals: Sequence[int]) -> int:
        """Return the bits at which all the literals hold."""
        value = self._everywhere
        for literal in literals:
            value &= self.literal(literal)
        return value


def evaluate_state(network: Network, fluents: Sequence[int], lanes: int = 1) -> NodeValues:
    """Evaluate what depends on the state alone: legal moves, the end, the goals.

    Args:
        network: the compiled game.
        fluents: per fluent its bits, one per lane.
        lanes: how many lanes.

    Returns:
        Values in which the actions and the gates behind ``state_gates`` are still false.
    """
    values = NodeValues(network, lanes)
    values.nodes[1 : network.first_action] = fluents
    _evaluate(network, values, 0, network.state_gates)
    return values


def evaluate_moves(network: Network, values: NodeValues, actions: Sequence[int]) -> list[int]:
    """Evaluate what the moves bring about.

    Args:
        network: the compiled game.
        values: what :func:`evaluate_state` returned; the rest is filled in.
        actions: per action the bits of the lanes in which it is taken.

    Returns:
        The bits of each fluent in the next state.
    """
    values.nodes[network.first_action : network.first_gate] = actions
    _evaluate(network, values, network.state_gates, network.gates)
    return [values.literal(literal) for literal in network.next.tolist()]


def _evaluate(network: Network, values: NodeValues, first: int, end: int) -> None:
    nodes, base = values.nodes, network.first_gate
    starts, inputs = network.starts.tolist(), network.inputs.tolist()
    everywhere = (1 << values.lanes) - 1
    for gates, cyclic in _parts(network, first, end):
        if cyclic:
            for gate in gates:
                nodes[base + gate] = everywhere if network.initially[gate] else 0
        # In each lane, each round of a monotone cycle but the last one changes a gate for good.
        for _ in range(len(gates) + 1 if cyclic else 1):
            before = nodes[base + gates.start : base + gates.stop]
            for gate in gates:
                nodes[base + gate] = values.conjunction(inputs[starts[gate] : starts[gate + 1]])
            if nodes[base + gates.start : base + gates.stop] == before:
                break


def _parts(network: Network, first: int, end: int) -> Iterator[tuple[range, bool]]:
    """Yield the gates from ``first`` to ``end`` as ranges, each with whether it is a cycle."""
    for cycle in network.cycles:
        if first <= cycle.first and cycle.end <= end:
            yield range(first, cycle.first), False
            yield range(cycle.first, cycle.end), True
            first = cycle.end
    yield range(first, end), False
