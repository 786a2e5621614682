"""The environments of Gymnasium: what the library tests, matches beside one, opponents, refusals."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from tests.envs.libraries import quick_and_long, quietly
from tests.envs.sheets import ENDLESS, GUESS, OVER, PUBLIC, STUCK

import anygame
from anygame.envs.gymnasium import ENVIRONMENT, GameEnv, GameVectorEnv
from anygame.players import Player

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.players import Clock

#: One role and many, chance, hidden information, roles that move together.
_QUICK = {"kuhn_poker", "lights_out", "pig", "rock_paper_scissors", "tic_tac_toe"}


# -- what the library tests ------------------------------------------------------------------------


@pytest.mark.parametrize("name", quick_and_long(_QUICK))
def test_the_library_finds_nothing_wrong(name: str) -> None:
    _pass_all(anygame.load(name))


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLIC)
def test_the_library_finds_nothing_wrong_with_public_sheets(corpus: Path, name: str) -> None:
    _pass_all(anygame.load(corpus / "rules" / f"{name}.kif"))


def _pass_all(game: anygame.Game) -> None:
    for role in game.roles:
        if not role.is_random:
            with quietly():
                # Actions are drawn without masks there.
                env = gymnasium.make(ENVIRONMENT, sheet=game.name, role=role, illegal="random")
                check_env(env.unwrapped)


@pytest.mark.parametrize("name", ["kuhn_poker", "tic_tac_toe"])
def test_the_library_finds_nothing_wrong_with_histories(name: str) -> None:
    with quietly():
        arguments = {"sheet": name, "observations": "history", "max_steps": 20, "illegal": "random"}
        check_env(gymnasium.make(ENVIRONMENT, **arguments).unwrapped)


def test_importing_a_module_by_its_environment_registers_it() -> None:
    env = gymnasium.make(f"anygame.envs.gymnasium:{ENVIRONMENT}", sheet="lights_out")
    assert env.spec is not None
    assert env.spec.id == ENVIRONMENT
    assert env.unwrapped.spec is not None


# -- many matches as one ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", quick_and_long({"lights_out", "three_player_chomp", "tic_tac_toe"}))
def test_lanes_are_as_many_environments(name: str, mode: AutoresetMode) -> None:
    game = anygame.load(name)
    learner = next(role for role in reversed(game.roles) if not role.is_random)
    if any(role.is_random for role in game.roles):
        pytest.skip("chance draws other numbers for many matches than for one")
    _compare(game, mode, role=learner, rewards="goals", observations="flat" if game.is_gdl2 else "planes")
    _compare(game, mode, role=learner, observations="history", max_steps=30, skip_forced=False)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("sheet", [STUCK, ENDLESS, GUESS])
def test_lanes_are_cut_as_environments_are(sheet: str, mode: AutoresetMode) -> None:
    _compare(anygame.loads(sheet), mode, max_steps=3, mask="observation")
    _compare(anygame.loads(sheet), mode, skip_forced=False, max_steps=4)
    _compare(anygame.loads(sheet), mode, observations="history", max_steps=3)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("form", ["flat", "history"])
@pytest.mark.parametrize("skip_forced", [False, True])
def test_lanes_agree_with_environments(mode: AutoresetMode, form: str, skip_forced: bool) -> None:
    # The third round is forced: what was seen before it is still to be used.
    _compare(anygame.loads(_ROUNDS), mode, observations=form, skip_forced=skip_forced, max_steps=8)


_ROUNDS = """
    (role me) (role you) (init (round 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (side left) (side right)
    (<= (legal ?r ?s) (role ?r) (side ?s) (true (round ?n)) (distinct ?n 3))
    (<= (legal ?r wait) (role ?r) (true (round 3)))
    (<= (next (round ?m)) (true (round ?n)) (succ ?n ?m)) (<= terminal (true (round 5)))
    (<= (sees ?r (went ?s ?n)) (role ?r) (does me ?s) (true (round ?n))) (goal me 50) (goal you 50)
"""


def _compare(game: anygame.Game, mode: AutoresetMode, **arguments: Any) -> None:
    players = sum(not role.is_random for role in game.roles)
    arguments["opponents"] = ["legal"] * (players - 1)
    count = 5
    many = GameVectorEnv(count, game, autoreset_mode=mode, **arguments)
    single = SyncVectorEnv([lambda: GameEnv(game, **arguments) for _ in range(count)], autoreset_mode=mode)
    assert many.single_observation_space == single.single_observation_space
    assert many.observation_space == single.observation_space
    assert many.action_space == single.action_space
    assert many.metadata["autoreset_mode"] == single.metadata["autoreset_mode"]
    found: Any = many.reset(seed=1)
    expected: Any = single.reset(seed=1)
    draw = random.Random(1)
    for _ in range(60):
        assert data_equivalence(found, expected)
        masks = found[-1]["action_mask"]
        actions = np.array([draw.choice(np.flatnonzero(mask).tolist() or [0]) for mask in masks])
        found, expected = many.step(actions), single.step(actions)
        over = found[2] | found[3]
        if mode == AutoresetMode.DISABLED and over.any():
            assert data_equivalence(found, expected)
            found = many.reset(options={"reset_mask": over})
            expected = single.reset(options={"reset_mask": over})
            # Of the others nothing is told anew.
            masks = many.action_masks().astype(np.int8)
            assert data_equivalence(found[0], expected[0])
            found, expected = (found[0], {"action_mask": masks}), (expected[0], {"action_mask": masks})


@pytest.mark.slow
def test_chance_and_random_opponents_play_in_lanes() -> None:
    env: Any = gymnasium.make_vec(ENVIRONMENT, num_envs=300, sheet="pig", role="player2", rewards="zero-sum")
    observations, infos = env.reset(seed=5)
    assert observations.shape == (300, 84)
    ends = 0
    total = np.zeros(300)
    for _ in range(150):
        masks = infos["action_mask"].astype(np.int8)
        actions = np.array([np.flatnonzero(mask)[-1] for mask in masks])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert not truncations.any()
        assert not rewards[~terminations].any()
        assert set(rewards.tolist()) <= {-1.0, 0.0, 1.0}
        ends += int(terminations.sum())
        total += rewards
    assert ends > 100
    assert len(np.unique(observations, axis=0)) > 10


def test_the_seed_decides() -> None:
    def played(seed: int) -> Any:
        env = GameVectorEnv(20, "pig")
        observations, infos = env.reset(seed=seed)
        for _ in range(10):
            observations, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        return observations

    assert (played(1) == played(1)).all()
    assert (played(1) != played(2)).any()


def test_many_and_single_can_be_made_by_name() -> None:
    many = gymnasium.make_vec(ENVIRONMENT, num_envs=4, sheet="tic_tac_toe", autoreset_mode="SameStep")
    assert isinstance(many, GameVectorEnv)
    assert many.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    several = gymnasium.make_vec(ENVIRONMENT, num_envs=2, vectorization_mode="sync", sheet="tic_tac_toe")
    assert isinstance(several, SyncVectorEnv)
    limited = gymnasium.make_vec(ENVIRONMENT, num_envs=2, sheet="lights_out", max_episode_steps=2)
    limited.reset()
    limited.step(np.zeros(2, np.int64))
    assert limited.step(np.zeros(2, np.int64))[3].tolist() == [True, True]


# -- how one match goes ----------------------------------------------------------------------------


def test_a_step_ends_where_the_role_has_a_choice_again() -> None:
    env = GameEnv("tic_tac_toe", role="o", opponents=["legal"])
    observation, info = env.reset()
    true = {str(env.game.fluent_terms[n]) for n in np.flatnonzero(observation)}
    assert {"(cell 1 1 x)", "(control o)"} <= true
    assert info["action_mask"].sum() == 8
    observation, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["action_mask"].sum() == 6
    assert (env.action_masks() == info["action_mask"]).all()


def test_the_learner_can_make_forced_moves_itself() -> None:
    env = GameEnv("tic_tac_toe", role="o", opponents=["legal"], skip_forced=False)
    _, info = env.reset()
    assert [str(env.game.actions("o")[n]) for n in np.flatnonzero(info["action_mask"])] == ["noop"]


def test_a_match_does_not_begin_with_its_end() -> None:
    # The only role with a choice is the opponent, who ends the match with its first move.
    sheet = (
        "(role me) (role you) (legal me wait) (legal you 1) (legal you 2)"
        "(<= (next (chose ?x)) (does you ?x)) (<= terminal (true (chose ?x)))"
        "(<= (goal me 100) (true (chose 1))) (<= (goal me 0) (true (chose 2))) (goal you 0)"
    )
    for env, action in (
        (GameEnv(anygame.loads(sheet)), 0),
        (GameVectorEnv(9, anygame.loads(sheet)), [0] * 9),
    ):
        rewards = set()
        for seed in range(9):
            env.reset(seed=seed)
            _, reward, terminated, _, _ = env.step(action)
            assert np.all(terminated)
            rewards |= set(np.atleast_1d(reward).tolist())
        assert rewards == {0.0, 1.0}


@pytest.mark.parametrize("how", ["name", "player", "policy"])
def test_opponents_are_players_names_or_functions(how: str) -> None:
    class Last(Player):
        def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
            return state.legal_moves(self.role)[-1]

    def last(observation: Any, mask: Any) -> int:
        assert observation.shape == (29,)
        return int(np.flatnonzero(mask)[-1])

    specs: dict[str, Any] = {"name": "greedy", "player": Last(), "policy": last}
    env = GameEnv("tic_tac_toe", role="x", opponents={"o": specs[how]})
    _, info = env.reset(seed=1)
    over = False
    while not over:
        observation, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        if how != "name" and not over:
            marked = [str(env.game.fluent_terms[n]) for n in np.flatnonzero(observation)]
            assert "(cell 3 3 o)" in marked


@pytest.mark.parametrize("name", ["greedy", "policy"])
def test_opponents_play_in_lanes(name: str) -> None:
    def last(observations: Any, masks: Any) -> Any:
        assert observations.shape == (len(masks), 29)
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    opponent: Any = last if name == "policy" else name
    env = GameVectorEnv(3, "tic_tac_toe", role="o", opponents=[opponent])
    _, infos = env.reset(seed=1)
    for _ in range(6):
        _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.parametrize("many", [False, True])
def test_opponents_learn_of_starts_and_ends_of_matches(many: bool) -> None:
    told: list[str] = []

    class Listener(Player):
        def start(self, clock: Clock) -> None:
            super().start(clock)
            told.append("start")

        def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
            return state.legal_moves(self.role)[0]

        def stop(self, goals: Any) -> None:
            told.append(f"stop {goals[self.role]}")

        def abort(self) -> None:
            told.append("abort")

    game = anygame.load("tic_tac_toe")
    env: Any = GameEnv(game, role="o", opponents=[Listener()])
    if many:
        env = GameVectorEnv(1, game, role="o", opponents=[Listener()], autoreset_mode="Disabled")
    for _ in range(2):
        _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(info["action_mask"].argmax(axis=-1))
    env.reset()
    env.close()
    assert told == ["start", "abort", "start", "stop 100", "start", "abort"]


def test_hidden_facts_are_not_observed() -> None:
    game = anygame.load("kuhn_poker")
    single, many = GameEnv(game), GameVectorEnv(64, game)
    assert many.reset(seed=1)[0].shape == (64, *single.observation_space.shape)
    observation, _ = single.reset(seed=1)
    names = game.percept_terms("player1")
    assert observation.shape == (len(names),)
    seen = [str(names[n]) for n in np.flatnonzero(observation)]
    assert seen
    assert not [text for text in seen if "player2" in text and "card" in text]


@pytest.mark.parametrize("skip_forced", [False, True])
def test_percepts_before_forced_moves_are_still_observed(skip_forced: bool) -> None:
    env = GameEnv(anygame.loads(_ROUNDS), opponents=["legal"], skip_forced=skip_forced)
    names = env.game.percept_terms("me")
    env.reset()
    seen = []
    terminated = False
    while not terminated:
        observation, _, terminated, _, _ = env.step(int(np.flatnonzero(env.action_masks())[0]))
        seen.append([str(names[column]) for column in np.flatnonzero(observation)])
    forced = [] if skip_forced else [["(went left 2)"]]
    assert seen == [["(went left 1)"], *forced, ["(went left 2)", "(went wait 3)"], ["(went left 4)"]]


def test_a_match_that_begins_with_its_end_is_not_played() -> None:
    game = anygame.loads(OVER)
    env = GameEnv(game)
    for seed in range(2):
        env.reset(seed=seed)
        observation, reward, terminated, truncated, _ = env.step(1)
        assert (observation.tolist(), reward, terminated, truncated) == ([1], 0.7, True, False)
        with pytest.raises(anygame.IllegalMoveError, match="the match is over"):
            env.step(1)
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = GameVectorEnv(2, game, autoreset_mode=mode)
        envs.reset(seed=1)
        told = [envs.step(np.array([1, 0]))[:3] for _ in range(3)]
        assert all(observations.tolist() == [[1], [1]] for observations, _, _ in told)
        ended = [0.7, 0.0, 0.7] if mode == AutoresetMode.NEXT_STEP else [0.7] * 3
        assert [rewards.tolist() for _, rewards, _ in told] == [[reward] * 2 for reward in ended]
        assert [over.all() for _, _, over in told] == [reward > 0 for reward in ended]


def test_a_stuck_match_is_truncated_and_names_the_stuck_role() -> None:
    env = GameEnv(anygame.loads(STUCK), role="one")
    env.reset()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["stuck"]) == (0.0, False, True, "two")


# -- what is refused -------------------------------------------------------------------------------


def test_a_masked_action_is_refused_with_the_reason() -> None:
    env = GameEnv("tic_tac_toe", opponents=["legal"])
    env.reset()
    env.step(4)
    with pytest.raises(anygame.IllegalMoveError, match=r"4, \(mark 2 2\), is not legal for x: the"):
        env.step(4)
    many = GameVectorEnv(3, "tic_tac_toe", opponents=["legal"])
    many.reset()
    before, _, _, _, _ = many.step(np.array([4, 4, 5]))
    with pytest.raises(anygame.IllegalMoveError, match=r"lane 2: 5, \(mark 2 3\), is not legal for x"):
        many.step(np.array([3, 3, 5]))
    for wrong in ([1, 2], [1.0, 2.0, 3.0], "abc"):
        with pytest.raises(ValueError, match="expected 3 integers, one per lane"):
            many.step(wrong)
    assert (many.step(np.array([3, 3, 3]))[0] != before).any()


def test_an_illegal_action_may_stand_for_a_random_one() -> None:
    many = GameVectorEnv(3, "tic_tac_toe", illegal="random")
    many.reset(seed=1)
    many.step(np.array([4, 4, 5]))
    many.step(np.array([4, -1, 99]))


def test_steps_before_and_after_a_match_are_refused() -> None:
    env = GameEnv(anygame.loads(GUESS))
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    env.step(0)
    with pytest.raises(anygame.IllegalMoveError, match="the match is over"):
        env.step(0)
    many = GameVectorEnv(2, anygame.loads(GUESS), autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded):
        many.step(np.array([0, 0]))
    many.reset()
    many.step(np.array([0, 0]))
    with pytest.raises(anygame.IllegalMoveError, match="the match of lane 0 is over"):
        many.step(np.array([0, 0]))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"role": "z"}, "no role is called z"),
        ({"opponents": ["random", "random"]}, r"an opponent for each of the other roles \(o\), found 2"),
        ({"opponents": "random"}, r"an opponent for each of the other roles \(o\), found the text 'random'"),
        ({"opponents": {"x": "random"}}, "x cannot have an opponent"),
        ({"opponents": ["rndom"]}, "there is no player 'rndom'; did you mean random"),
        ({"opponents": [3]}, "opponents must be players, names or functions, not int"),
        ({"mask": "nowhere"}, "mask must be one of info, observation"),
        ({"rewards": "many"}, "rewards must be one of"),
        ({"render_mode": "movie"}, "render mode must be one of"),
        ({"illegal": "ignore"}, "illegal must be one of error, random"),
        ({"max_steps": 0}, "at least one joint move"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        GameEnv("tic_tac_toe", **arguments)
    with pytest.raises(ValueError, match=told):
        GameVectorEnv(2, "tic_tac_toe", **arguments)


def test_other_wrong_use_is_refused() -> None:
    with pytest.raises(anygame.PlayerError, match=r"cannot play .*, which hides information"):
        GameEnv("kuhn_poker", opponents=["greedy"])
    with pytest.raises(ValueError, match="random is played at random"):
        GameEnv("monty_hall", role="random")
    with pytest.raises(anygame.PlayerError, match="plays one match at a time: give the player by name"):
        GameVectorEnv(2, "tic_tac_toe", opponents=[_First()]).reset()
    env = GameEnv("tic_tac_toe", role="x", opponents=[_First()])
    env.reset()
    with pytest.raises(anygame.IllegalMoveError, match="which is not legal for o"):
        env.step(0)
    many = GameVectorEnv(2, "tic_tac_toe")
    with pytest.raises(ValueError, match="expected a reset_mask of 2 truth values"):
        many.reset(options={"reset_mask": np.zeros(2, np.bool_)})
    with pytest.raises(ValueError, match="reset has no option 'rest_mask'; the only option is reset_mask"):
        many.reset(options={"rest_mask": np.ones(2, np.bool_)})
    with pytest.raises(ValueError, match="expected one integer as the seed"):
        many.reset(seed=[1, 2])  # type: ignore[arg-type]


class _First(Player):
    """Plays what is legal at the start alone."""

    def move(self, state: anygame.State, clock: Clock) -> anygame.Term:
        return self.game.actions(self.role)[0]
