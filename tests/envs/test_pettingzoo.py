"""The environments of PettingZoo: what the library tests, the game that they show, and what they refuse."""

from __future__ import annotations

import pickle
from copy import deepcopy
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)
from pettingzoo.utils.conversions import parallel_to_aec
from tests.envs.libraries import quick_and_long, quietly
from tests.envs.memory import history, percepts_since_choices
from tests.envs.sheets import ENDLESS, GUESS, PUBLIC, STUCK

import anygame
from anygame.envs.pettingzoo import aec_env, parallel_env

if TYPE_CHECKING:
    from pathlib import Path

_QUICK = {"kuhn_poker", "pig", "rock_paper_scissors", "three_player_chomp", "tic_tac_toe"}


# -- what the library tests ------------------------------------------------------------------------


@pytest.mark.parametrize("name", quick_and_long(_QUICK))
def test_the_library_finds_nothing_wrong(name: str) -> None:
    _pass_all(anygame.load(name))


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLIC)
def test_the_library_finds_nothing_wrong_with_public_sheets(corpus: Path, name: str) -> None:
    _pass_all(anygame.load(corpus / "rules" / f"{name}.kif"))


def _pass_all(game: anygame.Game) -> None:
    with quietly():
        parallel_api_test(parallel_env(game), num_cycles=100)
        # Actions are drawn without masks there.
        parallel_seed_test(partial(parallel_env, game, illegal="random"), num_cycles=50)
        render_test(lambda render_mode: parallel_to_aec(parallel_env(game, render_mode=render_mode)))
        try:
            env = aec_env(game)
        except anygame.SimultaneousMovesError:
            return
        api_test(env, num_cycles=100)
        seed_test(partial(aec_env, game), num_cycles=50)
        render_test(partial(aec_env, game))


@pytest.mark.parametrize("name", quick_and_long({"tic_tac_toe", "lights_out"}))
def test_cycles_are_counted(name: str) -> None:
    if name == "rock_paper_scissors":
        pytest.skip("a match may be over before it has so many cycles")
    parallel = partial(parallel_env, anygame.load(name), illegal="random")
    module = SimpleNamespace(parallel_env=parallel, env=lambda **given: parallel_to_aec(parallel(**given)))
    with quietly():
        max_cycles_test(module)


# -- the game that they show -----------------------------------------------------------------------


def test_all_roles_move_at_once() -> None:
    game = anygame.loads(GUESS)
    env = parallel_env(game, rewards="zero-sum")
    observations, infos = env.reset(seed=1)
    assert env.agents == env.possible_agents == ["left", "right"]
    assert infos == {"left": {}, "right": {}}
    assert observations["left"]["action_mask"].tolist() == [1, 1, 1]
    observations, rewards, terminations, truncations, _ = env.step({"left": 2, "right": 0})
    assert rewards == {"left": 1.0, "right": -1.0}
    assert terminations == {"left": True, "right": True}
    assert truncations == {"left": False, "right": False}
    true = {str(game.fluent_terms[n]) for n in np.flatnonzero(observations["right"]["observation"])}
    assert true == {"(chose left 3)", "(chose right 1)"}
    assert env.agents == []
    assert env.state().tolist() == observations["left"]["observation"].tolist()


@pytest.mark.parametrize(
    ("rewards", "expected"), [("scaled", [1.0, 0.0]), ("goals", [100.0, 0.0]), ("zero-sum", [1.0, -1.0])]
)
def test_rewards_are_made_of_goals(rewards: Any, expected: list[float]) -> None:
    env = parallel_env(anygame.loads(GUESS), rewards=rewards)
    env.reset()
    assert list(env.step({"left": 1, "right": 0})[1].values()) == expected


def test_turns_are_those_of_the_rules() -> None:
    game = anygame.load("tic_tac_toe")
    env = aec_env(game, rewards="zero-sum")
    env.reset()
    state = game.initial_state()
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"):
        mover, other = ("x", "o") if "(control x)" in map(str, state.facts) else ("o", "x")
        assert env.agent_selection == mover
        observation, _, _, _, _ = env.last()
        facts = {game.fluent_terms[n] for n in np.flatnonzero(observation["observation"])}
        assert facts == state.facts
        legal = [game.actions(mover)[n] for n in np.flatnonzero(observation["action_mask"])]
        assert tuple(legal) == state.legal_moves(mover)
        assert not env.observe(other)["action_mask"].any()
        env.step(list(map(str, game.actions(mover))).index(move))
        state = state.next({mover: move, other: "noop"})
    assert env.rewards == {"x": 1.0, "o": -1.0}
    assert env.terminations == {"x": True, "o": True}
    for _ in range(2):
        env.step(None)
    assert env.agents == []


def test_the_last_move_is_made_by_whose_turn_it_is() -> None:
    # On a full board but for one cell nobody has a choice, and it is still the turn of x.
    env = aec_env("tic_tac_toe")
    names = list(map(str, env.game.actions("x")))
    env.reset()
    for cell in ("1 1", "2 2", "3 3", "1 2", "3 2", "3 1", "1 3", "2 3"):
        env.step(names.index(f"(mark {cell})"))
    assert env.agent_selection == "x"
    assert [names[n] for n in np.flatnonzero(env.last()[0]["action_mask"])] == ["(mark 2 1)"]


def test_chance_is_played_by_the_environment() -> None:
    rolled = set()
    for seed in range(20):
        env = aec_env("pig")
        env.reset(seed=seed)
        assert env.possible_agents == ["player1", "player2"]
        env.step(list(map(str, env.game.actions("player1"))).index("roll"))
        rolled.add(bytes(env.state()))
    assert len(rolled) > 2


def test_an_agent_with_one_move_can_omit_its_action() -> None:
    env = parallel_env("tic_tac_toe")
    env.reset()
    env.step({"x": 0})
    with pytest.raises(anygame.IllegalMoveError, match="no action is given for o, which has 8 legal moves"):
        env.step({})
    assert env.step({"o": 1})[2] == {"x": False, "o": False}


def test_with_hidden_information_agents_observe_percepts() -> None:
    game = anygame.load("kuhn_poker")
    env = aec_env(game)
    env.reset(seed=3)
    agent = env.agent_selection
    observation = env.last()[0]["observation"]
    assert observation.shape == (len(game.percept_terms(agent)),) != (len(game.fluent_terms),)
    assert observation.sum() >= 1
    with pytest.raises(ValueError, match="hides information, so roles see no board"):
        aec_env(game, observations="planes")


def test_the_own_card_is_seen_after_a_forced_move() -> None:
    env = parallel_env("kuhn_poker")
    env.reset(seed=3)
    env.step({})
    observations = env.step({})[0]
    seen = {agent: np.flatnonzero(found["observation"]) for agent, found in observations.items()}
    for agent, (column,) in seen.items():
        assert str(env.game.percept_terms(agent)[column]).startswith(f"(card {agent} ")


_HIDING = ("kuhn_poker", "liars_dice", "monty_hall", "phantom_tic_tac_toe")


@pytest.mark.parametrize("name", [*_HIDING, "tic_tac_toe", "pig"])
def test_observations_are_those_of_the_rules_after_forced_moves_too(name: str) -> None:
    game = anygame.load(name)
    form: Any = "flat" if game.is_gdl2 else "history"
    steps = 2**14 // sum(len(game.actions(role)) for role in game.roles)
    parallel, remembering = (
        parallel_env(game, observations=each, max_cycles=steps) for each in (form, "history")
    )
    for seed in range(4):
        random = np.random.default_rng(seed)
        for env in (parallel, remembering):
            env.reset(seed=seed)
        states, joints = [game.initial_state()], []
        while parallel.agents:
            actions = {
                agent: random.choice(parallel._episode.legal[role]) for agent, role in parallel._role.items()
            }
            agents = parallel.agents
            found, _, _, _, _ = parallel.step(actions)
            remembered, _, _, _, _ = remembering.step(actions)
            joints.append(_last_joint(parallel))
            states.append(states[-1].next(joints[-1]))
            expected = percepts_since_choices(states, joints)
            for agent in agents:
                assert (remembered[agent]["observation"] == history(states, joints, agent, steps)).all()
                assert remembering.observation_space(agent).contains(remembered[agent])
                if game.is_gdl2:
                    columns = np.flatnonzero(found[agent]["observation"])
                    assert {str(game.percept_terms(agent)[column]) for column in columns} == expected[agent]


def _last_joint(env: Any) -> list[anygame.Term]:
    _, numbers = env._episode._last
    return [env.game.actions(role)[number] for role, number in zip(env.game.roles, numbers, strict=True)]


def test_histories_are_bounded() -> None:
    with pytest.raises(
        ValueError, match=r"a history of 10,000 joint moves .* after at most [\d,]+ joint moves"
    ):
        parallel_env("capture_chess", observations="history")
    env = parallel_env("kuhn_poker", observations="history", max_cycles=7)
    for wanted, limit in ((5, 5), (8, 7)):
        env.max_cycles = wanted
        assert env.max_cycles == limit
    with pytest.raises(ValueError, match="at least one joint move"):
        env.max_cycles = 0


@pytest.mark.parametrize("name", ["kuhn_poker", "tic_tac_toe"])
def test_the_library_finds_nothing_wrong_with_histories(name: str) -> None:
    make = partial(parallel_env, name, observations="history", max_cycles=20)
    turns = partial(aec_env, name, observations="history", max_cycles=20)
    with quietly():
        parallel_api_test(make(), num_cycles=50)
        parallel_seed_test(partial(make, illegal="random"), num_cycles=20)
        api_test(turns(), num_cycles=50)
        seed_test(turns, num_cycles=20)


@pytest.mark.parametrize("actions", [0, [0, 0], "rock"])
def test_actions_are_given_by_agent(actions: Any) -> None:
    env = parallel_env("rock_paper_scissors")
    env.reset()
    with pytest.raises(anygame.IllegalMoveError, match=r"expected actions by agent, such as \{'left': 0\}"):
        env.step(actions)


def test_observations_are_planes_of_the_board() -> None:
    env = aec_env("connect_four", observations="planes")
    env.reset()
    env.step(3)
    observation = env.last()[0]["observation"]
    assert observation.dtype == np.int8
    assert observation.shape == env.observation_space("red")["observation"].shape == (4, 6, 7)
    channels = env.game.batch(1).plane_layout.channels
    assert np.argwhere(observation[channels.index("(cell ? ? red)")]).shape == (1, 2)


def test_endless_matches_are_truncated() -> None:
    env = parallel_env(anygame.loads(ENDLESS), max_cycles=3)
    env.reset()
    for _ in range(2):
        assert env.step({"me": 0})[3] == {"me": False}
    _, rewards, terminations, truncations, infos = env.step({"me": 1})
    assert (rewards, terminations, truncations, infos) == (
        {"me": 0.0},
        {"me": False},
        {"me": True},
        {"me": {}},
    )


def test_a_stuck_match_is_truncated_and_names_the_stuck_role() -> None:
    env = parallel_env(anygame.loads(STUCK))
    env.reset()
    _, rewards, _, truncations, infos = env.step({"one": 0})
    assert rewards == {"one": 0.0, "two": 0.0}
    assert truncations == {"one": True, "two": True}
    assert infos["one"] == {"stuck": "two"}


def test_boards_are_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    env = aec_env("tic_tac_toe", render_mode="ansi")
    env.reset()
    env.step(0)
    assert "x" in str(env.render())
    human = aec_env("tic_tac_toe", render_mode="human")
    human.reset()
    human.render()
    assert capsys.readouterr().out
    with pytest.raises(ValueError, match="render mode must be one of ansi, human"):
        aec_env("tic_tac_toe", render_mode="movie")


@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("name", ["pig", "kuhn_poker"])
def test_environments_are_copied_in_the_middle_of_a_match(name: str, copied: Any) -> None:
    def played_on(env: Any) -> list[Any]:
        made = []
        for agent in env.agent_iter():
            seen, reward, over, _, _ = env.last()
            made.append((agent, seen["observation"].tolist(), reward, over))
            env.step(None if over else int(seen["action_mask"].argmax()))
        return made

    env: Any = aec_env(name)
    env.reset(seed=4)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    twin = copied(env)
    assert played_on(env) == played_on(twin)


# -- what they refuse ------------------------------------------------------------------------------


def test_roles_that_choose_at_once_take_no_turns() -> None:
    with pytest.raises(anygame.SimultaneousMovesError, match="left and right choose at the same time in"):
        aec_env(anygame.loads(GUESS))


def test_a_masked_action_is_refused_with_the_reason() -> None:
    env = aec_env("tic_tac_toe")
    env.reset()
    env.step(0)
    before = env.state()
    with pytest.raises(anygame.IllegalMoveError, match=r"0, \(mark 1 1\), .* allows 1 \(mark 1 2\)"):
        env.step(0)
    for nonsense in (99, -1, None, 0.5, "a"):
        with pytest.raises(
            anygame.IllegalMoveError, match=r"\(actions are numbers from 0 to 9\) is not legal for o"
        ):
            env.step(nonsense)
    assert (env.state() == before).all()
    parallel = parallel_env("tic_tac_toe")
    parallel.reset()
    with pytest.raises(anygame.IllegalMoveError, match="is not legal for o"):
        parallel.step({"x": 0, "o": 0})
    with pytest.raises(anygame.IllegalMoveError, match="no agent is called 'z'; expected x, o"):
        parallel.step({"x": 0, "z": 0})


def test_an_illegal_action_may_stand_for_a_random_one() -> None:
    env = aec_env("tic_tac_toe", illegal="random")
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    assert env.agent_selection == "x"


def test_steps_before_and_after_a_match_are_refused() -> None:
    parallel = parallel_env(anygame.loads(GUESS))
    with pytest.raises(ResetNeeded):
        parallel.step({"left": 0, "right": 0})
    parallel.reset()
    parallel.step({"left": 0, "right": 0})
    with pytest.raises(anygame.IllegalMoveError, match="the match is over"):
        parallel.step({"left": 0, "right": 0})
    env = aec_env(anygame.loads(ENDLESS), max_cycles=1)
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(ResetNeeded, match="last was called before reset"):
        env.last()
    env.reset()
    env.step(0)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    env.step(None)
    with pytest.raises(anygame.IllegalMoveError, match="the match is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"rewards": "many"}, "rewards must be one of scaled, goals, zero-sum"),
        ({"rewards": "zero-sum"}, "need two roles or more"),
        ({"observations": "pixels"}, "observations must be one of flat, planes, history, not 'pixels'"),
        ({"illegal": "ignore"}, "illegal must be one of error, random"),
        ({"max_cycles": 0}, "at least one joint move"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parallel_env(anygame.loads(ENDLESS), **arguments)


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_a_game_without_a_network_has_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise anygame.LimitError("the rules have more than 8 million instances")

    monkeypatch.setattr("anygame.game.backends._compiled", fail)
    with pytest.raises(anygame.LimitError, match="cannot be compiled: the rules have more than"):
        parallel_env(anygame.loads(GUESS))
