"""The plain evaluation, which everything else is measured against, on logic that can be followed by hand."""

from __future__ import annotations

import random

from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, countdown, tic_tac_toe

from anygame.network.network import FALSE, TRUE, Cycle


def test_literals_are_numbered_as_in_aiger() -> None:
    build = Builder(2, (1,))
    a, b = build.fluents
    both, neither = build.gate([a, b]), build.gate([a ^ 1, b ^ 1])
    network = build.network(2, [False, False], [TRUE], neither, [[(100, both)]], [FALSE, TRUE])
    values = evaluate_state(network, [0b0011, 0b0101], 4)
    assert values.literal(both) == 0b0001
    assert values.literal(both ^ 1) == 0b1110
    assert values.literal(neither) == 0b1000
    assert (values.literal(FALSE), values.literal(TRUE)) == (0, 0b1111)
    assert evaluate_moves(network, values, [0b1111]) == [0, 0b1111]


def test_a_cycle_starts_from_given_values_and_stops_at_a_fixed_point() -> None:
    """Reachability on a ring of four nodes: a node is reached from its source, or over an edge."""
    build = Builder(8, (1,))
    sources, edges = build.fluents[:4], build.fluents[4:]
    nodes = [2 * (build._base + place) for place in range(0, 8, 2)]  # the unreached ones fall from true
    unreached = []
    for place in range(4):
        unreached.append(build.gate([sources[place] ^ 1, build._base * 2 + 4 * place + 2 ^ 1]))
        before = nodes[place - 1]
        build.gate([edges[place - 1], before ^ 1])
    assert unreached == nodes
    build.cycles.append(Cycle(0, 8))
    build.initially.update(dict.fromkeys(range(0, 8, 2), True))
    network = build.network(
        8, [False] * 8, [TRUE], FALSE, [[]], [literal ^ 1 for literal in [*nodes, *nodes]]
    )
    lanes = [
        ([1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0]),
        ([0, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 1]),
        ([0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]),
    ]
    fluents = [
        sum((sources_ + edges_)[fluent] << lane for lane, (sources_, edges_, _) in enumerate(lanes))
        for fluent in range(8)
    ]
    values = evaluate_state(network, fluents, len(lanes))
    for lane, (_, _, expected) in enumerate(lanes):
        assert [values.literal(node ^ 1) >> lane & 1 for node in nodes] == expected


def test_tic_tac_toe_knows_its_lines() -> None:
    network = tic_tac_toe()
    x, o, turn = [1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0], [0]
    values = evaluate_state(network, [*x, *o, *turn])
    assert values.literal(network.terminal)
    assert [v for v, goal in network.goals[0] if values.literal(goal)] == [100]
    assert [v for v, goal in network.goals[1] if values.literal(goal)] == [0]
    assert [values.literal(legal) for legal in network.legal.tolist()[10:]] == [0] * 5 + [1] * 4 + [0]


def test_a_game_can_be_played_to_its_end() -> None:
    network, rng = countdown(5, 3), random.Random(1)
    state = [int(bit) for bit in network.initial]
    for moves in range(6):
        values = evaluate_state(network, state)
        assert values.literal(network.terminal) == (moves == 5)
        taken = rng.randrange(3)
        state = evaluate_moves(network, values, [int(action == taken) for action in range(3)])
        assert state[6:] == [int(action == taken) for action in range(3)]
