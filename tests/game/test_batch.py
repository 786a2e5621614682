"""Games side by side: every lane is a match of its own, and the states of the contract tell what is right."""

from __future__ import annotations

import math
import pickle
from copy import copy, deepcopy
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.game.sheets import SHEETS

import anygame

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def game() -> anygame.Game:
    return anygame.load(SHEETS / "tic_tac_toe.kif")


@pytest.mark.parametrize("name", ["tic_tac_toe", "rock_paper_scissors", "pig", "hex_pie"])
def test_lanes_go_the_way_of_states(name: str) -> None:
    game = anygame.load(SHEETS / f"{name}.kif")
    batch = game.batch(6, seed=1)
    assert batch.lanes == 6
    states = [game.initial_state()] * 6
    random = Random(name)
    for _ in range(25):
        _check(game, batch, states)
        chosen: dict[str, list[int]] = {role: [] for role in game.roles}
        for lane, state in enumerate(states):
            joint = []
            for role in game.roles:
                places = np.flatnonzero(batch.legal_mask(role)[lane]).tolist()
                place = random.choice(places) if places and not state.is_terminal else -1
                chosen[role].append(place)
                joint.append(game.actions(role)[place])
            if not state.is_terminal:
                states[lane] = state.next(joint)
        batch.step({role: np.array(places) for role, places in chosen.items()})
    _check(game, batch, states)


def _check(game: anygame.Game, batch: anygame.Batch, states: list[anygame.State]) -> None:
    observed = batch.observation()
    for lane, state in enumerate(states):
        assert batch.terminal[lane] == state.is_terminal
        assert batch.state(lane) == state
        assert {game.fluent_terms[place] for place in np.flatnonzero(observed[lane])} == state.facts
        for role in game.roles:
            mask = batch.legal_mask(role)[lane]
            assert tuple(game.actions(role)[n] for n in np.flatnonzero(mask)) == state.legal_moves(role)
            goal = batch.goals(role)[lane]
            expected = state.goal(role)
            assert math.isnan(goal) if expected is None else goal == expected


def test_columns_are_named_in_the_order_of_text(game: anygame.Game) -> None:
    for terms in (*map(game.actions, game.roles), game.fluent_terms):
        assert [str(term) for term in terms] == sorted({str(term) for term in terms})
    assert game.batch(5).legal_mask("x").shape == (5, len(game.actions("x")))
    assert game.batch(5).observation().shape == (5, len(game.fluent_terms))
    assert game.batch(5).legal_mask("x").dtype == game.batch(5).terminal.dtype == np.bool_


@pytest.mark.parametrize("lanes", [1, 512, 700])
def test_random_steps_are_legal_and_terminate(game: anygame.Game, lanes: int) -> None:
    batch = game.batch(lanes, seed=3)
    before = [batch.state(lane) for lane in range(0, lanes, 50)]
    for _ in range(9):
        over = batch.terminal
        masks: dict[str, Any] = {role: batch.legal_mask(role) for role in game.roles}
        chosen = batch.step_random()
        for role, places in chosen.items():
            assert places.shape == (lanes,)
            assert ((places == -1) == over).all()
            assert masks[role][np.flatnonzero(~over), places[~over]].all()
        for number, state in enumerate(before):
            lane = 50 * number
            if not over[lane]:
                joint = [game.actions(role)[chosen[role][lane]] for role in game.roles]
                before[number] = state.next(joint)
            assert batch.state(lane) == before[number]
    assert batch.terminal.all()
    assert set(batch.goals("x").tolist()) <= {0, 50, 100}
    assert (batch.goals("x") + batch.goals("o") == 100).all()


def test_the_seed_decides(game: anygame.Game) -> None:
    def played(seed: int) -> np.ndarray[Any, Any]:
        batch = game.batch(100, seed=seed)
        for _ in range(5):
            batch.step_random()
        return batch.observation()

    assert (played(1) == played(1)).all()
    assert (played(1) != played(2)).any()
    assert (game.batch(600, seed=1).step_random()["x"][:512] >= 0).all()


def test_lanes_are_set_and_put_back(game: anygame.Game) -> None:
    batch = game.batch(4, seed=1)
    start = game.initial_state()
    one = start.next(["(mark 2 2)", "noop"])
    batch.set_state(2, one)
    assert [batch.state(lane) for lane in range(4)] == [start, start, one, start]
    batch.set_state(3, [str(fact) for fact in one.facts])
    assert batch.state(3) == one
    batch.reset([2])
    assert [batch.state(lane) == start for lane in range(4)] == [True, True, True, False]
    batch.step_random()
    batch.reset(np.array([True, False, False, True]))
    assert [batch.state(lane) == start for lane in range(4)] == [True, False, False, True]
    batch.reset()
    assert all(batch.state(lane) == start for lane in range(4))
    batch.reset([])
    assert batch.state(0).next(["(mark 1 1)", "noop"]) == start.next(["(mark 1 1)", "noop"])


def test_states_of_the_same_rules_may_be_set(game: anygame.Game) -> None:
    other = anygame.load(SHEETS / "tic_tac_toe.kif", machine="reasoner")
    state = other.initial_state().next(["(mark 1 3)", "noop"])
    batch = game.batch(2)
    batch.set_state(1, state)
    assert batch.state(1) == state


# -- what is refused; nothing changes --------------------------------------------------------------------


def _places(game: anygame.Game, x: str, o: str, lanes: int = 3) -> dict[str, list[int]]:
    names: dict[str, list[str]] = {role: list(map(str, game.actions(role))) for role in game.roles}
    return {"x": [names["x"].index(x)] * lanes, "o": [names["o"].index(o)] * lanes}


def test_an_illegal_move_names_lane_role_and_move(game: anygame.Game) -> None:
    batch = game.batch(3)
    batch.set_state(1, game.initial_state().next(["(mark 1 1)", "noop"]))
    before = batch.observation()
    with pytest.raises(
        anygame.IllegalMoveError, match=r"lane 1: \d+, \(mark 1 1\), is not legal for x"
    ) as error:
        batch.step(_places(game, "(mark 1 1)", "noop"))
    assert (error.value.role, error.value.move) == ("x", "(mark 1 1)")
    assert error.value.suggestions == ("noop",)
    assert (batch.observation() == before).all()


@pytest.mark.parametrize("place", [-1, 10, 10**12])
def test_numbers_of_no_move_are_refused(game: anygame.Game, place: int) -> None:
    batch = game.batch(3)
    moves = _places(game, "(mark 1 1)", "noop")
    moves["x"][2] = place
    with pytest.raises(
        anygame.IllegalMoveError, match=rf"lane 2: {place} \(numbers go from 0 to 9\) is not legal for x"
    ):
        batch.step(moves)
    assert batch.state(0) == game.initial_state()


def test_shapes_and_types_are_checked(game: anygame.Game) -> None:
    batch = game.batch(3)
    good = _places(game, "(mark 1 1)", "noop")
    for wrong in ([0, 0], [[0, 0, 0]], 0, [0.0, 0.0, 0.0], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="the moves of x should be 3 integers, one per lane"):
            batch.step({**good, "x": wrong})
    with pytest.raises(anygame.IllegalMoveError, match="no array is given for o"):
        batch.step({"x": good["x"]})
    with pytest.raises(anygame.IllegalMoveError, match="expected a mapping from roles"):
        batch.step([good["x"], good["o"]])  # type: ignore[arg-type]
    with pytest.raises(anygame.UnknownRoleError):
        batch.step({**good, "y": good["x"]})
    for ask in (batch.legal_mask, batch.goals, game.actions):
        with pytest.raises(anygame.UnknownRoleError):
            ask("y")
    assert batch.state(0) == game.initial_state()


def test_lanes_that_are_not_there(game: anygame.Game) -> None:
    batch = game.batch(3)
    for lane in (3, -1):
        with pytest.raises(IndexError):
            batch.state(lane)
        with pytest.raises(IndexError):
            batch.set_state(lane, game.initial_state())
        with pytest.raises(IndexError):
            batch.reset([0, lane])
    with pytest.raises(ValueError, match="lanes"):
        game.batch(0)


def test_facts_to_which_no_play_leads_are_refused(game: anygame.Game) -> None:
    batch = game.batch(2)
    with pytest.raises(anygame.PositionError, match=r"no match reaches .* the fact \(weather fine\)"):
        batch.set_state(0, ["(control x)", "(weather fine)"])
    other = anygame.load(SHEETS / "pig.kif").initial_state()
    with pytest.raises(anygame.PositionError, match="expected a state of"):
        batch.set_state(0, other)
    assert batch.state(0) == game.initial_state()


@pytest.mark.parametrize("copied", [copy, deepcopy])
def test_a_copy_goes_its_own_way(
    game: anygame.Game, copied: Callable[[anygame.Batch], anygame.Batch]
) -> None:
    batch = game.batch(700, seed=3)
    batch.step_random()
    before = batch.observation()
    other = copied(batch)
    assert other.game is game
    chosen = batch.step_random()
    assert (other.observation() == before).all()
    again = other.step_random()
    assert all((again[role] == chosen[role]).all() for role in game.roles)
    assert (other.observation() == batch.observation()).all()
    other.reset()
    assert (other.observation() != batch.observation()).any()


def test_a_lane_in_which_a_role_has_no_move_is_left_as_it_is() -> None:
    sheet = "(role a) (role b) (legal a go) (init (here x)) (<= terminal (true never))"
    batch = anygame.loads(sheet).batch(2)
    before = batch.state(0)
    assert {role: chosen.tolist() for role, chosen in batch.step_random().items()} == {
        "a": [-1, -1],
        "b": [-1, -1],
    }
    assert batch.state(0) == before
    assert batch.stuck.all()
    batch.step({"a": [0, 0], "b": [0, 0]})
    assert batch.state(0) == before


def test_missing_and_double_goals_are_no_numbers() -> None:
    batch = anygame.loads("(role a) (role b) (legal a go) (legal b go) (goal a 1) (goal a 2)").batch(2)
    assert np.isnan(batch.goals("a")).all()
    assert np.isnan(batch.goals("b")).all()


def test_a_game_without_a_network_has_no_batch() -> None:
    game = anygame.load(SHEETS / "tic_tac_toe.kif")
    with pytest.warns(anygame.FallbackWarning):
        game.compile(seconds=0)
    # Asked again it tries again, with the usual bounds.
    assert game.batch(2).lanes == 2
    with pytest.MonkeyPatch.context() as patch:
        other = anygame.load(SHEETS / "tic_tac_toe.kif")
        patch.setattr(other.backends, "compile", lambda _: False)
        with pytest.raises(anygame.LimitError, match="cannot be compiled"):
            other.batch(2)


# -- going back ------------------------------------------------------------------------------------------


def test_a_snapshot_brings_back_states_and_random_numbers(game: anygame.Game) -> None:
    batch = game.batch(700, seed=4)
    batch.step_random()
    snapshot = batch.snapshot()
    ahead = []
    for _ in range(2):
        batch.restore(pickle.loads(pickle.dumps(snapshot)))
        batch.step_random()
        ahead.append(batch.observation())
    assert (ahead[0] == ahead[1]).all()
    twin = batch.clone()
    batch.step_random()
    twin.step_random()
    assert (twin.observation() == batch.observation()).all()


def test_a_snapshot_of_something_else_is_refused(game: anygame.Game) -> None:
    other = anygame.load("connect_four").batch(3).snapshot()
    with pytest.raises(anygame.PositionError, match=r"expected a snapshot of .*tic_tac_toe.*, not of"):
        game.batch(3).restore(other)
    with pytest.raises(anygame.PositionError, match="expected a snapshot of 4 lanes, found 3 lanes"):
        game.batch(4).restore(game.batch(3).snapshot())
    with pytest.raises(TypeError, match=r"expected a snapshot, found int"):
        game.batch(4).restore(3)  # type: ignore[arg-type]


def test_an_observation_can_be_put_back(game: anygame.Game) -> None:
    batch, other = game.batch(5, seed=1), game.batch(5)
    for _ in range(3):
        batch.step_random()
    other.set_observation(batch.observation())
    assert [other.state(lane) for lane in range(5)] == [batch.state(lane) for lane in range(5)]
    other.reset()
    other.set_observation(batch.observation().astype(np.float32))
    assert (other.observation() == batch.observation()).all()
    for wrong in (batch.observation()[:3], batch.observation() * 2, batch.observation().astype("U1")):
        with pytest.raises(
            ValueError, match=r"expected an observation of truth values \[5 lanes, 29 fluents"
        ):
            other.set_observation(wrong)


def test_some_lanes_alone_may_move(game: anygame.Game) -> None:
    batch = game.batch(3)
    start = batch.state(0)
    batch.step(_places(game, "(mark 1 1)", "noop"), lanes=[1])
    assert [batch.state(lane) == start for lane in range(3)] == [True, False, True]
    batch.step(_places(game, "(mark 1 1)", "noop"), lanes=np.array([True, False, False]))
    assert [batch.state(lane) == start for lane in range(3)] == [False, False, True]
    with pytest.raises(IndexError):
        batch.step(_places(game, "(mark 1 1)", "noop"), lanes=[3])


def test_an_action_space_names_the_columns_of_masks(game: anygame.Game) -> None:
    batch = game.batch(2)
    space = batch.action_space("x")
    assert space.moves == game.actions("x")
    assert space.n == batch.legal_mask("x").shape[1]
    assert str(space.moves[space.number("(mark 2 2)")]) == "(mark 2 2)"
    with pytest.raises(ValueError, match=r"x has no move \(mark 4 4\)"):
        space.number("(mark 4 4)")


def test_percepts_of_a_batch_agree_with_percepts_of_states() -> None:
    game = anygame.load("kuhn_poker")
    batch = game.batch(20, seed=2)
    while not batch.terminal.all():
        before, over = [batch.state(lane) for lane in range(20)], batch.terminal
        chosen = batch.step_random()
        seen = {role: batch.percepts(role) for role in game.roles}
        for lane in np.flatnonzero(~over):
            percepts = before[lane].percepts([game.actions(role)[chosen[role][lane]] for role in game.roles])
            for role in game.roles:
                terms = game.percept_terms(role)
                assert tuple(terms[n] for n in np.flatnonzero(seen[role][lane])) == percepts[role]


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.int8])
def test_packed_states_of_another_type_are_refused(game: anygame.Game, kind: type) -> None:
    batch = game.batch(2)
    before = batch.packed()
    with pytest.raises(ValueError, match=r"expected packed states, uint64 \[2, \d\], got (int|float)"):
        batch.set_packed(before.astype(kind))
    batch.set_packed(before)
    assert (batch.packed() == before).all()
