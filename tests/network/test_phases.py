"""Phases: what is left out in one changes nothing, and lanes are kept in the same one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, countdown, random_network, tic_tac_toe

from anygame.native.code import compile_library
from anygame.network.block import Block
from anygame.network.kernels import compilation, segments
from anygame.network.kernels import kernel as kernels
from anygame.network.kernels import layout as kernel_rows
from anygame.network.kernels import schedule as kernel_schedule
from anygame.network.kernels.clusters import cluster, part_by_phase
from anygame.network.kernels.function import ABSENT
from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.layout import RowLayout
from anygame.network.kernels.phases import Phases, find_phases
from anygame.network.kernels.segments import Allocation
from anygame.network.network import FALSE, TRUE, Cycle
from anygame.network.simulator import Simulator
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    import random

    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network

law = settings(
    max_examples=examples(6),
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},
)


def clocked(network: Network, period: int) -> Network:
    """Return a game whose first fluents hold in turn; if these are too few, one holds every other time."""
    following, initial = network.next.copy(), network.initial.copy()
    if period > network.fluents:
        following[0] = 2 * 1 + 1
        return replace(network, next=following)
    for fluent in range(period):
        following[fluent] = 2 * (1 + (fluent - 1) % period)
        initial[fluent] = not fluent
    return replace(network, next=following, initial=initial)


@st.composite
def clocked_networks(draw: st.DrawFn) -> Network:
    rng = draw(st.randoms(use_true_random=False))
    network = random_network(rng, draw(st.sampled_from((10, 40, 150))), draw(st.integers(0, 2)))
    if rng.random() < 0.3:  # roles without a move are to be met, too
        legal = network.legal.copy()
        legal[legal == 1] = 2 * (1 + rng.randrange(network.fluents)) + rng.randrange(2)
        network = replace(network, legal=legal)
    return clocked(network, draw(st.integers(2, 4)))


def played(network: Network, style: Style, whole: bool) -> tuple[list[list[int]], list[int], int, int]:
    """Return all that a block of playouts counts."""
    kernel = build_kernel(network, style, find_phases(network))
    block = Block(kernel, 30, whole)
    block.begin(0, 700, 5, network.initial)
    assert block.play(10_000)
    counted = block.rows[kernel.counters.first : kernel.counters.end]
    return counted.tolist(), block.lengths.tolist(), block.step, block.stuck


@pytest.mark.slow
@pytest.mark.parametrize("style", ["straight", "loop"])
@law
@given(network=clocked_networks())
def test_skipped_computations_do_not_change_results(style: Style, network: Network) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FUNCTION_INPUTS", 20)
        patch.setattr(kernel_schedule, "_STRETCH", 20)
        assert played(network, style, whole=False) == played(network, style, whole=True)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["straight", "loop"])
@law
@given(network=clocked_networks())
def test_groups_of_moves_are_left_out(style: Style, network: Network) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_rows, "MOST_UNROLLED", 2)
        patch.setattr("anygame.network.kernels.nth_set_bit._SIZE", 2)
        patch.setattr("anygame.network.kernels.nth_set_bit.GROUP", 2)
        patch.setattr(kernel_rows, "GROUP", 2)
        found = played(network, style, whole=False)
        assert found == played(network, style, whole=True)
    # Nor does it matter whether the chosen moves are kept as groups and members; few moves have no counters
    # for those that are never legal, which count nothing where there are many.
    counted, *rest = found
    others, *other_rest = played(network, style, whole=False)
    assert [row for row in counted if any(row)] == [row for row in others if any(row)]
    assert rest == other_rest


@law
@given(network=clocked_networks(), rng=st.randoms(use_true_random=False))
def test_codes_may_take_turns_in_every_step(network: Network, rng: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "PHASED_INPUTS", 0)
        patch.setattr(kernels, "COMPILED_AT_ONCE", -1)
        patch.setattr(compilation, "_begun", lambda *_: None)
        patch.setattr(compilation.Compilation, "_image", lambda _: None)
        patch.setenv("ANYGAME_CACHE", "")
        kernel = build_kernel(network)
        codes = [kernel.library, compile_library(kernel.code, kernels._SIGNATURES)]
        found = []
        for chosen in (codes, codes[1:]):
            block = Block(kernel, 30)
            block.begin(0, 600, 5, network.initial)
            done = False
            while not done:
                kernel._start.library = rng.choice(chosen)
                done = block.play(1)
            counted = block.rows[kernel.counters.first : kernel.counters.end]
            found.append((counted.tolist(), block.lengths.tolist(), block.step, block.stuck))
        assert found[0] == found[1]


@pytest.mark.slow
@law
@given(network=clocked_networks(), most=st.sampled_from((2, 64)))
def test_an_order_of_computation_changes_nothing(network: Network, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FUNCTION_INPUTS", 20)
        patch.setattr(kernel_rows, "MOST_UNROLLED", most)
        patch.setattr("anygame.network.kernels.clusters._WIDE", 2)
        patch.setattr("anygame.network.kernels.clusters._NEAR", 4)
        expected = played(network, "straight", whole=False)
        patch.setattr(kernels, "CLUSTERED_INPUTS", 0)
        assert played(network, "straight", whole=False) == expected


@law
@given(network=clocked_networks(), rng=st.randoms(use_true_random=False))
def test_gates_in_parts_compute_the_same(network: Network, rng: random.Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anygame.network.kernels.clusters._WIDE", 2)
        patch.setattr("anygame.network.kernels.clusters._NEAR", 4)
        clustered, _ = cluster(network)
    parted = part_by_phase(network, find_phases(network))
    fluents = [rng.getrandbits(64) for _ in range(network.fluents)]
    actions = [rng.getrandbits(64) for _ in range(sum(network.actions))]
    found = []
    for each in (network, parted, clustered):
        values = evaluate_state(each, fluents, 64)
        state = [values.literal(literal) for literal in (*each.legal.tolist(), each.terminal)]
        state += [values.literal(literal) for role in each.goals for _, literal in role]
        found.append((state, evaluate_moves(each, values, actions)))
    assert found[0] == found[1] == found[2]


def test_shared_gates_are_computed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair of actions far apart shares a gate, and one gate reads something of all of them."""
    monkeypatch.setattr(segments, "FUNCTION_INPUTS", 20)
    build = Builder(120, (200,))
    shared = [build.conjunction(build.fluents[k], 1 ^ build.fluents[k + 1]) for k in range(100)]
    legal = [build.conjunction(gate, build.fluents[110 + half]) for half in range(2) for gate in shared]
    none_left = build.conjunction(*(1 ^ gate for gate in legal))
    network = build.network(build.gates, [True] * 120, legal, none_left, [[]], build.fluents)

    def most_rows(network: Network, roots: list[int]) -> int:
        phases = Phases.none(network)
        layout = RowLayout(network, phases)
        order = kernel_schedule.schedule(network, phases, roots)
        return Allocation(network, order, phases, layout, layout.end).end - layout.end

    assert most_rows(network, []) > 90
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anygame.network.kernels.clusters._NEAR", 20)
        assert most_rows(*cluster(network)) < 30


def test_turns_are_found() -> None:
    network = tic_tac_toe()
    phases = find_phases(network)
    assert (phases.clock, phases.patterns) == ((18,), ((True,), (False,)))
    assert set(phases.actions) == {0b101, 0b110}
    assert find_phases(countdown(12, 5)).patterns == ()


def test_a_cyclic_gate_is_not_a_clock() -> None:
    builder = Builder(1, [1])
    (fluent,) = builder.fluents
    one = builder.gate([fluent, fluent + 4 + 2])
    builder.gate([one, fluent])
    builder.cycles.append(Cycle(0, 2))
    network = builder.network(2, [True], [TRUE], FALSE, [[(100, TRUE)]], [one ^ 1])
    assert network.inputs.tolist() == [fluent, one + 2, one, fluent]
    assert find_phases(network).patterns == ()


def test_half_of_the_gates_are_left_out() -> None:
    """What x and o may do is asked in turn: a lane of the other's makes all of it be computed again."""
    kernel = build_kernel(tic_tac_toe(), phases=find_phases(tic_tac_toe()))
    block = Block(kernel, 30)
    block.begin(0, 512, 1, kernel.network.initial)
    absent = []
    for _ in range(4):
        block.play(1)
        absent.append(int(block.rows[ABSENT, 0]))
    assert absent == [0b110, 0b101, 0b110, 0b101]
    block.rows[kernel.layout.fluents + 18, 0] ^= np.uint64(1)
    block.play(1)
    assert block.rows[ABSENT, 0] == 0


def test_playouts_are_as_without_phases() -> None:
    network = tic_tac_toe()
    plain = Simulator(build_kernel(network, phases=Phases.none(network))).run(PlayoutRequest(40_000, seed=3))
    phased = Simulator(build_kernel(network, phases=find_phases(network))).run(PlayoutRequest(40_000, seed=3))
    assert plain.playouts == phased.playouts == 40_000
    assert plain.lengths.keys() == phased.lengths.keys()
    for role in range(2):
        for value, count in plain.goals[role].items():
            assert abs(count - phased.goals[role][value]) < 5 * 40_000**0.5
