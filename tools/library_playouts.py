"""Random playouts of one game in one library, in this process; print one line of JSON.

    python tools/library_playouts.py pgx connect_four --lanes 1024 --seconds 2 --repeats 3 --core 1
    python tools/library_playouts.py aec gdl/connect_four.kif --seconds 2 --repeats 3 --core 1

OpenSpiel has C++ games, and plays one game at a time through its Python interface. PettingZoo has classic
games in Python, and plays one at a time. The libraries pgx and Ludax have JAX games, and play many lanes at a
time. Sheets can be OpenSpiel games or JAX environments, too. Other environments for sheets are ``aec`` and
``parallel`` (PettingZoo), ``gymnasium`` and ``vector`` (Gymnasium, with random opponents; ``vector`` has many
lanes), and ``batch`` (lanes without a library).

``compare_libraries.py`` runs this tool, perhaps with the Python of another environment. So it needs only the
standard library and the game library (for sheets: anygame). A state is a move. In ``parallel`` and ``batch``,
it is a joint move, and in Gymnasium a move of the learner with the moves of its opponents.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    #: Function that plays for about the given seconds; returns states, playouts and seconds.
    Play: TypeAlias = Callable[[float], tuple[int, float, float]]

#: The distribution of each library.
DISTRIBUTIONS = {
    "open_spiel": "open-spiel",
    "sheet in open_spiel": "open-spiel",
    "pettingzoo": "pettingzoo",
    "pgx": "pgx",
    "sheet in jax": "jax",
    "ludax": "ludax",
    "aec": "pettingzoo",
    "parallel": "pettingzoo",
    "gymnasium": "gymnasium",
    "vector": "gymnasium",
    "batch": "numpy",
}


def open_spiel(game: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a game of OpenSpiel."""
    del lanes
    pyspiel = import_module("pyspiel")
    return _one_at_a_time(pyspiel.load_game(f"{game}(board_size={size})" if size else game), seed)


def sheet_in_open_spiel(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a sheet as a game of OpenSpiel."""
    del size, lanes
    return _one_at_a_time(import_module("anygame.envs.open_spiel").load(sheet), seed)


def _one_at_a_time(loaded: Any, seed: int) -> Play:
    """Return a function that plays random moves in a game of OpenSpiel, also for chance."""
    from random import Random

    draw = Random(seed).random

    def play(seconds: float) -> tuple[int, float, float]:
        states = ends = 0
        begin = perf_counter()
        while (elapsed := perf_counter() - begin) < seconds:
            state = loaded.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                state.apply_action(actions[int(draw() * len(actions))])
                states += 1
            ends += 1
        return states, ends, elapsed

    return play


def pettingzoo(game: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a classic game of PettingZoo."""
    del size, lanes
    return _timed(_by_turns(import_module(f"pettingzoo.classic.{game}").env(), seed))


def _timed(steps: Iterator[tuple[int, int]]) -> Play:
    """Return a function that makes steps; each step yields its numbers of states and of ended playouts."""

    def play(seconds: float) -> tuple[int, float, float]:
        states = ends = 0
        begin = perf_counter()
        while (elapsed := perf_counter() - begin) < seconds:
            made, ended = next(steps)
            states, ends = states + made, ends + ended
        return states, ends, elapsed

    return play


def _by_turns(env: Any, seed: int) -> Iterator[tuple[int, int]]:
    """Play random moves endlessly in a PettingZoo environment; yield numbers of states and ended playouts."""
    random = import_module("numpy").random.default_rng(seed)
    while True:
        env.reset(seed=int(random.integers(1 << 31)))
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else _some_action(seen["action_mask"], random))
            if not over:
                yield 1, 0
        yield 0, 1


def _some_action(mask: Any, random: Any) -> int:
    """Return the number of a random legal action; all legal actions have the same probability."""
    legal = mask.nonzero()[0]
    return int(legal[int(random.random() * len(legal))])


def aec(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a sheet through PettingZoo, one move at a time."""
    del size, lanes
    return _timed(_by_turns(import_module("anygame.envs.pettingzoo").aec_env(sheet), seed))


def parallel(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a sheet through PettingZoo, one joint move at a time."""
    del size, lanes
    env = import_module("anygame.envs.pettingzoo").parallel_env(sheet)

    def steps() -> Iterator[tuple[int, int]]:
        random = import_module("numpy").random.default_rng(seed)
        while True:
            seen, _ = env.reset(seed=int(random.integers(1 << 31)))
            while env.agents:
                actions = {agent: _some_action(seen[agent]["action_mask"], random) for agent in env.agents}
                seen, _, _, _, _ = env.step(actions)
                yield 1, not env.agents

    return _timed(steps())


def gymnasium(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays the first role through Gymnasium, one match at a time."""
    del size, lanes
    env = import_module("anygame.envs.gymnasium").GameEnv(sheet)

    def steps() -> Iterator[tuple[int, int]]:
        random = import_module("numpy").random.default_rng(seed)
        _, info = env.reset(seed=seed)
        while True:
            _, _, terminated, truncated, info = env.step(_some_action(info["action_mask"], random))
            over = terminated or truncated
            yield 1, over
            if over:
                _, info = env.reset()

    return _timed(steps())


def vector(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays the first role through Gymnasium, many matches at a time."""
    del size
    env = import_module("anygame.envs.gymnasium").GameVectorEnv(lanes, sheet, autoreset_mode="SameStep")
    random_choices = import_module("anygame.envs.gymnasium.opponents").random_choices

    def steps() -> Iterator[tuple[int, int]]:
        random = import_module("numpy").random.default_rng(seed)
        env.reset(seed=seed)
        while True:
            _, _, terminated, truncated, _ = env.step(random_choices(env.action_masks(), random))
            yield lanes, int((terminated | truncated).sum())

    return _timed(steps())


def batch(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays in lanes, with the queries of a learner: masks, observations, goals."""
    del size
    game = import_module("anygame").load(sheet, lenient=True)
    many = game.batch(lanes, seed)

    def steps() -> Iterator[tuple[int, int]]:
        while True:
            many.step_random()
            many.legal_masks()
            many.observation()
            over = many.terminal | many.stuck
            if over.any():
                for role in game.roles:
                    many.goals(role)
                many.reset(over)
            yield lanes, int(over.sum())

    return _timed(steps())


def pgx(game: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a game of pgx in many lanes."""
    if size not in (0, 11):
        raise ValueError("the hex of pgx has 11 by 11 cells")
    return _vectorised(import_module("pgx").make(game), lanes, seed)


def sheet_in_jax(sheet: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a sheet as a JAX environment in many lanes."""
    del size
    return _vectorised(import_module("anygame.envs.jax").load(sheet), lanes, seed)


def ludax(game: str, size: int, lanes: int, seed: int) -> Play:
    """Return a function that plays a game of Ludax in many lanes."""
    text = getattr(import_module("ludax.games"), game)
    if size:
        text = text.replace("(hex_rectangle 11 11)", f"(hex_rectangle {size} {size})")
    return _vectorised(import_module("ludax").LudaxEnvironment(game_str=text), lanes, seed)


def _vectorised(environment: Any, lanes: int, seed: int) -> Play:
    """Return a function that plays random moves in all lanes, and restarts each lane that has ended."""
    jax = import_module("jax")
    numpy = jax.numpy
    key, initial_key = jax.random.split(jax.random.PRNGKey(seed))
    initial = jax.vmap(environment.init)(jax.random.split(initial_key, lanes))
    one_step = jax.vmap(environment.step)

    def restarted(ended: Any, fresh: Any, old: Any) -> Any:
        return numpy.where(ended.reshape(ended.shape + (1,) * (old.ndim - 1)), fresh, old)

    def step(_: Any, carried: Any) -> Any:
        state, key, lengths, ends, made = carried
        key, drawn = jax.random.split(key)
        odds = numpy.where(state.legal_action_mask, 0.0, -numpy.inf)
        state = one_step(state, jax.random.categorical(drawn, odds, axis=-1))
        ended = state.terminated | state.truncated
        state = jax.tree_util.tree_map(lambda fresh, old: restarted(ended, fresh, old), initial, state)
        lengths = lengths + 1
        ends, made = ends + ended.sum(), made + numpy.where(ended, lengths, 0).sum()
        return state, key, numpy.where(ended, 0, lengths), ends, made

    def several(count: Any, state: Any, key: Any, lengths: Any) -> Any:
        none = numpy.int32(0)
        return jax.lax.fori_loop(0, count, step, (state, key, lengths, none, none))

    steps = jax.jit(several)

    state, lengths = initial, numpy.zeros(lanes, numpy.int32)
    count, ends, finished = 8, 0, 0

    def play(seconds: float) -> tuple[int, float, float]:
        nonlocal state, key, lengths, count, ends, finished
        steps_made = 0
        begin = perf_counter()
        while (elapsed := perf_counter() - begin) < seconds:
            called = perf_counter()
            state, key, lengths, ended, made = steps(count, state, key, lengths)
            ends, finished = ends + int(ended), finished + int(made)  # waits for the result
            steps_made += count
            # A call is so long that its overhead does not matter, and so short that play stops in time.
            if perf_counter() - called < seconds / 20:
                count *= 2
        # Lanes that start together end together. So the mean length is better than the count of this period.
        states = steps_made * lanes
        return states, states * ends / finished if finished else 0.0, elapsed

    return play


def measure(library: str, game: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a game of a library; return the figures as plain data."""
    make = globals()[library.replace(" ", "_")]
    begin = perf_counter()
    play = make(game, options.size, options.lanes, options.seed)
    play(min(0.01, options.seconds))
    setup = perf_counter() - begin
    play(options.seconds)
    runs = [play(options.seconds) for _ in range(options.repeats)]
    return {
        "version": version(DISTRIBUTIONS[library]),
        "setup": setup,
        "states": [states / elapsed for states, _, elapsed in runs],
        "playouts": [ends / elapsed for _, ends, elapsed in runs],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the game that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure random playouts of one game in one library.")
    parser.add_argument("library", choices=DISTRIBUTIONS)
    parser.add_argument("game", help="name of the game in the library, or a rule sheet")
    parser.add_argument("--size", type=int, default=0, help="size of a Hex board (default of the library)")
    parser.add_argument("--lanes", type=int, default=1024, help="number of lanes (1024)")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds per repeat (2)")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (3)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moves (1)")
    parser.add_argument("--core", type=int, help="the core to use (all)")
    options = parser.parse_args(arguments)
    if options.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    warnings.simplefilter("ignore")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        version(DISTRIBUTIONS[options.library])
    except PackageNotFoundError:
        print(json.dumps({"missing": True, "error": f"{DISTRIBUTIONS[options.library]} is not installed"}))
        return 0
    try:
        found = measure(options.library, options.game, options)
    except ModuleNotFoundError as error:
        found = {"missing": True, "error": f"{error.name} is not installed"}
    except Exception as error:  # the table shows errors of libraries
        lines = str(error).strip().splitlines() or [""]
        found = {"error": f"{type(error).__name__}: {lines[0][:200]}"}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
