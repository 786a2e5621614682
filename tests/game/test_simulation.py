"""Random matches by the million: exact where it can be told, alike for both machines, honest when cut."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from math import isnan, sqrt
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import SHEETS

import anygame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game.backends import MachineName

#: Two roles choose at once, one among three, the other among five; the first choice of all is the result.
TWO = """
(role a) (role b) (succ 0 1) (succ 1 2)
(init (step 0))
(<= (legal a ?x) (three ?x)) (<= (legal b ?x) (five ?x))
(three 0) (three 1) (three 2) (five 0) (five 1) (five 2) (five 3) (five 4)
(<= (next (chose ?x ?y)) (does a ?x) (does b ?y))
(<= terminal (true (chose ?x ?y)))
(times 0 0 0) (times 0 1 1) (times 0 2 2) (times 0 3 3) (times 0 4 4)
(times 1 0 5) (times 1 1 6) (times 1 2 7) (times 1 3 8) (times 1 4 9)
(times 2 0 10) (times 2 1 11) (times 2 2 12) (times 2 3 13) (times 2 4 14)
(<= (goal a ?n) (true (chose ?x ?y)) (times ?x ?y ?n))
"""
#: A coin that is thrown until it shows heads.
COIN = """
(role me) (legal me heads) (legal me tails)
(<= (next over) (does me heads))
(<= terminal (true over)) (<= (goal me 100) (true over))
"""
ENDLESS = (
    "(role me) (legal me on) (<= terminal (true over)) (init (going)) (<= (next (going)) (true (going)))"
)

#: One of two first moves leads to where the other role has none.
CLIFF = """
(role a) (role b) (init (at start))
(<= (legal a hill) (true (at start))) (<= (legal a cliff) (true (at start)))
(<= (legal a on) (not (true (at start))))
(<= (legal b wait) (not (true (at cliff))))
(<= (next (at ?x)) (does a ?x))
(<= terminal (true (at on)))
(goal a 70) (goal b 30)
"""


def chi_square(found: Mapping[Any, int], expected: Mapping[Any, float]) -> float:
    """Return how many standard deviations the statistic of Pearson lies above what chance gives."""
    assert set(found) <= set(expected)
    statistic: float = sum((found.get(key, 0) - mean) ** 2 / mean for key, mean in expected.items())
    return _deviations(statistic, len(expected) - 1)


def chi_square_of_two(left: Mapping[Any, int], right: Mapping[Any, int]) -> float:
    """Return the same for two samples, of whether they come from one distribution."""
    sizes = sum(left.values()), sum(right.values())
    statistic = 0.0
    for key in {*left, *right}:
        both = left.get(key, 0) + right.get(key, 0)
        for found, size in ((left.get(key, 0), sizes[0]), (right.get(key, 0), sizes[1])):
            mean = both * size / sum(sizes)
            statistic += (found - mean) ** 2 / mean
    return _deviations(statistic, len({*left, *right}) - 1)


def _deviations(statistic: float, degrees: int) -> float:
    """Wilson and Hilferty: the cube root of chi-square is nearly normal."""
    if not degrees:
        return 0.0
    spread = 2 / (9 * degrees)
    root: float = (statistic / degrees) ** (1 / 3)
    return (root - (1 - spread)) / sqrt(spread)


def timeless(result: anygame.SimulationResult) -> anygame.SimulationResult:
    """Return a result without what the clock says."""
    return replace(result, seconds=0.0, setup_seconds=0.0)


# -- what comes out ----------------------------------------------------------------------------------


def test_every_joint_move_is_as_likely_as_the_others() -> None:
    result = anygame.loads(TWO).simulate(150_000, seed=1)
    assert chi_square(result.goal_counts["a"], dict.fromkeys(range(15), 10_000)) < 4
    assert result.branching == {"a": 3, "b": 5}
    assert result.lengths == {1: 150_000}
    assert (result.playouts, result.states, result.mean_length) == (150_000, 150_000, 1)


def test_a_bias_would_be_noticed() -> None:
    fair = dict.fromkeys(range(15), 10_000)
    assert chi_square({**fair, 3: 10_600, 4: 9_400}, fair) > 4
    assert chi_square_of_two({0: 5_200, 1: 4_800}, {0: 50_000, 1: 50_000}) > 3.5


def test_short_games_are_not_favoured() -> None:
    result = anygame.loads(COIN).simulate(200_000, seed=5)
    expected = {length: 200_000 / 2**length for length in range(1, 12)}
    found = Counter({min(length, 12): 0 for length in range(1, 13)})
    for length, count in result.lengths.items():
        found[min(length, 12)] += count
    assert chi_square(found, {**expected, 12: 200_000 / 2**11}) < 4
    assert result.mean_goals == {"me": 100}
    assert result.states == sum(length * count for length, count in result.lengths.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tic_tac_toe", "monty_hall", "pig", "three_player_chomp", "copolymer"])
def test_both_machines_play_alike(name: str) -> None:
    sheet = SHEETS / f"{name}.kif"
    by_rules = anygame.load(sheet, machine="reasoner").simulate(600, seed=3)
    by_logic = anygame.load(sheet).simulate(60_000, seed=3)
    assert (by_rules.machine, by_logic.machine) == ("reasoner", "network")
    assert chi_square_of_two(by_rules.lengths, by_logic.lengths) < 4
    for role, goals in by_logic.goal_counts.items():
        assert chi_square_of_two(by_rules.goal_counts[role], goals) < 4
        assert by_rules.missing_goals[role] == by_logic.missing_goals[role] == 0
        width = by_logic.branching[role]
        assert width is not None
        assert by_rules.branching[role] == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_moments_are_those_of_the_counts(machine: Any) -> None:
    result = anygame.load(SHEETS / "tic_tac_toe.kif", machine=machine).simulate(400, seed=9)
    for role, counts in result.goal_counts.items():
        values = [value for value, count in counts.items() for _ in range(count)]
        mean = sum(values) / len(values)
        spread = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        assert result.mean_goals[role] == pytest.approx(mean)
        assert result.goal_spread[role] == pytest.approx(spread)
        assert result.goal_error[role] == pytest.approx(spread / sqrt(len(values)))
        assert list(counts) == sorted(counts)
    assert sum(result.lengths.values()) == result.playouts == 400
    assert result.playouts_per_second == pytest.approx(400 / result.seconds)


def test_the_seed_decides_and_not_the_threads() -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif")
    one = timeless(game.simulate(50_000, seed=7))
    for threads in (2, 3):
        assert replace(timeless(game.simulate(50_000, seed=7, threads=threads)), threads=1) == one
    again = anygame.load(SHEETS / "tic_tac_toe.kif").simulate(50_000, seed=7)
    assert timeless(again) == one
    assert timeless(game.simulate(50_000, seed=8)).goal_counts != one.goal_counts


def test_the_result_contains_a_new_seed() -> None:
    game = anygame.loads(COIN)
    result = game.simulate(1_000)
    assert timeless(game.simulate(1_000, seed=result.seed)) == timeless(result)
    assert game.simulate(10).seed != result.seed


# -- where it starts and ends -------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_a_simulation_can_start_from_a_state(machine: Any) -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif", machine=machine)
    state = game.initial_state()
    for joint in (
        ("(mark 1 1)", "noop"),
        ("noop", "(mark 2 1)"),
        ("(mark 1 2)", "noop"),
        ("noop", "(mark 2 2)"),
    ):
        state = state.next(joint)
    won = state.next(["(mark 1 3)", "noop"])
    assert timeless(game.simulate(50, seed=1, state=won)).lengths == {0: 50}
    assert game.simulate(50, seed=1, state=won).mean_goals == {"x": 100, "o": 0}
    assert min(game.simulate(200, seed=1, state=state).lengths) == 1


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_endless_matches_are_cut(machine: Any) -> None:
    result = anygame.loads(ENDLESS, machine=machine).simulate(20, seed=1, limit=5)
    assert (result.playouts, result.cut, result.states) == (0, 20, 100)
    assert isnan(result.mean_goals["me"])
    assert isnan(result.mean_length)
    assert result.branching == {"me": 1}
    mixed = anygame.loads(COIN, machine=machine).simulate(400, seed=1, limit=1)
    assert set(mixed.lengths) == {1}
    assert mixed.playouts + mixed.cut == 400
    assert 100 < mixed.cut < 300


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_goals_that_are_missing_or_double_are_counted(machine: Any) -> None:
    sheet = """
    (role a) (role b) (legal a go) (legal b go)
    (<= (next over) (does a go)) (<= terminal (true over))
    (<= (goal a 10) (true over)) (<= (goal a 20) (true over))
    """
    result = anygame.loads(sheet, machine=machine).simulate(30, seed=1)
    assert result.double_goals == {"a": 30, "b": 0}
    assert result.missing_goals == {"a": 0, "b": 30}
    assert result.goal_counts == {"a": {}, "b": {}}
    assert list(map(isnan, result.mean_goals.values())) == [True, True]
    assert result.playouts == 30


def test_a_role_without_a_move_is_named_by_both_machines() -> None:
    sheet = "(role a) (role b) (legal a go) (init (here x)) (<= terminal (true never))"
    messages = []
    for machine in ("reasoner", "network"):
        with pytest.raises(anygame.IllegalMoveError) as stuck:
            anygame.loads(sheet, machine=machine).simulate(10, seed=1, strict=True)
        assert stuck.value.role == "b"
        messages.append(str(stuck.value))
    assert messages == ["b has no legal move in a state that is not terminal: ((here x))"] * 2


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_stuck_playouts_are_counted_separately(machine: Any) -> None:
    game = anygame.loads(CLIFF, machine=machine)
    result = game.simulate(2_000, seed=3)
    assert result.playouts + result.stuck == 2_000
    assert 800 < result.stuck < 1200
    assert result.goal_counts == {"a": {70: result.playouts}, "b": {30: result.playouts}}
    assert result.lengths == {2: result.playouts}
    assert result.states == 2 * result.playouts + 1 * result.stuck
    assert result.branching == {"a": (2 * 2_000 + result.playouts) / result.states, "b": 1.0}
    first = result.first_stuck
    assert first is not None
    assert (first.role, [str(fact) for fact in first.facts]) == ("b", ["(at cliff)"])
    assert [list(map(str, joint)) for joint in first.moves] == [["cliff", "wait"]]
    # The line of play leads there.
    state = game.initial_state()
    for joint in first.moves:
        state = state.next(joint)
    assert state.facts == first.facts
    assert state.legal_moves(first.role) == ()


#: Each throw of a die of six ends the game with one of two goals, or leaves the first role without a move,
#: or the second, or is thrown again.
DIE = """
(role a) (role b) (side 1) (side 2) (side 3) (side 4) (side 5) (side 6)
(<= (legal a (throw ?n)) (side ?n) (not (true (fell 3))))
(<= (legal b wait) (not (true (fell 4))))
(<= (next (fell ?n)) (does a (throw ?n)))
(<= terminal (true (fell 1))) (<= terminal (true (fell 2)))
(<= (goal ?role 0) (role ?role) (true (fell 1))) (<= (goal ?role 100) (role ?role) (true (fell 2)))
"""


@pytest.mark.parametrize(("machine", "playouts"), [("reasoner", 2_000), ("network", 300_000)])
def test_playouts_are_as_often_stuck_as_chance_has_it(machine: Any, playouts: int) -> None:
    result = anygame.loads(DIE, machine=machine).simulate(playouts, seed=6)
    assert result.machine == machine
    found = {"stuck": result.stuck, 0: result.goal_counts["b"][0], 100: result.goal_counts["b"][100]}
    assert chi_square(found, {"stuck": playouts / 2, 0: playouts / 4, 100: playouts / 4}) < 4
    lengths = Counter({min(length, 6): 0 for length in range(1, 7)})
    for length, count in result.lengths.items():
        lengths[min(length, 6)] += count
    expected = {length: playouts / 3**length for length in range(1, 6)}
    assert chi_square(lengths, {**expected, 6: playouts / 2 / 3**5}) < 4
    assert result.states == pytest.approx(playouts * 1.5, rel=0.05)
    assert result.branching == {"a": 6, "b": 1}


def test_the_first_stuck_playout_does_not_depend_on_the_threads() -> None:
    results = [anygame.loads(DIE).simulate(100_000, seed=2, threads=threads) for threads in (1, 2, 5)]
    assert len({result.stuck for result in results}) == 1
    firsts = [result.first_stuck for result in results]
    assert firsts[0] is not None
    assert firsts == [firsts[0]] * 3


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_stuck_playouts_contain_the_stuck_state(machine: Any) -> None:
    game = anygame.loads(CLIFF, machine=machine)
    played = list(game.playouts(40, seed=5))
    assert {playout.stuck is None for playout in played} == {True, False}
    assert all(playout.is_complete == (playout.stuck is None) for playout in played)
    assert played == list(anygame.loads(CLIFF).playouts(40, seed=5))
    with pytest.raises(anygame.IllegalMoveError, match=r"b has no legal move .* \(\(at cliff\)\)"):
        list(game.playouts(40, seed=5, strict=True))


@pytest.mark.parametrize("goal", ["9" * 500, "1" + "0" * 309, "-" + "7" * 400])
def test_goals_beyond_floats_have_counts_and_no_mean(goal: str) -> None:
    game = anygame.loads(
        f"(role me) (legal me on) (<= terminal (true over)) (<= (next over) (does me on)) (goal me {goal})",
        machine="reasoner",
    )
    result = game.simulate(10, seed=1)
    assert result.goal_counts == {"me": {int(goal): 10}}
    for told in (result.mean_goals, result.goal_spread, result.goal_error):
        assert isnan(told["me"])
    assert next(game.playouts(1)).goals == {"me": int(goal)}


def test_squares_of_goals_may_be_beyond_floats() -> None:
    low, high = 10**200, 3 * 10**200
    game = anygame.loads(
        f"(role me) (legal me {low}) (legal me {high}) (<= (next (did ?x)) (does me ?x)) "
        f"(<= terminal (true (did ?x))) (<= (goal me ?x) (true (did ?x)))",
        machine="reasoner",
    )
    result = game.simulate(400, seed=1)
    assert 0.9e200 < result.goal_spread["me"] < 1.1e200


@pytest.mark.parametrize("wrong", [{"playouts": -1}, {"threads": 0}, {"limit": -1}, {"limit": 10**9}])
@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_numbers_out_of_range_are_refused(machine: Any, wrong: dict[str, int]) -> None:
    game = anygame.loads(COIN, machine=machine)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        game.simulate(**{"playouts": 5, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_zero_playouts_play_no_match(machine: Any) -> None:
    result = anygame.loads(COIN, machine=machine).simulate(0, seed=1)
    assert (result.playouts, result.states, result.lengths) == (0, 0, {})
    assert isnan(result.branching["me"])


# -- interruption, progress, fallback ------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_an_interrupt_keeps_the_statistics_so_far(machine: Any) -> None:
    def interrupt(done: int) -> None:
        if done < 10**9:
            raise KeyboardInterrupt

    game = anygame.loads(COIN, machine=machine)
    result = game.simulate(10**9, seed=1, progress=interrupt)
    assert result.interrupted
    assert 0 < result.playouts < 10**9
    assert sum(result.goal_counts["me"].values()) == result.playouts == sum(result.lengths.values())


def test_progress_grows() -> None:
    told: list[int] = []
    result = anygame.loads(COIN).simulate(30_000_000, seed=1, progress=told.append)
    assert not result.interrupted
    assert told == sorted(told)
    assert told[-1] == 30_000_000


def test_the_reasoner_plays_a_game_without_a_network_and_warns() -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif")
    with pytest.warns(anygame.FallbackWarning, match="plays slowly here: "):
        assert not game.compile(instances=10)
    assert isinstance(game.fallback, anygame.LimitError)
    assert game.backends.network is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        result = game.simulate(20, seed=4)
    assert result.machine == "reasoner"
    assert timeless(result) == timeless(
        anygame.load(SHEETS / "tic_tac_toe.kif", machine="reasoner").simulate(20, seed=4)
    )
    assert game.compile()
    assert game.simulate(20, seed=4).machine == "network"


def test_states_that_no_play_leads_to_are_played_by_the_reasoner_with_a_notice() -> None:
    game = anygame.loads(TWO)
    assert game.simulate(5, seed=1).machine == "network"
    state = game.state(["(step 0)", "(weather fine)"])
    with pytest.warns(anygame.FallbackWarning, match=r"no match reaches .* the fact \(weather fine\)"):
        result = game.simulate(5, seed=1, state=state)
    assert result.machine == "reasoner"
    assert result.playouts == 5


def test_playouts_and_simulations_of_the_reasoner_are_the_same_matches() -> None:
    game = anygame.load(SHEETS / "pig.kif", machine="reasoner")
    result = game.simulate(30, seed=2)
    playouts = list(game.playouts(30, seed=2))
    assert Counter(playout.length for playout in playouts) == result.lengths
    for role in game.roles:
        assert Counter(playout.goals[role] for playout in playouts) == result.goal_counts[role]


def test_joint_choices_are_independent() -> None:
    counts = anygame.loads(TWO).simulate(150_000, seed=4).goal_counts["a"]
    rows = [sum(counts[5 * x + y] for y in range(5)) for x in range(3)]
    columns = [sum(counts[5 * x + y] for x in range(3)) for y in range(5)]
    expected = {5 * x + y: rows[x] * columns[y] / 150_000 for x, y in product(range(3), range(5))}
    assert chi_square(counts, expected) < 4


@pytest.mark.parametrize("machine", ["network", "reasoner"])
@pytest.mark.parametrize(
    ("goals", "worth"),
    [
        (("0", "100", "0100"), {0: 1, 100: 2}),
        (("7", "+7", "07"), {7: 3}),
        (("-0", "0", "-5"), {-5: 1, 0: 2}),
    ],
)
def test_goal_terms_of_one_integer_are_one_value(
    machine: MachineName, goals: tuple[str, ...], worth: dict[int, int]
) -> None:
    rules = "(role me) (<= (next (chose ?x)) (does me ?x)) (<= terminal (true (chose ?x)))"
    rules += "".join(
        f"(legal me {n}) (<= (goal me {goal}) (true (chose {n})))" for n, goal in enumerate(goals)
    )
    both = f"{rules} (legal me 3)" + "".join(f"(<= (goal me {goal}) (true (chose 3)))" for goal in goals)
    result = anygame.loads(rules, machine=machine).simulate(3_000, seed=1)
    assert (result.machine, sum(result.goal_counts["me"].values())) == (machine, 3_000)
    assert {goal: round(count / 1_000) for goal, count in result.goal_counts["me"].items()} == worth
    doubled = anygame.loads(both, machine=machine).simulate(400, seed=1)
    assert doubled.double_goals["me"] + sum(doubled.goal_counts["me"].values()) == 400
    assert doubled.double_goals["me"] > 50
