"""Environments of JAX: the states that lanes have, under its transformations, with the contract of pgx."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.envs.sheets import OVER
from tests.game.sheets import BIDS, SHEETS
from tests.network.evaluate import evaluate_moves, evaluate_state

import anygame
from anygame.envs.rewards import Rewards, rewards_of_goals

jax = pytest.importorskip("jax", reason="environments of JAX need the extra `jax`")

from anygame.envs import jax as envs  # noqa: E402
from anygame.envs.jax.environment import rewards_for_illegal  # noqa: E402
from anygame.envs.jax.evaluation import evaluator, tabulate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anygame.envs.rewards import RewardName

slow = pytest.mark.slow
#: Turns, chance, players who act together. Cycles of gates and wide gates are slow; the rest take longer.
_QUICK = ("tic_tac_toe", "pig", "rock_paper_scissors")
_SLOW = ("hex_pie", "capture_chess")
_SHEETS = [
    name if name in _QUICK else pytest.param(name, marks=slow if name in _SLOW else pytest.mark.long)
    for name in sorted(path.stem for path in SHEETS.glob("*.kif"))
]
#: Matches that are compared at a time.
_GAMES = 8


@pytest.fixture(scope="module")
def tic_tac_toe() -> envs.Environment:
    return envs.load("tic_tac_toe", rewards="zero-sum")


def _key(number: int = 0) -> Any:
    return jax.random.key(number)


def _bits(columns: Any) -> list[int]:
    return [sum(1 << lane for lane in np.flatnonzero(column).tolist()) for column in columns.T]


# -- the states of lanes ---------------------------------------------------------------------------------


def agree(game: anygame.Game, steps: int, games: int = _GAMES) -> None:
    """Play random matches in lanes and in environments, and compare all that a state says."""
    turns = envs.load(game, observations="flat", reveal=True)
    joint = envs.load(game, rewards="goals", reveal=True, simultaneous=True)
    look = jax.jit(jax.vmap(lambda fluents: (turns._begin(fluents), joint._begin(fluents))))
    step, move = jax.jit(jax.vmap(joint.step)), jax.jit(jax.vmap(joint._move))
    batch = game.batch(games, seed=1)
    for _ in range(steps):
        before, going = batch.observation(), ~(batch.terminal | batch.stuck)
        seen = look(before)
        _compare(game, turns, batch, seen[0])
        _compare(game, joint, batch, seen[1])
        chosen = batch.step_random()
        if joint.is_random:
            does = [np.arange(len(game.actions(role))) == chosen[role][:, None] for role in game.roles]
            after = np.asarray(move(np.concatenate([before, *does], axis=1)))
            assert (after[going] == batch.observation()[going]).all()
        else:
            after = step(seen[1], _numbers(joint, chosen))
            _compare(game, joint, batch, after)
            goals = np.stack([np.nan_to_num(batch.goals(role)) for role in joint.players], axis=1)
            ended = (batch.terminal & going)[:, None]
            assert (np.asarray(after.rewards) == np.float32(goals) * ended).all()
        batch.reset(batch.terminal | batch.stuck)


def _numbers(env: envs.Environment, chosen: dict[str, Any]) -> Any:
    """Return actions [games, players] of an environment for the moves of lanes."""
    tables = [np.append(_of_role(env, role), 0) for role in env.players]
    return np.stack(
        [table[chosen[role]] for table, role in zip(tables, env.players, strict=True)], axis=1
    ).astype(np.int32)


def _of_role(env: envs.Environment, role: str) -> list[int]:
    """Return the numbers of the moves of a role in the environment."""
    return [env.actions.index(move) for move in env.game.actions(role)]


def _compare(game: anygame.Game, env: envs.Environment, batch: anygame.Batch, states: envs.State) -> None:
    assert (np.asarray(states._fluents) == batch.observation()).all()
    assert (np.asarray(states.terminated) == batch.terminal).all()
    going = ~(np.asarray(states.terminated) | np.asarray(states.truncated))
    assert not (going & batch.stuck).any()
    legal = np.concatenate([batch.legal_mask(role) for role in game.roles], axis=1)
    assert (np.asarray(states._legal) == legal).all()
    masks = np.asarray(states.legal_action_mask)
    assert masks[~going].all()
    players = np.asarray(states.current_player)
    for index, role in enumerate(env.players):
        wide = np.zeros((batch.lanes, env.num_actions), np.bool_)
        wide[:, _of_role(env, role)] = batch.legal_mask(role)
        if isinstance(env, envs.SimultaneousEnvironment):
            assert (masks[going, index] == wide[going]).all()
        else:
            mine = going & (players == index)
            assert (masks[mine] == wide[mine]).all()


@pytest.mark.parametrize("name", _SHEETS)
def test_states_are_those_of_lanes(name: str) -> None:
    agree(anygame.load(SHEETS / f"{name}.kif"), steps=12)


@pytest.mark.long
def test_states_of_public_sheets_are_those_of_lanes(corpus: Path) -> None:
    """All that have a network within seconds: more than forty."""
    compared = 0
    for path in sorted((corpus / "rules").glob("*.kif")):
        game = anygame.load(path, lenient=True)
        if game.compile(seconds=5) and not all(role.is_random for role in game.roles):
            agree(game, steps=6)
            compared += 1
    assert compared > 40


@pytest.mark.parametrize("name", [pytest.param("hex_pie", marks=slow), "tic_tac_toe", "pig"])
def test_gates_have_the_values_of_plain_evaluation(name: str) -> None:
    network = anygame.load(name).backends.needed_network().compiled.network
    fluents, total = network.fluents, network.fluents + sum(network.actions)
    values = np.random.default_rng(1).random((70, total)) < 0.3
    nodes = evaluate_state(network, _bits(values[:, :fluents]), 70)
    seen = [*network.legal.tolist(), network.terminal]
    expected = [nodes.literal(literal) for literal in seen]
    for block in (3, 32, 1000):
        look = jax.jit(jax.vmap(evaluator(tabulate(network, fluents, seen, block))))
        assert _bits(np.asarray(look(values[:, :fluents]))) == expected
    after = evaluate_moves(network, nodes, _bits(values[:, fluents:]))
    move = evaluator(tabulate(network, total, network.next.tolist(), 32))
    found = np.asarray(jax.jit(jax.vmap(move))(values))
    assert _bits(found) == after
    # One at a time, and batches of batches.
    assert (np.asarray(jax.jit(move)(values[3])) == found[3]).all()
    nested = jax.jit(jax.vmap(jax.vmap(move)))(values.reshape(7, 10, total))
    assert (np.asarray(nested).reshape(70, -1) == found).all()


# -- the contract ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", *(pytest.param(name, marks=slow) for name in ("pig", "three_player_chomp"))]
)
def test_pgx_finds_nothing_wrong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pgx", reason="pgx tests the contract")
    from pgx._src import api_test

    env = envs.load(name)
    # It knows the names of its own games alone, and draws moves along an axis that one state has not.
    monkeypatch.setattr(api_test, "get_args", lambda _: (env.id,))
    monkeypatch.setattr(api_test, "act_randomly", jax.jit(_random_action))
    api_test.api_test(env, 2)


def _random_action(key: Any, mask: Any) -> Any:
    return jax.random.categorical(key, jax.numpy.where(mask, 0.0, -np.inf), axis=-1)


def _play(env: envs.Environment, moves: Sequence[str]) -> list[envs.State]:
    names = list(map(str, env.actions))
    step = jax.jit(env.step)
    states = [env.init(_key())]
    for move in moves:
        states.append(step(states[-1], names.index(move)))
    return states


def test_a_match_is_played_to_its_end(tic_tac_toe: envs.Environment) -> None:
    moves = ["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)", "(mark 1 3)"]
    states = _play(tic_tac_toe, moves)
    assert [int(state.current_player) for state in states[:-1]] == [0, 1, 0, 1, 0]
    assert [int(state._step_count) for state in states] == [0, 1, 2, 3, 4, 5]
    assert [int(state.legal_action_mask.sum()) for state in states] == [9, 8, 7, 6, 5, 10]
    assert [bool(state.terminated) for state in states] == [False] * 5 + [True]
    assert states[-1].rewards.tolist() == [1.0, -1.0]
    assert not states[-1].truncated
    after = jax.jit(tic_tac_toe.step)(states[-1], 3)
    assert after.terminated
    assert after.rewards.tolist() == [0.0, 0.0]
    assert after._step_count == 5
    assert (after.observation == states[-1].observation).all()
    assert "x" in states[-1].to_svg()


def test_rewards_are_goals_unless_they_are_to_sum_to_nothing() -> None:
    states = _play(
        envs.load("tic_tac_toe"), ["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)", "(mark 1 3)"]
    )
    assert [state.rewards.tolist() for state in states[-2:]] == [[0.0, 0.0], [1.0, 0.0]]
    assert states[-1].rewards.dtype == np.float32
    illegal = rewards_for_illegal("zero-sum", jax.numpy.array([False, True, False]))
    assert illegal.tolist() == [0.5, -1.0, 0.5]


@pytest.mark.parametrize("name", ["scaled", "goals", "zero-sum"])
@pytest.mark.parametrize("goals", [(100.0, 50.0, 0.0), (30.0, np.nan, 100.0)])
def test_rewards_are_those_of_the_other_environments(name: RewardName, goals: tuple[float, ...]) -> None:
    others = Rewards(anygame.load("three_player_chomp"), name).of(goals)
    assert rewards_of_goals(name, jax.numpy.array(goals), jax.numpy).tolist() == pytest.approx(
        others.tolist()
    )


@pytest.mark.parametrize(
    ("name", "rewards"), [("zero-sum", [1.0, -1.0]), ("goals", [0.0, -100.0]), ("scaled", [0.0, -1.0])]
)
def test_an_illegal_action_ends_the_match(name: RewardName, rewards: list[float]) -> None:
    env = envs.load("tic_tac_toe", rewards=name)
    step = jax.jit(jax.vmap(env.step, in_axes=(0, 0)))
    before = _play(env, ["(mark 1 1)"])[-1]
    before = jax.tree.map(lambda leaf: jax.numpy.stack([leaf] * 5), before)
    state = step(before, np.array([0, 9, 10, -1, 1000]))
    assert state.terminated.all()
    assert state.rewards.tolist() == [rewards] * 5
    assert state.legal_action_mask.all()
    assert (state._fluents == before._fluents).all()
    assert not step(state, np.full(5, 3)).rewards.any()


@slow
@pytest.mark.parametrize("number", [np.int64((1 << 32) + 1), np.array(1 << 40), np.uint64((1 << 63) + 1)])
def test_numbers_are_read_whole(number: Any) -> None:
    env = envs.load("tic_tac_toe")
    assert env.step(env.init(jax.random.key(0)), number).terminated
    assert not env.step(env.init(jax.random.key(0)), np.int64(1)).terminated


def test_chance_plays_with_the_key() -> None:
    env = envs.load("pig")
    assert env.is_random
    state = env.init(_key())
    with pytest.raises(
        ValueError, match=r"pig has a role `random`: step\(state, action, key\) needs the key"
    ):
        env.step(state, 0)
    # One player rolls; then the die falls, on each of six sides as often, while both wait.
    names = list(map(str, env.actions))
    step = jax.jit(jax.vmap(env.step))
    states = jax.vmap(env.init)(jax.random.split(_key(), 600))
    for action in ("roll", "noop"):
        states = step(states, np.full(600, names.index(action)), jax.random.split(_key(1), 600))
    assert not states.terminated.any()
    _, counts = np.unique(np.asarray(states._fluents), axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 60


def test_players_act_together() -> None:
    game = anygame.loads(BIDS)
    env = envs.load(game)
    assert isinstance(env, envs.SimultaneousEnvironment)
    state = env.init(_key())
    assert int(state.current_player) == -1
    names = list(map(str, env.actions))
    assert state.legal_action_mask.shape == (2, len(names)) == (2, 3)
    one, two = names.index("(bid 1)"), names.index("(bid 2)")
    step = jax.jit(env.step)
    for left, right in [(one, two), (two, two), (two, one)]:
        assert not state.terminated
        state = step(state, jax.numpy.array([left, right]))
    assert state.terminated
    assert state.rewards.tolist() == [1.0, 0.0]
    again = step(env.init(_key()), jax.numpy.array([one, names.index("pass")]))
    assert again.terminated
    assert again.rewards.tolist() == [0.0, -1.0]
    with pytest.raises(anygame.SimultaneousMovesError, match="left and right choose at the same time"):
        envs.load(game, simultaneous=False)
    with pytest.raises(ValueError, match="need a current player"):
        envs.load(game, observations="relative")


def test_a_stuck_match_is_truncated() -> None:
    sheet = "(role a) (legal a go) (legal a stay) (init (here x)) (<= terminal (true never))"
    env = envs.load(anygame.loads(f"{sheet} (role b)", name="stuck"))
    state = env.init(_key())
    assert bool(state.truncated)
    assert not state.terminated
    assert state.legal_action_mask.all()


@slow
def test_a_match_that_somebody_cuts_stays_cut() -> None:
    env = envs.load("tic_tac_toe")
    cut = env.init(_key()).replace(truncated=jax.numpy.bool_(True))
    after = jax.jit(env.step)(cut, 0)
    assert after.truncated
    assert (after._fluents == cut._fluents).all()
    assert after._step_count == 0


def test_a_forced_move_is_its_players() -> None:
    """The last cell of a board is marked by the one whose turn it is, though both have one move."""
    moves = "(mark 1 1)", "(mark 1 2)", "(mark 1 3)", "(mark 2 2)", "(mark 2 1)"
    rest = "(mark 2 3)", "(mark 3 2)", "(mark 3 1)"
    env = envs.load("tic_tac_toe")
    states = _play(env, [*moves, *rest])
    assert [int(state.current_player) for state in states] == [0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert states[-1].legal_action_mask.sum() == 1


# -- observations ----------------------------------------------------------------------------------------


def _shown(env: envs.Environment, state: envs.State) -> set[str]:
    return {str(env.fluents[index]) for index in np.flatnonzero(state.observation[: len(env.fluents)])}


def test_each_player_looks_as_if_it_were_the_first() -> None:
    env = envs.load("tic_tac_toe")
    first, second = _play(env, ["(mark 1 1)"])
    assert "(control x)" in _shown(env, first)
    assert {"(control x)", "(cell 1 1 o)"} <= _shown(env, second)
    assert [state.observation[-2:].tolist() for state in (first, second)] == [[True, False], [False, True]]
    assert env.observation_shape == (len(env.fluents) + 2,)
    assert (env.observe(second, 0)[-2:] == np.array([True, False])).all()


@slow
def test_observations_may_be_planes_or_anything() -> None:
    env = envs.load("tic_tac_toe", observations="planes")
    assert env.observation_shape == (3, 3, 7)
    layout = env.game.batch(1).plane_layout
    planes = {
        name: _play(env, ["(mark 1 2)"])[-1].observation[:, :, n] for n, name in enumerate(layout.channels)
    }
    assert np.argwhere(planes["(cell ? ? o)"]).tolist() == [[0, 1]]
    assert planes["(cell ? ? b)"].sum() == 8
    assert planes["(control x)"].all()
    own = envs.load("tic_tac_toe", observations=lambda fluents, player: fluents.sum() + player)
    assert int(own.init(_key()).observation) == 10
    plain = envs.load("tic_tac_toe", observations="flat")
    assert (plain.init(_key()).observation == plain.game.batch(1).observation()[0]).all()


# -- hidden information ----------------------------------------------------------------------------------


def _seen(env: envs.Environment, seen: Any) -> set[str]:
    assert env.percepts is not None
    return {str(env.percepts[index]) for index in np.flatnonzero(seen[: len(env.percepts)])}


@pytest.mark.parametrize(
    "name", ["monty_hall", *(pytest.param(name, marks=slow) for name in ("kuhn_poker", "dark_hex"))]
)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_players_observe_percepts_since_their_last_choice(name: str, simultaneous: bool) -> None:
    env = envs.load(name, observations="flat", simultaneous=simultaneous)
    step = jax.jit(env.step)
    met: set[str] = set()
    for seed in range(4):
        random = Random(seed)
        state = env.init(_key())
        plain = env.game.initial_state()
        known: list[set[str]] = [set() for _ in env.players]
        for turn in range(12):
            if state.terminated:
                break
            legal = [sorted(map(env.actions.index, plain.legal_moves(role))) for role in env.players]
            chosen = [*map(random.choice, legal)]
            action = np.array(chosen) if simultaneous else chosen[int(state.current_player)]
            after = step(state, action, _key(100 * seed + turn))
            joint = _joint_between(env, plain, chosen, after)
            for player, role in enumerate(env.players):
                kept = known[player] if len(plain.legal_moves(role)) == 1 else set()
                known[player] = kept | {str(term) for term in plain.percepts(joint)[role]}
                met |= known[player]
            plain, state = plain.next(joint), after
            for player in range(env.num_players):
                assert _seen(env, env.observe(state, player)) == known[player]
                if simultaneous:
                    assert _seen(env, state.observation[player]) == known[player]
            if not simultaneous:
                assert _seen(env, state.observation) == known[int(state.current_player)]
    assert met


def _joint_between(
    env: envs.Environment, state: anygame.State, chosen: Sequence[int], after: envs.State
) -> list[anygame.Term]:
    """Return the joint move that led to a state, in which chance may have had its part."""
    facts = {fact for fact, holds in zip(env.fluents, np.asarray(after._fluents), strict=True) if holds}
    players = iter(chosen)
    options = [
        list(state.legal_moves(role)) if role.is_random else [env.actions[next(players)]]
        for role in env.game.roles
    ]
    return next(list(joint) for joint in product(*options) if state.next(joint).facts == facts)


@slow
def test_every_player_observes_its_card_as_the_first_player_does() -> None:
    env = envs.load("kuhn_poker")
    assert env.percepts is not None
    step = jax.jit(env.step)
    first = env.init(_key())
    for number in range(2):
        first = step(first, int(np.flatnonzero(first.legal_action_mask)[0]), _key(number))
    assert int(first.current_player) == 0
    card = next(text for text in _seen(env, first.observation) if text.startswith("(card player1"))
    assert first.observation[-2:].tolist() == [True, False]
    # The second player's own card is at the place that the first player's has.
    other = env.observe(first, 1)
    assert any(text.startswith("(card player1") for text in _seen(env, other))
    assert card not in _seen(env, other)
    assert other[-2:].tolist() == [False, True]


# -- wrappers and searches -------------------------------------------------------------------------------


def test_finished_matches_restart(tic_tac_toe: envs.Environment) -> None:
    step = jax.jit(envs.auto_reset(tic_tac_toe))
    state = _play(tic_tac_toe, ["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)"])[-1]
    state = step(state, 2, _key())
    assert state.terminated
    assert state.rewards.tolist() == [1.0, -1.0]
    assert state.legal_action_mask.sum() == 9
    assert state._step_count == 0
    state = step(state, 0, _key())
    assert not state.terminated
    assert state.rewards.tolist() == [0.0, 0.0]
    assert state._step_count == 1


def test_a_match_that_begins_with_its_end_is_not_played() -> None:
    env = envs.load(anygame.loads(OVER))
    step = jax.jit(envs.auto_reset(env))
    state = env.init(_key())
    assert state.terminated
    for action in (1, 0, 1):
        state = step(state, action, _key())
        assert (bool(state.terminated), state.rewards.tolist(), int(state._step_count)) == (
            True,
            [0.0, 0.0],
            0,
        )
        assert state._fluents.tolist() == [True]


@slow
def test_a_scan_of_a_match_is_as_long_as_is_proved(tic_tac_toe: envs.Environment) -> None:
    assert tic_tac_toe.most_moves == 10
    # A walk in a circle.
    rules = "(role a) (init (at 1)) (to 1 2) (to 2 1) (legal a go) (legal a on) (<= terminal (true (at 3)))"
    game = anygame.loads(f"{rules} (<= (next (at ?y)) (true (at ?x)) (to ?x ?y)) (goal a 100)")
    assert envs.load(game).most_moves is None


@slow
def test_all_lanes_play_in_one_scan(tic_tac_toe: envs.Environment) -> None:
    one_step = jax.vmap(envs.auto_reset(tic_tac_toe))

    def play(state: Any, key: Any) -> Any:
        choosing, moving = jax.random.split(key)
        state = one_step(
            state, _random_action(choosing, state.legal_action_mask), jax.random.split(moving, 300)
        )
        return state, (state.terminated, state.rewards)

    begin = jax.vmap(tic_tac_toe.init)(jax.random.split(_key(), 300))
    _, (ended, rewards) = jax.jit(lambda s, k: jax.lax.scan(play, s, k))(begin, jax.random.split(_key(), 40))
    won = np.asarray(rewards)[np.asarray(ended)][:, 0]
    # Of random matches x wins 58.5 %, o 28.8 %.
    assert len(won) > 1000
    assert 0.5 < (won == 1).mean() < 0.67
    assert 0.2 < (won == -1).mean() < 0.37


@slow
def test_a_search_of_mctx_finds_a_win(tic_tac_toe: envs.Environment) -> None:
    mctx = pytest.importorskip("mctx", reason="mctx searches in environments")
    jnp = jax.numpy

    def recurrent(_: Any, key: Any, action: Any, states: Any) -> Any:
        del key
        player = states.current_player
        after = jax.vmap(tic_tac_toe.step)(states, action)
        reward = jnp.take_along_axis(after.rewards, player[:, None], axis=1)[:, 0]
        logits = jnp.where(after.legal_action_mask, 0.0, -1e9)
        discount = jnp.where(after.terminated, 0.0, -1.0)
        none = jnp.zeros_like(reward)
        return mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=none
        ), after

    state = _play(tic_tac_toe, ["(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)"])[-1]
    states = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), state)
    logits = jnp.where(states.legal_action_mask, 0.0, -1e9)
    root = mctx.RootFnOutput(prior_logits=logits, value=jnp.zeros(2), embedding=states)
    search = jax.jit(
        lambda key: mctx.gumbel_muzero_policy(
            None, key, root, recurrent, 32, invalid_actions=~states.legal_action_mask
        )
    )
    assert [str(tic_tac_toe.actions[action]) for action in search(_key()).action] == ["(mark 1 3)"] * 2


# -- what is refused -------------------------------------------------------------------------------------


def test_games_that_cannot_be_environments_raise_errors() -> None:
    with pytest.raises(ValueError, match="has no role besides `random`"):
        envs.load(anygame.loads("(role random) (legal random go)"))
    with pytest.raises(ValueError, match="zero-sum rewards need two roles or more"):
        envs.load("lights_out", rewards="zero-sum")
    with pytest.raises(ValueError, match="must be flat, relative, planes, or a function, not 'x'"):
        envs.load("tic_tac_toe", observations="x")
    with pytest.raises(anygame.LimitError, match=r"has \d+ gate inputs; `largest` allows 20"):
        envs.load("tic_tac_toe", largest=20)
    env = envs.load("rock_paper_scissors")
    state = env.init(_key())
    with pytest.raises(ValueError, match=r"expected 2 integers, .* found int\d+ of shape \(\)"):
        env.step(state, 0)
    other = envs.load("tic_tac_toe")
    with pytest.raises(ValueError, match="the state belongs to rock_paper_scissors, not to tic_tac_toe"):
        other.step(state, 0)
    with pytest.raises(ValueError, match=r"expected an integer, .* found float32 of shape \(\)"):
        other.step(other.init(_key()), 0.5)
    with pytest.raises(ValueError, match=r"kuhn_poker hides information .* reveal=True"):
        envs.load("kuhn_poker", observations="planes")
