"""Random playouts: what is counted, what is the same every time, and what must not be favoured."""

from __future__ import annotations

import math
import random
import threading
import tracemalloc
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, countdown, random_network, tic_tac_toe

from anygame.network import simulator as simulators
from anygame.network.kernels import kernel as kernels
from anygame.network.kernels.kernel import build_kernel
from anygame.network.network import FALSE, TRUE
from anygame.network.simulator import Simulator
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network
    from anygame.playouts import Tally


def until(stop: int, out_of: int) -> Network:
    """Return a game of one role and one fluent that ends with a chance of ``stop / out_of`` per move.

    Its goal is 100 if it ended with the first action and 0 otherwise.
    """
    build = Builder(2, (out_of,))
    over, first = build.fluents
    goals = [(0, build.conjunction(over, first ^ 1)), (100, build.conjunction(over, first))]
    ends = build.disjunction(*build.actions[0][:stop])
    next_state = [ends, build.actions[0][0]]
    return build.network(2, [False, False], [TRUE] * out_of, over, [goals], next_state)


STYLES: tuple[Style, ...] = ("straight", "loop")
Known = tuple[dict[tuple[int, ...], Fraction], Fraction]


def same(a: Tally[Any], b: Tally[Any]) -> bool:
    """Return whether all counts are equal, whatever time they took."""
    fields = (
        "playouts",
        "states",
        "goals",
        "missing",
        "double",
        "lengths",
        "options",
        "cut",
        "stuck",
        "abandoned",
    )
    return all(getattr(a, f) == getattr(b, f) for f in fields)


def moves_of(tally: Tally[Any]) -> int:
    """Return the joint moves of the playouts that ended by the rules."""
    return sum(length * count for length, count in tally.lengths.items())


def exact(network: Network, state: tuple[int, ...], known: dict[tuple[int, ...], Known]) -> Known:
    """Return the chances of all vectors of goals, and the mean length, by looking at all games."""
    if state in known:
        return known[state]
    values = evaluate_state(network, state)
    if values.literal(network.terminal):
        goals = tuple(next(v for v, goal in role if values.literal(goal)) for role in network.goals)
        known[state] = {goals: Fraction(1)}, Fraction(0)
        return known[state]
    legal, first = [], 0
    for count in network.actions:
        literals = network.legal[first : first + count].tolist()
        legal.append([first + a for a, literal in enumerate(literals) if values.literal(literal)])
        first += count
    joint = list(product(*legal))
    chances: dict[tuple[int, ...], Fraction] = {}
    length = Fraction(1)
    for moves in joint:
        here = evaluate_state(network, state)
        after = evaluate_moves(network, here, [int(action in moves) for action in range(first)])
        below, more = exact(network, tuple(after), known)
        length += more / len(joint)
        for goals, chance in below.items():
            chances[goals] = chances.get(goals, Fraction(0)) + chance / len(joint)
    known[state] = chances, length
    return known[state]


def far(count: int, total: int, chance: Fraction | float) -> float:
    """Return how many standard deviations a count is off."""
    return abs(count - total * float(chance)) / math.sqrt(total * float(chance) * (1 - float(chance)))


@pytest.mark.slow
@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("style", ["straight", "loop"])
def test_statistics_of_tic_tac_toe_agree_with_enumeration(style: Style) -> None:
    network = tic_tac_toe()
    chances, length = exact(network, tuple(map(int, network.initial)), {})
    tally = Simulator(build_kernel(network, style)).run(PlayoutRequest(400_000, seed=5))
    assert tally.playouts == sum(tally.lengths.values()) == 400_000
    assert tally.states == moves_of(tally)
    assert tally.goals[0] == {100 - value: n for value, n in tally.goals[1].items()}
    for (goal, _), chance in chances.items():
        assert far(tally.goals[0][goal], 400_000, chance) < 5
    assert abs(tally.states / 400_000 - float(length)) < 5 * 1.3 / math.sqrt(400_000)
    assert (tally.missing, tally.double, tally.cut, tally.abandoned) == ([0, 0], [0, 0], 0, 0)
    assert not tally.interrupted


@pytest.mark.usefixtures("played_any_way")
def test_legal_moves_are_counted_where_moves_are_made() -> None:
    tally = Simulator(build_kernel(tic_tac_toe())).run(PlayoutRequest(1000, seed=1))
    # Before move n of a game 10 - n cells are free; the other role has its one.
    lengths = np.array([tally.lengths.get(length, 0) for length in range(max(tally.lengths) + 1)])
    alive = lengths[::-1].cumsum()[::-1][1:]
    free = np.arange(9, 9 - len(alive), -1)
    both = int((alive * (free + 1)).sum())
    assert sum(tally.options) == both
    assert tally.options[0] == int((alive * np.where(np.arange(len(alive)) % 2 == 0, free, 1)).sum())


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize(("stop", "out_of"), [(1, 2), (1, 3), (2, 7), (1, 16)])
def test_short_games_are_not_favoured(stop: int, out_of: int) -> None:
    """Lengths are geometric, also where most playouts run in lanes that restarted."""
    for playouts in (700, 5000, 60_000):
        tally = Simulator(build_kernel(until(stop, out_of))).run(PlayoutRequest(playouts, seed=9))
        chance = stop / out_of
        assert tally.playouts == playouts
        for length in range(1, 6):
            expected = chance * (1 - chance) ** (length - 1)
            assert far(tally.lengths[length], playouts, expected) < 5
        mean = tally.states / playouts
        assert abs(mean - 1 / chance) < 5 * math.sqrt((1 - chance) / chance**2 / playouts)
        assert far(tally.goals[0][100], playouts, 1 / stop if stop > 1 else 0.999999) < 5 or stop == 1


@pytest.mark.parametrize("playouts", [0, 1, 63, 511, 512, 513, 8191, 20_000])
def test_as_many_playouts_as_asked_for(playouts: int) -> None:
    tally = Simulator(build_kernel(countdown(3, 4))).run(PlayoutRequest(playouts, seed=2))
    assert tally.playouts == playouts
    assert tally.lengths == ({3: playouts} if playouts else {})
    assert tally.states == 3 * playouts
    assert tally.options == [12 * playouts]


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("style", ["straight", "loop"])
def test_the_same_seed_gives_the_same_whatever_the_threads(style: Style) -> None:
    simulator = Simulator(build_kernel(tic_tac_toe(), style))
    one = simulator.run(PlayoutRequest(50_000, seed=3))
    assert same(one, simulator.run(PlayoutRequest(50_000, seed=3, threads=1)))
    assert same(one, simulator.run(PlayoutRequest(50_000, seed=3, threads=2)))
    assert same(
        one, Simulator(build_kernel(tic_tac_toe(), style)).run(PlayoutRequest(50_000, seed=3, threads=5))
    )
    assert not same(one, simulator.run(PlayoutRequest(50_000, seed=4)))


@pytest.mark.usefixtures("played_any_way")
def test_both_styles_give_the_same() -> None:
    network = tic_tac_toe()
    assert same(
        Simulator(build_kernel(network, "straight")).run(PlayoutRequest(5000, 8)),
        Simulator(build_kernel(network, "loop")).run(PlayoutRequest(5000, 8)),
    )


def test_playouts_can_start_from_any_state() -> None:
    """One move before the end, all games are as long."""
    network = countdown(6, 3)
    start = np.zeros(network.fluents, np.bool_)
    start[5] = True
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(5000, seed=1), start=start)
    assert tally.lengths == {1: 5000}
    start[5], start[6] = False, True
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(5000, seed=1), start=start)
    assert (tally.lengths, tally.states) == ({0: 5000}, 0)


@pytest.mark.usefixtures("played_any_way")
def test_restarts_use_the_start() -> None:
    """Many playouts per lane from another start than the initial state."""
    network = until(1, 2)
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(20_000, seed=1), start=[False, True])
    assert tally.playouts == 20_000
    tic = tic_tac_toe()
    start = tic.initial.copy()
    start[4] = True
    start[18] = False  # the centre is taken, and it is the turn of o
    tally = Simulator(build_kernel(tic)).run(PlayoutRequest(20_000, seed=1), start=start)
    assert (min(tally.lengths), max(tally.lengths)) == (4, 8)


@pytest.mark.usefixtures("played_any_way")
@pytest.mark.parametrize("limit", [0, 1, 5, 40])
def test_playouts_that_take_too_long_are_cut(limit: int) -> None:
    tally = Simulator(build_kernel(until(1, 8))).run(PlayoutRequest(30_000, seed=1, limit=limit))
    chance = (7 / 8) ** limit
    assert tally.playouts + tally.cut == 30_000
    assert max(tally.lengths, default=0) <= limit
    assert (tally.cut == 30_000) if limit == 0 else far(tally.cut, 30_000, chance) < 5
    if limit > 1:
        for length in (1, 2, limit):
            assert far(tally.lengths[length], 30_000, (7 / 8) ** (length - 1) / 8) < 5
    moves = tally.states - moves_of(tally)
    assert moves == limit * tally.cut


def test_a_game_that_never_ends_is_cut_every_time() -> None:
    build = Builder(1, (3,))
    network = build.network(0, [True], [TRUE] * 3, FALSE, [[(100, TRUE)]], build.fluents)
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(2000, limit=50))
    assert (tally.playouts, tally.cut, tally.states) == (0, 2000, 100_000)


@pytest.mark.usefixtures("played_any_way")
def test_goals_that_are_missing_or_double_are_counted_and_not_guessed() -> None:
    """Four equally likely ends: none of two goals, the first, the second, both."""
    build = Builder(3, (4,))
    over, low, high = build.fluents
    moves = build.actions[0]
    next_state = [TRUE, build.disjunction(moves[1], moves[3]), build.disjunction(moves[2], moves[3])]
    network = build.network(
        0, [False] * 3, [TRUE] * 4, over, [[(0, low), (100, high)], [(0, low ^ 1), (50, low)], []], next_state
    )
    playouts = 40_000
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(playouts, seed=6))
    assert tally.missing[0] + tally.double[0] + sum(tally.goals[0].values()) == playouts
    for count in (tally.missing[0], tally.double[0], *tally.goals[0].values()):
        assert far(count, playouts, 0.25) < 5
    assert (tally.missing[1:], tally.double[1:]) == ([0, playouts], [0, 0])
    assert tally.goals[1] == {
        0: tally.goals[0][100] + tally.missing[0],
        50: tally.goals[0][0] + tally.double[0],
    }


def test_numbers_out_of_range_raise_errors() -> None:
    simulator = Simulator(build_kernel(countdown(2, 2)))
    with pytest.raises(ValueError, match="playouts"):
        simulator.run(PlayoutRequest(-1))
    with pytest.raises(ValueError, match="threads"):
        simulator.run(PlayoutRequest(1, threads=0))
    with pytest.raises(ValueError, match="limit"):
        simulator.run(PlayoutRequest(1, limit=-1))
    with pytest.raises(ValueError, match="5 fluents"):
        simulator.run(PlayoutRequest(1), start=[True])


def test_the_simulator_reports_its_progress() -> None:
    told: list[int] = []
    Simulator(build_kernel(tic_tac_toe())).run(PlayoutRequest(30_000, progress=told.append))
    assert told[-1] == 30_000
    assert told == sorted(told)


@pytest.mark.usefixtures("played_any_way")
def test_an_interrupt_starts_no_more_and_finishes_what_runs() -> None:
    """The first interrupt: fewer playouts, none abandoned, and lengths that are still geometric."""

    def interrupt(started: int) -> None:
        if started > 20_000:
            raise KeyboardInterrupt

    tally = Simulator(build_kernel(until(1, 40))).run(
        PlayoutRequest(1 << 40, seed=1, progress=once(interrupt))
    )
    assert tally.interrupted
    assert tally.abandoned == 0
    assert 20_000 < tally.playouts == sum(tally.lengths.values()) < 1 << 40
    assert far(tally.lengths[1], tally.playouts, 1 / 40) < 5
    assert abs(tally.states / tally.playouts / 40 - 1) < 5 / math.sqrt(tally.playouts)


@pytest.mark.parametrize("times", [1, 2])
def test_games_that_hardly_end_are_given_up(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some calls, or a second interrupt: what ended is reported, and what did not is counted."""
    left = iter(range(times))
    monkeypatch.setattr(simulators, "_CALL_SECONDS", 0.0)
    if times == 2:
        monkeypatch.setattr(simulators, "_LAST_CALLS", 1 << 60)

    def interrupt(_: int) -> None:
        if next(left, None) is not None:
            raise KeyboardInterrupt

    build = Builder(3000, (2,))
    ring = [*build.fluents[1:], build.fluents[0]]
    endless = build.network(0, [True] * 3000, [TRUE] * 2, FALSE, [[(0, TRUE)]], ring)
    tally = Simulator(build_kernel(endless, "loop")).run(
        PlayoutRequest(1000, limit=10_000_000, progress=interrupt)
    )
    assert (tally.playouts, tally.cut, tally.abandoned) == (0, 0, 512)
    assert tally.interrupted


def test_another_error_stops_the_threads() -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError

    others = set(threading.enumerate())
    with pytest.raises(ZeroDivisionError):
        Simulator(build_kernel(until(1, 40))).run(PlayoutRequest(1 << 40, progress=fail))
    for thread in set(threading.enumerate()) - others:
        thread.join(10)
    assert set(threading.enumerate()) <= others


def once(action: Callable[[int], None]) -> Callable[[int], None]:
    """Return a callback that raises once and then keeps quiet."""
    raised: list[int] = []

    def call(started: int) -> None:
        if not raised:
            try:
                action(started)
            except KeyboardInterrupt:
                raised.append(1)
                raise

    return call


def test_memory_does_not_grow_with_the_playouts() -> None:
    simulator = Simulator(build_kernel(tic_tac_toe()))
    peaks = []
    for playouts in (20_000, 20_000, 5_000_000):
        tracemalloc.start()
        simulator.run(PlayoutRequest(playouts, threads=2))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] + 100_000


def test_it_is_known_whether_code_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not build_kernel(countdown(9, 7)).library.cached
    assert build_kernel(countdown(9, 7)).library.cached
    monkeypatch.setenv("ANYGAME_CACHE", "")
    assert not build_kernel(countdown(9, 7)).library.cached


def test_the_kernel_describes_its_code() -> None:
    network = random_network(random.Random(1), 100)
    for style in ("straight", "loop"):
        kernel = build_kernel(network, style)
        figures = kernel.describe()
        assert figures["style"] == style
        assert figures["gates"] == network.gates
        assert figures["bytes"] == kernel.bytes >= 64 * int(figures["rows"])
    assert build_kernel(network).describe()["style"] == "straight"


@pytest.mark.parametrize("seed", range(12))
def test_goals_that_are_evaluated_late_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no lane waits long enough to draw other numbers, all that is counted is the same."""
    network = random_network(random.Random(seed))
    expected = [
        Simulator(build_kernel(network, style)).run(PlayoutRequest(600, seed=1, limit=30)) for style in STYLES
    ]
    monkeypatch.setattr(kernels, "LATE_INPUTS", 0)
    monkeypatch.setattr(
        kernels.Kernel, "_patience", property(lambda kernel: int(len(kernel._order.goals) > 0))
    )
    found = [
        Simulator(build_kernel(network, style)).run(PlayoutRequest(600, seed=1, limit=30)) for style in STYLES
    ]
    assert all(same(found[0], other) for other in [*found, *expected])


def test_lanes_wait_for_goals_no_longer_than_these_take() -> None:
    """Half of a network is about goals: lanes that end one by one wait together for about a step of all."""
    build = Builder(40, (20,))
    over, *marks = build.fluents
    chain = marks[0]
    for number in range(3000):
        chain = build.conjunction(chain, marks[number * 7 % 39] ^ (number & 1)) ^ 1
    goals = [(0, chain), (100, chain ^ 1)]
    gates = build.gates
    does = build.actions[0]
    network = build.network(gates, [False] * 40, [TRUE] * 20, over, [goals], [does[0], *does, *marks[20:]])
    kernel = build_kernel(network, "straight")
    assert 5000 < len(network.inputs) < 7000
    assert kernel._patience > 512
    tally = Simulator(kernel).run(PlayoutRequest(20_000, seed=1))
    assert tally.playouts == sum(tally.goals[0].values()) == 20_000
    for length in range(1, 6):
        assert far(tally.lengths[length], 20_000, 0.05 * 0.95 ** (length - 1)) < 5
