"""Learn a game from its rules alone: Gumbel AlphaZero on a compiled sheet, as one script that you can adapt.

    python tools/learn.py connect_four_small --minutes 10 --curve curve.svg

Needs the extra ``learn``. The network plays many simultaneous games against itself, and chooses each move by
a search (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"). It learns the preferences of
the search and the results of the games (AlphaZero: Silver et al. 2018). At intervals, the network plays both
roles against an opponent; ``--minutes`` excludes these matches. The curve shows the mean share of the points;
a draw counts as half. With ``--ceiling``, a strong player replaces the network to show the possible share.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import namedtuple
from functools import partial
from math import cos, gcd, pi, prod
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import mctx
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from anygame.envs.jax import auto_reset, load
from anygame.errors import AnygameError
from anygame.players import Clock, make_player

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.small_boards import find_game

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame import Game
    from anygame.envs.jax import Environment, State

#: The logit of illegal moves; and the weight decay per step.
_NEVER, _DECAY = -1e9, 1e-4


def new_network(key: Any, env: Environment, width: int, blocks: int) -> Any:
    """Return the parameters of a residual network over flat observations."""

    def dense(key: Any, rows: int, columns: int, scale: float = 1.0) -> Any:
        return scale * jax.random.normal(key, (rows, columns)) / rows**0.5, jnp.zeros(columns)

    keys = iter(jax.random.split(key, 4 + 2 * blocks))
    return {
        "in": dense(next(keys), prod(env.observation_shape), width),
        "blocks": [
            (dense(next(keys), width, width, 2**0.5), dense(next(keys), width, width, 0.5))
            for _ in range(blocks)
        ],
        "policy": dense(next(keys), width, env.num_actions, 0.1),
        "value": (dense(next(keys), width, 32), dense(next(keys), 32, 1, 0.1)),
    }


def evaluate(network: Any, seen: Any) -> tuple[Any, Any]:
    """Return logits [games, actions] and values [games], from -1 to 1, given observations [games, ...]."""

    def dense(layer: Any, flow: Any) -> Any:
        return flow @ layer[0] + layer[1]

    flow = dense(network["in"], 2.0 * seen.reshape(len(seen), -1).astype(jnp.float32) - 1.0)
    for first, second in network["blocks"]:
        flow = flow + dense(second, jax.nn.relu(dense(first, jax.nn.standardize(flow))))
    flow = jax.nn.relu(jax.nn.standardize(flow))
    first, second = network["value"]
    value = dense(second, jax.nn.relu(dense(first, flow)))
    return dense(network["policy"], flow), jnp.tanh(value[:, 0])


#: Moves of many games, in arrays [moves, games, ...]; ``drawn`` marks random moves, not from the search.
Played = namedtuple("Played", "seen legal weights worth mover reward ended drawn")


class Learner:
    """A game, a network that plays the game, its games against itself, and its training data.

    Games and training data are split over the devices of JAX (cores); each device has the same network.
    """

    def __init__(self, env: Environment, options: argparse.Namespace) -> None:
        self.env, self.options = env, options
        self.optimiser = optax.scale_by_adam()
        self.step, self.move = jax.vmap(auto_reset(env)), jax.vmap(env.step)
        self.one_step = jax.jit(env.step)
        self.decide = jax.jit(partial(self._search, simulations=options.match_simulations, noise=0.0))
        self.devices = jax.devices()[: gcd(jax.device_count(), options.games, options.batch)]
        keys = jax.random.split(jax.random.key(options.seed), 1 + options.games)
        network = new_network(keys[0], env, options.width, options.blocks)
        states = jax.vmap(env.init)(keys[1:])
        like = (states.observation, states.legal_action_mask, jnp.zeros((1, env.num_actions)), jnp.zeros(1))
        kept = options.kept * options.moves * options.games
        lessons = tuple([jnp.zeros((kept, *leaf.shape[1:]), leaf.dtype) for leaf in like])
        cores, same, parts = Mesh(self.devices, "cores"), PartitionSpec(), PartitionSpec("cores")
        self.mind = jax.device_put((network, self.optimiser.init(network)), NamedSharding(cores, same))
        self.games = jax.device_put((states, lessons), NamedSharding(cores, parts))
        specs = {"in_specs": (same, parts, same, same), "out_specs": (same, parts)}
        spread = jax.shard_map(self._iterate, mesh=cores, check_vma=False, **specs)
        self._iterate_all = jax.jit(spread, donate_argnums=(0, 1))

    def iterate(self, number: int, rate: float) -> None:
        """Play some moves in all games, then learn from these moves and from earlier moves."""
        found = self._iterate_all(self.mind, self.games, number, rate)
        self.mind, self.games = jax.block_until_ready(found)

    def _search(self, network: Any, states: State, key: Any, simulations: int, noise: float) -> Any:
        """Return the output of a search of mctx from some states."""
        logits, values = evaluate(network, states.observation)
        # Ended games have restarted, so no state is terminal.
        going = jnp.zeros_like(states.terminated)
        begin, illegal = states.replace(terminated=going, truncated=going), ~states.legal_action_mask
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=begin)
        search = partial(mctx.gumbel_muzero_policy, gumbel_scale=noise)
        return search(network, key, root, self._look_ahead, simulations, illegal)

    def _look_ahead(self, network: Any, key: Any, actions: Any, states: State) -> Any:
        after = self.move(states, actions, jax.random.split(key, len(actions)))
        logits, values = evaluate(network, after.observation)
        ended = after.terminated | after.truncated
        sign = jnp.where(after.current_player == states.current_player, 1.0, -1.0)
        found = {"reward": _reward(after, states.current_player), "discount": jnp.where(ended, 0.0, sign)}
        logits = jnp.where(after.legal_action_mask, logits, _NEVER)
        found |= {"prior_logits": logits, "value": jnp.where(ended, 0.0, values)}
        return mctx.RecurrentFnOutput(**found), after

    def _iterate(self, mind: Any, games: Any, number: Any, rate: Any) -> Any:
        """Play and learn on one device, with its share of the games."""
        options, (states, lessons) = self.options, games
        key = jax.random.fold_in(jax.random.key(options.seed), number)
        keys = jax.random.split(jax.random.fold_in(key, jax.lax.axis_index("cores")), 1 + options.moves)
        states, played = jax.lax.scan(partial(self._play, mind[0]), states, keys[1:])
        new = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), learn_from(played, options.trust))
        count, batch = len(new[-1]), options.batch // len(self.devices)
        put = partial(jax.lax.dynamic_update_slice_in_dim, start_index=number % options.kept * count, axis=0)
        lessons = jax.tree.map(put, lessons, new)
        known = jnp.minimum(number + 1, options.kept) * count
        chosen = jax.random.randint(keys[0], (options.passes * count // batch, batch), 0, known)

        def learn(mind: Any, chosen: Any) -> Any:
            network, moments = mind
            slope = jax.grad(_loss)(network, *[leaf[chosen] for leaf in lessons])
            steps, moments = self.optimiser.update(jax.lax.pmean(slope, "cores"), moments)
            network = jax.tree.map(lambda old, step: old - rate * (step + _DECAY * old), network, steps)
            return (network, moments), None

        mind, _ = jax.lax.scan(learn, mind, chosen)
        return mind, (states, lessons)

    def _play(self, network: Any, states: State, key: Any) -> tuple[State, Played]:
        searching, choosing, drawing, moving = jax.random.split(key, 4)
        found = self._search(network, states, searching, self.options.simulations, 1.0)
        seen, legal, mover = states.observation, states.legal_action_mask, states.current_player
        drawn = jax.random.bernoulli(choosing, self.options.drawn, mover.shape)
        any_legal = jax.random.categorical(drawing, jnp.where(legal, 0.0, _NEVER))
        action = jnp.where(drawn, any_legal, found.action)
        after = self.step(states, action, jax.random.split(moving, len(action)))
        ended, worth = after.terminated | after.truncated, found.search_tree.summary().value
        of_mover = (worth, mover, _reward(after, mover), ended, drawn)
        return after, Played(seen, legal, found.action_weights, *of_mover)


def learn_from(played: Played, trust: float) -> tuple[Any, Any, Any, Any]:
    """Return the observations, legal actions, search policies and returns of many positions.

    A return mixes the value from the search with the result; ``trust`` is lambda (Sutton 1988, "Learning to
    predict by the methods of temporal differences"). If the result is still unknown, or the move was random,
    the return is the value from the search.
    """

    def back(after: Any, here: Played) -> Any:
        mover, returns = after
        came = jnp.where(here.ended, here.reward, jnp.where(mover == here.mover, returns, -returns))
        returns = jnp.where(here.drawn, here.worth, trust * came + (1 - trust) * here.worth)
        return (here.mover, returns), returns

    unknown = played.drawn.at[-1].set(played.drawn[-1] | ~played.ended[-1])
    last = (played.mover[-1], played.worth[-1])
    _, returns = jax.lax.scan(back, last, played._replace(drawn=unknown), reverse=True)
    return played.seen, played.legal, played.weights, returns


def _loss(network: Any, seen: Any, legal: Any, weights: Any, returns: Any) -> Any:
    logits, values = evaluate(network, seen)
    policy = optax.softmax_cross_entropy(jnp.where(legal, logits, _NEVER), weights)
    return (policy + (values - returns) ** 2).mean()


def _reward(after: State, mover: Any) -> Any:
    return jnp.take_along_axis(after.rewards, mover[:, None], axis=1)[:, 0]


def points(learner: Learner, opponent: Game, options: argparse.Namespace) -> float:
    """Return the mean share of the points against the opponent, from 0 to 1; roles alternate."""
    network = jax.device_put(learner.mind[0], learner.devices[0])
    return fmean(_match(learner, network, opponent, number) for number in range(options.matches))


def _match(learner: Learner, network: Any, opponent: Game, number: int) -> float:
    env, own, key = learner.env, number % 2, jax.random.key(number)
    games, names = [env.game, opponent], [learner.options.ceiling, learner.options.opponent]
    players = [name and make_player(name, seed=number) for name in names]
    for game, player, role in zip(games, players, [env.players[own], env.players[1 - own]], strict=True):
        if player:
            player.begin(game, role, Clock.of(60))
    state = env.init(key)
    while not (state.terminated | state.truncated):
        key, searching, moving = jax.random.split(key, 3)
        who = int(state.current_player) != own
        if player := players[who]:
            facts = [fact for fact, holds in zip(env.fluents, state._fluents.tolist(), strict=True) if holds]
            action = env.actions.index(player.move(games[who].state(facts), Clock.of(60)))
        else:
            one = jax.tree.map(lambda leaf: leaf[None], state)
            action = int(learner.decide(network, one, searching).action[0])
        state = learner.one_step(state, action, moving)
    return float(1 + state.rewards[own]) / 2


def draw(curve: Sequence[tuple[float, int, float]], title: str, path: str) -> None:
    """Draw the curve into a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="minutes", ylabel="share of the points", ylim=(0, 1.02))
    axes.axhline(0.75, color="grey", linewidth=0.8, linestyle="--")
    axes.plot([minutes for minutes, _, _ in curve], [share for *_, share in curve], marker="o")
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Learn a game; return the exit status."""
    options = _parser().parse_args(arguments)
    opponent, start = find_game(options.game, machine=options.machine), perf_counter()
    learner = Learner(load(find_game(options.game), rewards="zero-sum"), options)
    if (players := learner.env.num_players) != 2:
        raise SystemExit(f"learn: {options.game} is for {players} players, and this for two")
    print("learn: compiling, then matches of what has learned nothing yet", file=sys.stderr)
    curve: list[tuple[float, int, float]] = []
    spent, number, next_look, part = 0.0, 0, 0.0, 1.0 if options.ceiling else 0.0
    while True:
        if part >= next_look or part >= 1:
            next_look = part + 1 / options.looks
            curve.append((spent / 60, number, points(learner, opponent, options)))
            print("{:6.2f} min  iteration {:4}  points {:.3f}".format(*curve[-1]), flush=True)
            if options.curve:
                draw(curve, f"{options.game} against {options.opponent}", options.curve)
        if part >= 1:
            print(f"learn: {perf_counter() - start:.0f} s, {spent:.0f} of them learning", file=sys.stderr)
            return 0
        began = perf_counter()
        # At the end, small steps average out random results of the last games.
        learner.iterate(number, options.rate * (0.02 + 0.49 * (1 + cos(pi * part))))
        spent, number = spent + perf_counter() - began, number + 1
        part = spent / (60 * options.minutes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Learn a turn-taking game for two players by self-play.")
    add = parser.add_argument
    add("game", help="tic_tac_toe, connect_four_small, hex_5x5, or a rule sheet")
    add("--minutes", type=float, default=10.0, help="minutes of learning, without matches (10)")
    add("--games", type=int, default=256, help="simultaneous games (256)")
    add("--moves", type=int, default=16, help="moves of each game per iteration (16)")
    add("--simulations", type=int, default=16, help="simulations per search in self-play (16)")
    add("--drawn", type=float, default=0.2, help="fraction of random moves in self-play (0.2)")
    add("--match-simulations", type=int, default=256, help="simulations per search in matches (256)")
    add("--width", type=int, default=128, help="width of the network (128)")
    add("--blocks", type=int, default=3, help="residual blocks of the network (3)")
    add("--batch", type=int, default=512, help="positions per gradient step (512)")
    add("--kept", type=int, default=20, help="number of last iterations to learn from (20)")
    add("--passes", type=int, default=4, help="number of times that each position is used (4)")
    add("--trust", type=float, default=0.9, help="weight of results against search values (0.9)")
    add("--rate", type=float, default=2e-3, help="learning rate at the start (0.002)")
    add("--looks", type=int, default=5, help="number of match rounds after the first (5)")
    add("--matches", type=int, default=20, help="matches per round (20)")
    add("--opponent", default="uct:iterations=200", help="opponent in matches (uct:iterations=200)")
    add("--ceiling", metavar="PLAYER", help="play the matches with this player, and do not learn")
    add("--machine", choices=("reasoner", "network"), default="reasoner", help="opponent machine (reasoner)")
    add("--seed", type=int, default=1, help="seed of all random numbers (1)")
    add("--curve", metavar="FILE", help="draw the curve into an SVG or PNG file")
    return parser


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", len(os.sched_getaffinity(0)))
    try:
        sys.exit(main())
    except (AnygameError, KeyboardInterrupt) as error:
        sys.exit(f"learn: {str(error) or 'interrupted'}")
