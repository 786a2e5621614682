"""Playouts in which a role has no legal move: they end there, are counted apart, and can be looked at."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, random_network

from anygame.network.block import DeadEnd, StuckError
from anygame.network.kernels.kernel import build_kernel
from anygame.network.network import FALSE, TRUE
from anygame.network.simulator import Simulator
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network
    from anygame.playouts import Tally


def crossing() -> Network:
    """Return a game that a move of the first role ends, gets stuck, or lets go on.

    Of its seven moves two end the game with the goals 0 and 100, the third leaves the first role without a
    move, the next two the second role; the others do nothing. The second role has three moves, to no effect.
    """
    build = Builder(4, (7, 3))
    low, high, first_stuck, second_stuck = build.fluents
    moves = build.actions[0]
    over = build.disjunction(low, high)
    goals = [(0, build.conjunction(low, high ^ 1)), (100, build.conjunction(high, low ^ 1))]
    state_gates = build.gates
    return build.network(
        state_gates,
        [False] * 4,
        [first_stuck ^ 1] * 7 + [second_stuck ^ 1] * 3,
        over,
        [goals, goals],
        [moves[0], moves[1], moves[2], build.disjunction(moves[3], moves[4])],
    )


def walk(length: int, moves: int, sides: int, throws: int) -> Network:
    """Return a game of so many steps, at whose end the first role is stuck if the second was unlucky.

    That throws a die of so many sides in each step; who gets the first side by all first throws is unlucky.
    """
    build = Builder(length + 2, (moves, sides))
    counter, unlucky = build.fluents[: length + 1], build.fluents[-1]
    over = build.conjunction(counter[-1], unlucky ^ 1)
    stuck = build.conjunction(counter[-1], unlucky)
    counts = build.disjunction(*counter[:throws])
    state_gates = build.gates
    misses = build.conjunction(counts, build.actions[1][0] ^ 1)
    return build.network(
        state_gates,
        [True] + [False] * length + [True],
        [stuck ^ 1] * moves + [TRUE] * sides,
        over,
        [[(100, TRUE)], []],
        [FALSE, *counter[:-1], build.conjunction(unlucky, misses ^ 1)],
    )


def check(network: Network, found: DeadEnd | None, start: tuple[int, ...] | None = None) -> None:
    """Walk the line of play by the plain evaluation: its moves are legal, and lead to a state without."""
    assert found is not None
    state = list(map(int, network.initial)) if start is None else list(start)
    first = np.cumsum([0, *network.actions]).tolist()
    for joint in (*found.moves, None):
        values = evaluate_state(network, state)
        assert not values.literal(network.terminal)
        legal = [bool(values.literal(literal)) for literal in network.legal.tolist()]
        if joint is None:
            break
        taken = [first[role] + action for role, action in enumerate(joint)]
        assert all(legal[action] for action in taken)
        state = evaluate_moves(network, values, [int(a in taken) for a in range(first[-1])])
    assert found.state.tolist() == [bool(bit) for bit in state]
    able = [any(legal[a:b]) for a, b in pairwise(first)]
    assert able.index(False) == found.role


def deviation(found: dict[str, int], chances: dict[str, float], playouts: int) -> float:
    """Return Pearson's statistic as a number of standard deviations above what chance gives."""
    statistic = sum((found.get(k, 0) - playouts * p) ** 2 / (playouts * p) for k, p in chances.items())
    degrees = len(chances) - 1
    return (statistic - degrees) / math.sqrt(2 * degrees)


def told(tally: Tally[Any]) -> tuple[object, ...]:
    stuck = tally.first_stuck
    assert stuck is not None
    counted = (
        tally.playouts,
        tally.states,
        tally.goals,
        tally.lengths,
        tally.options,
        tally.cut,
        tally.stuck,
    )
    return *counted, stuck.role, stuck.state.tolist(), stuck.moves


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("playouts", [700, 100_000])
@pytest.mark.parametrize("style", ["straight", "loop"])
def test_frequencies_of_outcomes_agree_with_probabilities(style: Style, playouts: int) -> None:
    network = crossing()
    tally = Simulator(build_kernel(network, style)).run(PlayoutRequest(playouts, seed=4))
    assert tally.playouts + tally.stuck == playouts
    chances = {"stuck": 3 / 5}
    chances.update({f"{n}": 2 / 7 * (2 / 7) ** (n - 1) for n in range(1, 6)})
    chances["more"] = 1 - sum(chances.values())
    found: Counter[str] = Counter({"stuck": tally.stuck})
    for length, count in tally.lengths.items():
        found[str(length) if length < 6 else "more"] += count
    assert deviation(found, chances, playouts) < 4
    assert sum(tally.goals[0].values()) == sum(tally.lengths.values()) == tally.playouts
    assert tally.goals[0] == tally.goals[1]
    assert abs(tally.states / playouts - 7 / 5) < 5 * 0.75 / math.sqrt(playouts)
    assert tally.options == [7 * tally.states, 3 * tally.states]
    assert (tally.cut, tally.missing, tally.double) == (0, [0, 0], [0, 0])
    check(network, tally.first_stuck)


@pytest.mark.usefixtures("played_any_way")
def test_threads_change_nothing() -> None:
    simulator = Simulator(build_kernel(crossing()))
    one = told(simulator.run(PlayoutRequest(100_000, seed=1)))
    for threads in (2, 5):
        assert told(simulator.run(PlayoutRequest(100_000, seed=1, threads=threads))) == one
    assert told(simulator.run(PlayoutRequest(100_000, seed=2))) != one


@pytest.mark.usefixtures("played_any_way")
def test_a_limit_comes_first() -> None:
    """Where the limit is reached, it does not matter that there is no move."""
    tally = Simulator(build_kernel(crossing())).run(PlayoutRequest(10_000, seed=3, limit=1))
    assert tally.stuck == 0
    assert tally.playouts + tally.cut == 10_000
    assert abs(tally.cut - 10_000 * 5 / 7) < 5 * math.sqrt(10_000 * 10 / 49)


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("playouts", [1, 512, 5000])
def test_a_start_without_a_move(playouts: int) -> None:
    network = crossing()
    start = (0, 0, 0, 1)
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(playouts), start=start)
    assert (tally.playouts, tally.stuck, tally.states, tally.lengths) == (0, playouts, 0, {})
    assert tally.first_stuck is not None
    assert (tally.first_stuck.role, tally.first_stuck.moves) == (1, ())
    check(network, tally.first_stuck, start)


@pytest.mark.parametrize(
    ("length", "moves", "sides", "throws"), [(300, 5, 3, 1), (40, 70, 45, 2), (3, 2, 95, 2)]
)
@pytest.mark.usefixtures("played_any_way")
def test_the_line_of_play_is_found_again(length: int, moves: int, sides: int, throws: int) -> None:
    """Long playouts, in which lanes wait; and rare ones, deep inside a block."""
    network = walk(length, moves, sides, throws)
    simulator = Simulator(build_kernel(network))
    for seed in range(3):
        tally = simulator.run(PlayoutRequest(20_000, seed=seed))
        if tally.stuck:
            assert tally.first_stuck is not None
            assert len(tally.first_stuck.moves) == length
            check(network, tally.first_stuck)
        chance = 1 / sides**throws
        assert abs(tally.stuck - 20_000 * chance) < 5 * math.sqrt(20_000 * chance)


@pytest.mark.usefixtures("played_any_way")
def test_the_first_stuck_match_is_found_after_an_interrupt() -> None:
    """The block has started no more playouts from some step on, and is played again just so."""
    network = walk(30, 3, 70, 3)
    simulator = Simulator(build_kernel(network))

    def interrupt(started: int) -> None:
        if started > 100_000 and not interrupted:
            interrupted.append(started)
            raise KeyboardInterrupt

    for seed in range(3):
        interrupted: list[int] = []
        tally = simulator.run(PlayoutRequest(1 << 40, seed=seed, progress=interrupt))
        assert tally.interrupted
        assert tally.playouts + tally.stuck >= 100_000
        if tally.stuck:
            check(network, tally.first_stuck)


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("threads", [1, 3])
def test_strict_simulations_raise_an_error_at_once(threads: int) -> None:
    network = crossing()
    simulator = Simulator(build_kernel(network))
    with pytest.raises(StuckError, match="role 1 has no legal move") as caught:
        simulator.run(PlayoutRequest(1 << 30, seed=5, threads=threads, strict=True))
    check(network, caught.value.stuck)
    tally = simulator.run(PlayoutRequest(200_000, seed=5))
    assert tally.first_stuck is not None
    with pytest.raises(StuckError) as again:
        simulator.run(PlayoutRequest(200_000, seed=5, threads=threads, strict=True))
    assert again.value.stuck.moves == tally.first_stuck.moves
    assert simulator.run(PlayoutRequest(1000, limit=0, strict=True)).cut == 1000


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("seed", [4, 8, 16, 20, 23, 26, 29, 37])  # each of these does get stuck somewhere
def test_random_networks_get_stuck_as_their_evaluation_has_it(seed: int) -> None:
    """From random states: stuck, cut and ended playouts add up, and the line of play is one of the game."""
    rng = random.Random(seed)
    network = random_network(rng, 60, roles=1 + seed % 3)
    first, last = 2 * network.first_action, 2 * network.first_gate
    legal = [rng.randrange(2, first) for _ in network.legal]
    state = [old if rng.random() < 0.5 else rng.randrange(first, last) for old in network.next.tolist()]
    network = replace(
        network,
        terminal=rng.randrange(2, first),
        legal=np.array(legal, np.int32),
        next=np.array(state, np.int32),
    )
    simulator = Simulator(build_kernel(network))
    stuck = 0
    for number in range(10):
        start = tuple(rng.randrange(2) for _ in range(network.fluents))
        tally = simulator.run(PlayoutRequest(700, seed=number, limit=40), start=start)
        assert tally.playouts + tally.stuck + tally.cut == 700
        assert (tally.stuck == 0) == (tally.first_stuck is None)
        if tally.stuck:
            check(network, tally.first_stuck, start)
        stuck += tally.stuck
    assert stuck
