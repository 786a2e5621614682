"""Compiled gates against their plain evaluation."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, countdown, networks, random_network, tic_tac_toe

from anygame.network.kernels import gate_loop, segments, straight_line
from anygame.network.kernels import layout as kernel_rows
from anygame.network.kernels.function import GO, LANES, RESTART
from anygame.network.kernels.gate_code import copy_order
from anygame.network.kernels.gate_loop import LoopWriter
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.layout import RowLayout
from anygame.network.kernels.phases import Phases
from anygame.network.kernels.schedule import runs_of_shapes, schedule
from anygame.network.kernels.segments import Allocation
from anygame.network.kernels.target import PROCESSOR
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network

EVERYWHERE = (1 << LANES) - 1
law = settings(
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def to_row(bits: int) -> NDArray[np.uint64]:
    return np.frombuffer(bits.to_bytes(LANES // 8, "little"), np.uint64)


def from_row(row: NDArray[np.uint64]) -> int:
    return int.from_bytes(row.tobytes(), "little")


def one_each(rng: random.Random, count: int) -> list[int]:
    """Return rows of which at most one holds in each lane."""
    found, free = [], EVERYWHERE
    for _ in range(count):
        found.append(free & rng.getrandbits(LANES))
        free &= ~found[-1]
    return found


def check(network: Network, rng: random.Random, style: Style) -> None:
    """Compare all that code computes with the plain evaluation, in all lanes, in two steps in a row."""
    kernel = build_kernel(network, style)
    rows, layout = kernel.rows(), kernel.layout
    pointers = rows.ctypes.data, kernel.data.ctypes.data
    fluents = [rng.getrandbits(LANES) for _ in range(network.fluents)]
    for fluent, bits in enumerate(fluents):
        rows[layout.fluents + fluent] = to_row(bits)

    def read(bit: int) -> int:
        return from_row(rows[bit >> 1]) ^ (EVERYWHERE if bit & 1 else 0)

    for _ in range(2):
        kernel.library["evaluate_state"](*pointers)
        values = evaluate_state(network, fluents, LANES)
        assert [read(bit) for bit in kernel.gates.legal] == list(map(values.literal, network.legal.tolist()))
        assert read(kernel.gates.terminal) == values.literal(network.terminal)
        for found, expected in zip(kernel.gates.goals, network.goals, strict=True):
            assert [(v, read(bit)) for v, bit in found] == [(v, values.literal(lit)) for v, lit in expected]
        actions = [bits for count in network.actions for bits in one_each(rng, count)]
        go, restart = rng.getrandbits(LANES), rng.getrandbits(LANES)
        rows[GO], rows[RESTART] = to_row(go), to_row(restart)
        for action, bits in enumerate(actions):
            rows[layout.actions + action] = to_row(bits)
        next_state = evaluate_moves(network, values, actions)
        kernel.library["evaluate_moves"](*pointers)
        for fluent, bits in enumerate(next_state):
            bits = bits & go | fluents[fluent] & ~go
            fluents[fluent] = bits | restart if network.initial[fluent] else bits & ~restart
        assert [from_row(rows[layout.fluents + f]) for f in range(network.fluents)] == fluents


@pytest.mark.parametrize("style", ["straight", "loop"])
def test_games_built_by_hand(style: Style) -> None:
    for network in (tic_tac_toe(), countdown(12, 5)):
        check(network, random.Random(1), style)


@pytest.mark.parametrize("style", ["straight", "loop"])
@law
@given(network=networks(), rng=st.randoms(use_true_random=False))
def test_random_networks(style: Style, network: Network, rng: random.Random) -> None:
    check(network, rng, style)


@law
@given(network=networks(), rng=st.randoms(use_true_random=False), size=st.sampled_from((1, 3, 10, 30)))
def test_values_cross_from_function_to_function(network: Network, rng: random.Random, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FUNCTION_INPUTS", size)
        patch.setattr(straight_line, "BLOCK_GATES", 4)
        patch.setattr(straight_line, "FUNCTION_FLUENTS", 2)
        check(network, rng, "straight")


@pytest.mark.parametrize("style", ["straight", "loop"])
@law
@given(network=networks(), rng=st.randoms(use_true_random=False))
def test_legal_actions_side_by_side(style: Style, network: Network, rng: random.Random) -> None:
    """As for a role with many actions: gates where loops read, copies of what is inverted or constant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_rows, "MOST_UNROLLED", 2)
        check(network, rng, style)


@pytest.mark.parametrize("style", ["straight", "loop"])
@pytest.mark.parametrize("seed", range(8))
def test_gates_that_ask_for_one_of_many_moves(style: Style, seed: int) -> None:
    """Of roles with many moves and with few, also of both at once; some moves are read one by one."""
    rng = random.Random(seed)
    build = Builder(24, (rng.randrange(5, 60), 2, rng.randrange(5, 60)))
    actions = [action for role in build.actions for action in role]
    none = [build.gate([1 ^ a for a in rng.sample(actions, rng.randrange(2, 12))]) for _ in range(16)]
    mixed = [build.gate([rng.choice(none) ^ rng.randrange(2), rng.choice(actions)]) for _ in range(4)]
    pool = [literal ^ inverted for literal in (*none, *mixed, actions[-1]) for inverted in (0, 1)]
    chosen = [rng.choice(pool) for _ in build.fluents]
    network = build.network(0, [False] * 24, [TRUE] * len(actions), FALSE, [[]] * 3, chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_rows, "MOST_UNROLLED", 2)
        check(network, rng, style)


def test_rows_are_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain of gates needs few rows, whoever computes it."""
    build = Builder(3, (1,))
    chain = build.fluents[0]
    for number in range(600):
        chain = build.gate([chain ^ (number & 1), build.fluents[number % 3] ^ (number >> 1 & 1)])
    network = build.network(build.gates, [True] * 3, [TRUE], FALSE, [[]], [chain] * 3)
    phases = Phases.none(network)
    order, layout = schedule(network, phases), RowLayout(network, phases)
    monkeypatch.setattr(segments, "FUNCTION_INPUTS", 10)
    assert Allocation(network, order, phases, layout, layout.end).end < 40
    assert LoopWriter(network, order, phases, layout, PROCESSOR, layout.end).write().end < 200


def test_unused_gates_are_omitted() -> None:
    build = Builder(2, (1,))
    a, b = build.fluents
    build.gate([a, b])
    used = build.gate([a, b ^ 1])
    network = build.network(2, [True, False], [TRUE], FALSE, [[]], [used, a])
    order = schedule(network, Phases.none(network))
    assert (order.state.tolist(), order.moves.tolist()) == ([], [1])


@pytest.mark.parametrize("window", [1, 10, 1000])
def test_runs_have_one_shape_and_their_inputs_before_them(window: int) -> None:
    rng = random.Random(5)
    for _ in range(20):
        network = random_network(rng, 60)
        order = schedule(network, Phases.none(network))
        shapes = order.moves % 3 - 1
        runs = [run.tolist() for run in runs_of_shapes(network, order.moves, shapes, window)]
        assert sorted(unit for run in runs for unit in run) == sorted(order.moves.tolist())
        done = set(order.gates(order.state).tolist())
        for run in runs:
            assert len({unit % 3 for unit in run}) == 1
            assert run[0] % 3 or len(run) == 1
            units = [range(unit, order.ends[unit]) for unit in run]
            for unit in units:
                inputs = network.inputs[network.starts[unit.start] : network.starts[unit.stop]] >> 1
                gates = {int(node) - network.first_gate for node in inputs if node >= network.first_gate}
                assert gates <= done.union(unit)
            done.update(gate for unit in units for gate in unit)


def test_runs_of_independent_gates_are_long() -> None:
    build = Builder(3, (1,))
    gates = [build.gate([build.fluents[0], build.fluents[1] ^ (n & 1)]) for n in range(2)]
    network = build.network(2, [True] * 3, [TRUE], FALSE, [[]], [*gates, gates[0]])
    units = schedule(network, Phases.none(network)).moves
    for window, lengths in ((9, [2]), (1, [1, 1])):
        assert [len(run) for run in runs_of_shapes(network, units, 0 * units, window)] == lengths


@pytest.mark.parametrize("narrow", [0, 1 << 16])
@law
@given(network=networks(), rng=st.randoms(use_true_random=False))
def test_loops_of_their_own_for_small_gates(narrow: int, network: Network, rng: random.Random) -> None:
    """As in a large game; and with numbers of rows of either size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate_loop, "_MANY", 1)
        patch.setattr(gate_loop, "_MOST_UNROLLED", rng.choice((2, 8)))
        patch.setattr(gate_loop, "_NARROW_ROWS", narrow)
        check(network, rng, "loop")


@given(st.dictionaries(st.integers(0, 9), st.integers(-1, 9)))
def test_fluents_are_read_before_they_are_overwritten(sources: dict[int, int]) -> None:
    values = {fluent: f"old {fluent}" for fluent in range(-1, 10)}
    for ring in copy_order(sources):
        read = [values[sources[fluent]] for fluent in ring]
        values.update(zip(ring, read, strict=True))
    for fluent in range(10):
        assert values[fluent] == f"old {sources.get(fluent, fluent)}"


def test_loops_of_different_games_share_the_gate_evaluator() -> None:
    one, other = (build_kernel(network, "loop") for network in (tic_tac_toe(), countdown(12, 5)))
    assert one.code != other.code
    assert one._written is not None
    assert other._written is not None
    shared = one._written.shared.keys() & other._written.shared.keys()
    assert {"run", "cycle", "set", "scatter"} <= shared
    for name in shared:
        assert one._written.shared[name] == other._written.shared[name]
