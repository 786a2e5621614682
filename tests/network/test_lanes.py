"""Many games at once, and single states: the same answers as the plain evaluation."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.network.evaluate import evaluate_moves, evaluate_state
from tests.network.networks import Builder, countdown, random_network, tic_tac_toe

from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import DOUBLE, MISSING, IllegalChoiceError, Lanes
from anygame.network.network import FALSE, TRUE
from anygame.network.simulator import Simulator
from anygame.network.single import Single
from anygame.playouts import PlayoutRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.kernel import Style
    from anygame.network.network import Network


class Plain:
    """One state of a game, by the plain evaluation."""

    def __init__(self, network: Network, state: Sequence[int]) -> None:
        self.network = network
        self.state = [int(bit) for bit in state]
        values = self._values = evaluate_state(network, self.state)
        flat = [bool(values.literal(literal)) for literal in network.legal.tolist()]
        self.flat = flat
        self.legal = []
        for count in network.actions:
            self.legal.append([action for action in range(count) if flat[action]])
            flat = flat[count:]
        self.terminal = bool(values.literal(network.terminal))
        self.goals = [self._goal([v for v, g in role if values.literal(g)]) for role in network.goals]

    @staticmethod
    def _goal(found: list[int]) -> int:
        return found[0] if len(found) == 1 else DOUBLE if found else MISSING

    def next(self, actions: Sequence[int]) -> list[int]:
        taken = []
        for count, action in zip(self.network.actions, actions, strict=True):
            taken += [int(a == action) for a in range(count)]
        return evaluate_moves(self.network, self._values, taken)


def some_networks() -> list[Network]:
    rng = random.Random(4)
    return [tic_tac_toe(), countdown(7, 5), *(random_network(rng, 60, roles=roles) for roles in (1, 2, 3))]


@pytest.mark.parametrize("count", [1, 5, 512, 700])
@pytest.mark.parametrize("number", range(5))
def test_every_lane_answers_as_the_plain_evaluation(number: int, count: int) -> None:
    network, rng = some_networks()[number], random.Random(number)
    lanes = Lanes(build_kernel(network), count)
    looked_at = sorted({0, count - 1, count // 2, *(rng.randrange(count) for _ in range(5))})
    lanes.load(np.random.default_rng(number).random((count, network.fluents)) < 0.5)
    for _ in range(4):
        plain = {lane: Plain(network, lanes.get(lane).tolist()) for lane in looked_at}
        legal, terminal, goals, seen = lanes.legal(), lanes.terminal, lanes.goals(), lanes.observation()
        assert legal.shape == (count, sum(network.actions))
        choices = np.array([legal[:, a : a + n].argmax(axis=1) for a, n in offsets(network)])
        for lane, expected in plain.items():
            assert legal[lane].tolist() == expected.flat
            assert terminal[lane] == expected.terminal
            assert [goal[lane] for goal in goals] == expected.goals
            assert seen[lane].tolist() == [bool(bit) for bit in expected.state]
            for role, moves in enumerate(expected.legal):
                choices[role, lane] = rng.choice(moves or [0])
        before = {lane: choices[:, lane].tolist() for lane in looked_at}
        lanes.step(list(choices))
        for lane, expected in plain.items():
            after = expected.state if expected.terminal else expected.next(before[lane])
            assert lanes.get(lane).astype(int).tolist() == [int(bit) for bit in after]


def offsets(network: Network) -> list[tuple[int, int]]:
    first = np.cumsum([0, *network.actions]).tolist()
    return list(zip(first, network.actions, strict=False))


@pytest.mark.parametrize("number", range(5))
def test_random_steps_return_the_moves_that_they_make(number: int) -> None:
    network = some_networks()[number]
    lanes = Lanes(build_kernel(network), 600, seed=3)
    again = Lanes(build_kernel(network), 600, seed=3)
    for _ in range(5):
        states, terminal = lanes.observation(), lanes.terminal
        choices = lanes.step_random()
        assert [c.tolist() for c in again.step_random()] == [c.tolist() for c in choices]
        for choice in choices:
            assert ((choice == -1) == terminal).all()
        for lane in (0, 17, 511, 512, 599):
            plain = Plain(network, states[lane].tolist())
            if not terminal[lane]:
                taken = [int(choice[lane]) for choice in choices]
                assert all(action in legal for action, legal in zip(taken, plain.legal, strict=True))
                assert lanes.get(lane).astype(int).tolist() == plain.next(taken)
    assert (lanes.observation() == again.observation()).all()


def test_random_steps_are_uniform_in_every_lane() -> None:
    """All lanes move in each step, none is left behind by the drawing of numbers."""
    lanes = Lanes(build_kernel(countdown(1, 9)), 1000, seed=1)
    counts = np.zeros(9, np.int64)
    for _ in range(60):
        lanes.reset()
        (choice,) = lanes.step_random()
        assert lanes.terminal.all()
        counts += np.bincount(choice, minlength=9)
    expected = counts.sum() / 9
    assert ((counts - expected) ** 2 / expected).sum() < 8 + 9 * 4


def test_a_game_is_over_where_it_is_over() -> None:
    lanes = Lanes(build_kernel(countdown(2, 3)), 4)
    lanes.step([[0, 1, 2, 0]])
    lanes.reset([False, True, False, False])
    lanes.step([[1, 1, 1, 1]])
    assert lanes.terminal.tolist() == [True, False, True, True]
    before = lanes.observation()
    lanes.step([[99, 2, -5, 99]])  # what is chosen where a game is over is not read
    assert (lanes.observation()[[0, 2, 3]] == before[[0, 2, 3]]).all()
    assert lanes.terminal.all()
    assert lanes.step_random()[0].tolist() == [-1] * 4


def test_an_illegal_choice_changes_nothing() -> None:
    lanes = Lanes(build_kernel(tic_tac_toe()), 520)
    first = np.full(520, 4)
    lanes.step([first, np.full(520, 9)])
    before = lanes.observation()
    for lane, role, action in ((515, 1, 4), (3, 0, 0), (519, 1, 10), (0, 1, -1)):
        choices = [np.full(520, 9), np.arange(520) % 4]
        choices[role][lane] = action
        with pytest.raises(IllegalChoiceError) as caught:
            lanes.step(choices)
        assert (caught.value.lane, caught.value.role, caught.value.action) == (lane, role, action)
        assert (lanes.observation() == before).all()
    lanes.step([np.full(520, 9), np.arange(520) % 4])
    assert (lanes.observation() != before).any()


def test_misuse_is_explained() -> None:
    lanes = Lanes(build_kernel(tic_tac_toe()), 3)
    with pytest.raises(ValueError, match="each of 2 roles"):
        lanes.step([[0, 0, 0]])
    with pytest.raises(ValueError, match="3 integers for role 1"):
        lanes.step([[0, 0, 0], [9, 9]])
    with pytest.raises(ValueError, match="3 integers for role 0"):
        lanes.step([[0.5, 0, 0], [9, 9, 9]])
    with pytest.raises(ValueError, match="19 fluents"):
        lanes.set(0, [True])
    with pytest.raises(ValueError, match="truth values"):
        lanes.reset([0, 1, 2])
    with pytest.raises(ValueError, match=r"expected shape \[3, 19\]"):
        lanes.load([[True]])
    with pytest.raises(IndexError, match="lane from 0 to 2"):
        lanes.get(3)
    for count in (0, 1 << 30):
        with pytest.raises(ValueError, match="lanes"):
            Lanes(build_kernel(tic_tac_toe()), count)


def test_states_are_set_lane_by_lane() -> None:
    network = tic_tac_toe()
    lanes = Lanes(build_kernel(network), 514)
    state = np.zeros(19, np.bool_)
    state[[0, 1, 2]] = True
    for lane in (0, 63, 64, 513):
        lanes.set(lane, state)
    assert np.flatnonzero(lanes.terminal).tolist() == [0, 63, 64, 513]
    assert lanes.goals()[0][[0, 1]].tolist() == [100, 50]
    states = lanes.observation()
    lanes.reset()
    assert not lanes.terminal.any()
    lanes.load(states)
    assert (lanes.observation() == states).all()


@pytest.mark.parametrize("style", ["straight", "loop"])
@pytest.mark.parametrize("over", [True, False])
def test_a_game_can_have_no_fluents_and_no_roles(style: Style, over: bool) -> None:
    """No fluents, no roles: it is over at once, or never."""
    network = Builder(0, ()).network(0, [], [], TRUE if over else FALSE, [], [])
    lanes = Lanes(build_kernel(network, style), 600)
    assert lanes.legal().shape == lanes.observation().shape == (600, 0)
    assert lanes.terminal.tolist() == [over] * 600
    lanes.step([])
    assert (lanes.goals(), lanes.step_random()) == ([], [])
    single = Single(build_kernel(network, style))
    assert (single.terminal(b""), single.legal(b""), single.next(b"", [])) == (over, [], b"")
    counts = Simulator(build_kernel(network, style)).run(PlayoutRequest(1000, limit=5))
    assert (counts.playouts, counts.cut, counts.states) == ((1000, 0, 0) if over else (0, 1000, 5000))


def test_a_role_without_any_action() -> None:
    build = Builder(1, (0, 2))
    network = build.network(0, [False], [TRUE, TRUE], build.fluents[0], [[], []], [TRUE])
    lanes = Lanes(build_kernel(network), 3)
    assert lanes.stuck.all()
    assert [choice.tolist() for choice in lanes.step_random()] == [[-1] * 3] * 2
    before = lanes.observation()
    lanes.step([[0, 0, 0], [0, 0, 0]])
    assert (lanes.observation() == before).all()
    tally = Simulator(build_kernel(network)).run(PlayoutRequest(10))
    assert (tally.playouts, tally.stuck, tally.states) == (0, 10, 0)


@pytest.mark.parametrize("style", ["straight", "loop"])
def test_lanes_without_a_move_are_left_as_they_are(style: Style) -> None:
    """The second role has no move where the first took its second action; what turns shows who moves."""
    build = Builder(4, (2, 3))
    stuck, *turn = build.fluents
    network = build.network(
        0,
        [False, True, False, False],
        [TRUE] * 2 + [stuck ^ 1] * 3,
        FALSE,
        [[], []],
        [build.actions[0][1], turn[2], turn[0], turn[1]],
    )
    lanes = Lanes(build_kernel(network, style), 600, seed=8)
    chosen = np.isin(np.arange(600), (0, 570))
    lanes.step([chosen.astype(int), np.zeros(600, np.int64)])
    assert (lanes.stuck == chosen).all()
    for _ in range(4):
        before, stuck_before = lanes.observation(), lanes.stuck
        choices = lanes.step_random()
        for role, choice in enumerate(choices):
            assert ((choice == -1) == stuck_before).all()
            assert choice.max() < network.actions[role]
        after = lanes.observation()
        assert (after[stuck_before] == before[stuck_before]).all()
        assert (after[~stuck_before, 1:] == before[~stuck_before][:, [3, 1, 2]]).all()
        assert ((choices[0] == 1) == after[:, 0])[~stuck_before].all()
    before, stuck_before = lanes.observation(), lanes.stuck
    lanes.step([np.zeros(600, np.int64), np.zeros(600, np.int64)])
    after = lanes.observation()
    assert (after[stuck_before] == before[stuck_before]).all()
    assert (after[~stuck_before, 1:] == before[~stuck_before][:, [3, 1, 2]]).all()
    illegal = np.where(np.arange(600) == 599, 3, 0)
    lanes.set(599, [False, True, False, False])
    with pytest.raises(IllegalChoiceError) as caught:
        lanes.step([np.zeros(600, np.int64), illegal])
    assert (caught.value.lane, caught.value.role, caught.value.action) == (599, 1, 3)
    lanes.reset(lanes.stuck)
    assert not lanes.stuck.any()


def test_a_lane_at_its_end_is_not_stuck() -> None:
    build = Builder(1, (1,))
    network = build.network(0, [False], [FALSE], build.fluents[0], [[]], [FALSE])
    lanes = Lanes(build_kernel(network), 2)
    lanes.set(1, [True])
    assert lanes.stuck.tolist() == [True, False]


@pytest.mark.parametrize("style", ["straight", "loop"])
@pytest.mark.parametrize("number", range(5))
def test_single_states_agree_with_plain_evaluation(number: int, style: Style) -> None:
    network, rng = some_networks()[number], random.Random(number)
    single = Single(build_kernel(network, style))
    state = single.initial
    assert list(state) == [int(bit) for bit in network.initial]
    for _ in range(60):
        plain = Plain(network, list(state))
        questions = [
            (single.legal, plain.legal),
            (single.terminal, plain.terminal),
            (single.goals, plain.goals),
        ]
        for question, expected in rng.sample(questions, 3):
            assert question(state) == expected
        actions = [rng.choice(legal or [0]) for legal in plain.legal]
        next_state = single.next(state, actions)
        assert list(next_state) == [int(bool(bit)) for bit in plain.next(actions)]
        if rng.random() < 0.3:  # back to a state of before, or to any
            next_state = rng.choice([state, bytes(rng.randrange(2) for _ in state)])
        state = next_state
    with pytest.raises(ValueError, match=f"{network.fluents} bytes"):
        single.terminal(b"")
    for wrong in ([0] * (len(network.actions) + 1), [-1] * len(network.actions), list(network.actions)):
        with pytest.raises(ValueError, match="an action per role"):
            single.next(state, wrong)
