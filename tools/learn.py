"""Learn a game from its rules alone: Gumbel AlphaZero on a compiled sheet, in one file to adapt.

    python tools/learn.py tic_tac_toe --minutes 2
    python tools/learn.py connect_four_small --minutes 10 --curve curve.svg
    python tools/learn.py hex_5x5 --minutes 10 --curve curve.svg

Needs the extra ``learn``. The network plays itself in many games at once, each move chosen by a search with
it (Danihelka, Guez, Schrittwieser and Silver 2022, "Policy improvement by planning with Gumbel"), and learns
what the search preferred and how the games ended (Silver et al. 2018, "A general reinforcement learning
algorithm that masters chess, shogi, and Go through self-play"). Now and then it plays an opponent, both roles
in turn; the clock stands still meanwhile. A curve shows the mean share of the points, draws as halves.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import optax

import anygame
from anygame.envs.jax import auto_reset, load
from anygame.players import Clock, make_player

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.small_boards import find_game

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.envs.jax import Environment, State

#: What no legal move has, as a logit.
_NEVER = -1e9


# -- the network and the search --------------------------------------------------------------------------


def new_network(key: Any, inputs: int, actions: int, width: int, blocks: int) -> Any:
    """Return the parameters of a residual network over flat observations."""

    def dense(key: Any, rows: int, columns: int, scale: float = 1.0) -> Any:
        return scale * jax.random.normal(key, (rows, columns)) / rows**0.5, jnp.zeros(columns)

    keys = iter(jax.random.split(key, 4 + 2 * blocks))
    return {
        "in": dense(next(keys), inputs, width),
        "blocks": [
            (dense(next(keys), width, width, 2**0.5), dense(next(keys), width, width, 0.5))
            for _ in range(blocks)
        ],
        "policy": dense(next(keys), width, actions, 0.1),
        "value": (dense(next(keys), width, 32), dense(next(keys), 32, 1, 0.1)),
    }


def evaluate(network: Any, seen: Any) -> tuple[Any, Any]:
    """Return logits [games, actions] and values [games], -1 to 1, of observations [games, ...]."""

    def dense(layer: Any, flow: Any) -> Any:
        return flow @ layer[0] + layer[1]

    flow = dense(network["in"], 2.0 * seen.reshape(len(seen), -1).astype(jnp.float32) - 1.0)
    for first, second in network["blocks"]:
        flow = flow + dense(second, jax.nn.relu(dense(first, jax.nn.standardize(flow))))
    flow = jax.nn.relu(jax.nn.standardize(flow))
    first, second = network["value"]
    value = dense(second, jax.nn.relu(dense(first, flow)))
    return dense(network["policy"], flow), jnp.tanh(value[:, 0])


class Learner:
    """A game, a network that plays it, and what it learns by."""

    def __init__(self, env: Environment, options: argparse.Namespace) -> None:
        self.env = env
        self.options = options
        self.optimiser = optax.adamw(options.rate, weight_decay=1e-4)
        self.step = jax.vmap(auto_reset(env))
        self.move = jax.vmap(env.step)
        inputs = prod(env.observation_shape)
        key = jax.random.key(options.seed)
        self.parameters = new_network(key, inputs, env.num_actions, options.width, options.blocks)
        self.moments = self.optimiser.init(self.parameters)
        self.one_step = jax.jit(env.step)
        self.iterate = jax.jit(self._iterate)
        self.decide = jax.jit(partial(self._search, simulations=options.match_simulations))

    def _search(self, parameters: Any, states: State, key: Any, simulations: int) -> Any:
        """Return what a search finds from some states: the output of mctx."""
        logits, values = evaluate(parameters, states.observation)
        # Where a match has just ended, the next one begins: nothing has ended there.
        going = jnp.zeros_like(states.terminated)
        begin = states.replace(terminated=going, truncated=going)
        root = mctx.RootFnOutput(prior_logits=_legal(logits, states), value=values, embedding=begin)
        illegal = ~states.legal_action_mask
        return mctx.gumbel_muzero_policy(parameters, key, root, self._look_ahead, simulations, illegal)

    def _look_ahead(self, parameters: Any, key: Any, actions: Any, states: State) -> Any:
        after = self.move(states, actions, jax.random.split(key, len(actions)))
        logits, values = evaluate(parameters, after.observation)
        mover = states.current_player[:, None]
        reward = jnp.take_along_axis(after.rewards, mover, axis=1)[:, 0]
        ended = after.terminated | after.truncated
        sign = jnp.where(after.current_player == states.current_player, 1.0, -1.0)
        found = mctx.RecurrentFnOutput(
            reward=reward,
            discount=jnp.where(ended, 0.0, sign),
            prior_logits=_legal(logits, after),
            value=jnp.where(ended, 0.0, values),
        )
        return found, after

    def _iterate(self, parameters: Any, moments: Any, states: State, key: Any) -> Any:
        """Play some moves in all games, then learn from them."""
        playing, shuffling = jax.random.split(key)
        keys = jax.random.split(playing, self.options.moves)
        states, played = jax.lax.scan(partial(self._play, parameters), states, keys)
        batch = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), _with_returns(played))
        size, count = self.options.batch, len(batch.known)
        keys = jax.random.split(shuffling, self.options.passes)
        orders = jax.vmap(lambda key: jax.random.permutation(key, count))(keys)
        order = orders[:, : count // size * size].reshape(-1, size)

        def learn(carried: Any, chosen: Any) -> Any:
            parameters, moments = carried
            some = jax.tree.map(lambda leaf: leaf[chosen], batch)
            loss, slope = jax.value_and_grad(self._loss)(parameters, some)
            updates, moments = self.optimiser.update(slope, moments, parameters)
            return (optax.apply_updates(parameters, updates), moments), loss

        (parameters, moments), losses = jax.lax.scan(learn, (parameters, moments), order)
        return parameters, moments, states, losses.mean()

    def _play(self, parameters: Any, states: State, key: Any) -> tuple[State, Played]:
        searching, moving = jax.random.split(key)
        found = self._search(parameters, states, searching, self.options.simulations)
        after = self.step(states, found.action, jax.random.split(moving, len(found.action)))
        mover = states.current_player
        mine = jnp.take_along_axis(after.rewards, mover[:, None], axis=1)[:, 0]
        ended = after.terminated | after.truncated
        seen, legal = states.observation, states.legal_action_mask
        return after, Played(seen, legal, found.action_weights, mover, mine, ended)

    def _loss(self, parameters: Any, some: Played) -> Any:
        logits, values = evaluate(parameters, some.seen)
        logits = jnp.where(some.legal, logits, _NEVER)
        policy = optax.softmax_cross_entropy(logits, some.weights).mean()
        return policy + (some.known * (values - some.returns) ** 2).mean()


class Played(NamedTuple):
    """Moves of many games, in arrays that begin [moves, games]."""

    seen: Any
    legal: Any
    weights: Any
    mover: Any
    reward: Any
    ended: Any
    returns: Any = None
    known: Any = None


def _with_returns(played: Played) -> Played:
    """Add what each mover got at the end of its game; unknown where that game has not ended yet."""

    def back(after: Any, here: Played) -> Any:
        mover, returns, known = after
        sign = jnp.where(mover == here.mover, 1.0, -1.0)
        returns = jnp.where(here.ended, here.reward, sign * returns)
        known |= here.ended
        return (here.mover, returns, known), (returns, known)

    last = (played.mover[-1], jnp.zeros_like(played.reward[0]), jnp.zeros_like(played.ended[0]))
    _, (returns, known) = jax.lax.scan(back, last, played, reverse=True)
    return played._replace(returns=returns, known=known)


def _legal(logits: Any, states: State) -> Any:
    return jnp.where(states.legal_action_mask, logits, _NEVER)


# -- matches and the curve -------------------------------------------------------------------------------


def points(learner: Learner, opponent: anygame.Game, options: argparse.Namespace) -> float:
    """Return the mean share of the points against the opponent, from 0 to 1, the roles in turns."""
    won = [_match(learner, opponent, number, options) for number in range(options.matches)]
    return sum(won) / max(1, len(won))


def _match(learner: Learner, opponent: anygame.Game, number: int, options: argparse.Namespace) -> float:
    env, own = learner.env, number % 2
    player = make_player(options.opponent, seed=number)
    role = env.players[1 - own]
    player.start(opponent, role, Clock.of(60))
    key = jax.random.key(number)
    state = env.init(key)
    numbers = {str(move): index for index, move in enumerate(env.actions)}
    while not (state.terminated | state.truncated):
        key, searching, moving = jax.random.split(key, 3)
        if int(state.current_player) == own:
            one = jax.tree.map(lambda leaf: leaf[None], state)
            action = int(learner.decide(learner.parameters, one, searching).action_weights[0].argmax())
        else:
            facts = [fact for fact, holds in zip(env.fluents, state._fluents.tolist(), strict=True) if holds]
            action = numbers[str(player.move(opponent.state(facts), Clock.of(60)))]
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
    """Learn as the arguments say; return the exit status."""
    options = _parser().parse_args(arguments)
    game = find_game(options.game)
    learner = Learner(load(game, rewards="zero-sum"), options)
    if learner.env.num_players != 2:
        raise SystemExit(f"learn: {options.game} is for {learner.env.num_players} players, and this for two")
    opponent = find_game(options.game)
    if options.machine == "reasoner":
        source = game.program.source
        opponent = anygame.loads(source.text if source else str(game), name=game.name, machine="reasoner")
    key = jax.random.key(options.seed + 1)
    states = jax.vmap(learner.env.init)(jax.random.split(key, options.games))
    curve: list[tuple[float, int, float]] = []
    spent, iteration, next_look = 0.0, 0, 0.0
    while True:
        last = spent >= 60 * options.minutes
        if spent >= next_look or last:
            next_look = spent + 60 * options.minutes / options.looks
            curve.append((spent / 60, iteration, points(learner, opponent, options)))
            print("{:6.2f} min  iteration {:4}  points {:.3f}".format(*curve[-1]), flush=True)
        if last:
            break
        began = perf_counter()
        key, part = jax.random.split(key)
        found = learner.iterate(learner.parameters, learner.moments, states, part)
        learner.parameters, learner.moments, states, _ = jax.block_until_ready(found)
        spent, iteration = spent + perf_counter() - began, iteration + 1
    if options.curve:
        draw(curve, f"{options.game} against {options.opponent}", options.curve)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Learn a game for two who take turns by playing oneself.")
    add = parser.add_argument
    add("game", help="tic_tac_toe, connect_four_small, hex_5x5, or a rule sheet")
    add("--minutes", type=float, default=10.0, help="of learning, compilation among them (10)")
    add("--games", type=int, default=256, help="games at a time (256)")
    add("--moves", type=int, default=32, help="moves of each game between two times of learning (32)")
    add("--simulations", type=int, default=32, help="of a search while learning (32)")
    add("--match-simulations", type=int, default=64, help="of a search in matches (64)")
    add("--width", type=int, default=128, help="of the network (128)")
    add("--blocks", type=int, default=3, help="residual blocks of the network (3)")
    add("--batch", type=int, default=512, help="positions of a step of learning (512)")
    add("--passes", type=int, default=4, help="how often all positions are learned from (4)")
    add("--rate", type=float, default=1e-3, help="of learning (0.001)")
    add("--looks", type=int, default=5, help="how often matches are played, besides at the start (5)")
    add("--matches", type=int, default=20, help="at each look (20)")
    add("--opponent", default="uct:tries=200", help="in matches (uct:tries=200)")
    add(
        "--machine",
        choices=["reasoner", "network"],
        default="reasoner",
        help="of the opponent: a try of uct "
        "is one playout with the reasoner, the mean of 512 with the network (reasoner)",
    )
    add("--seed", type=int, default=1, help="of all random numbers (1)")
    add("--curve", metavar="FILE", help="draw the curve into an SVG or PNG file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
