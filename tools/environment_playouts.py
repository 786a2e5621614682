"""Random playouts of one sheet through one form of environment, in this process; print one line of JSON.

    python tools/environment_playouts.py aec gdl/connect_four.kif --seconds 2 --repeats 3 --core 1

Forms: ``aec`` and ``parallel`` (PettingZoo), ``gymnasium`` and ``vector`` (Gymnasium, random opponents; the
latter with many lanes), ``batch`` (lanes without a library). ``compare_libraries.py`` runs this. A state is a
step of the environment: for PettingZoo's ``aec`` a move, for ``parallel`` and ``batch`` a joint move, for
Gymnasium a move of the role that learns with the replies.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.library_playouts import measuring_options, play_by_turns, some_action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    #: Makes steps without end: yields how many were made, and how many playouts they ended.
    Steps: TypeAlias = Iterator[tuple[int, int]]


def aec(sheet: str, lanes: int, seed: int) -> Steps:
    """Play through PettingZoo, one move at a time."""
    from anygame.envs.pettingzoo import aec_env

    return play_by_turns(aec_env(sheet), seed)


def parallel(sheet: str, lanes: int, seed: int) -> Steps:
    """Play through PettingZoo, one joint move at a time."""
    import numpy as np

    from anygame.envs.pettingzoo import parallel_env

    env, random = parallel_env(sheet), np.random.default_rng(seed)
    while True:
        seen, _ = env.reset(seed=int(random.integers(1 << 31)))
        while env.agents:
            actions = {agent: some_action(seen[agent]["action_mask"], random) for agent in env.agents}
            seen, _, _, _, _ = env.step(actions)
            yield 1, not env.agents


def gymnasium(sheet: str, lanes: int, seed: int) -> Steps:
    """Play the first role through Gymnasium, one match at a time."""
    import numpy as np

    from anygame.envs.gymnasium import GameEnv

    env, random = GameEnv(sheet), np.random.default_rng(seed)
    for number in count():
        _, info = env.reset(seed=seed if not number else None)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(some_action(info["action_mask"], random))
            over = terminated or truncated
            yield 1, over


def vector(sheet: str, lanes: int, seed: int) -> Steps:
    """Play the first role through Gymnasium, many matches at a time."""
    import numpy as np

    from anygame.envs.gymnasium import GameVectorEnv
    from anygame.envs.gymnasium.opponents import random_choices

    env, random = GameVectorEnv(lanes, sheet, autoreset_mode="SameStep"), np.random.default_rng(seed)
    env.reset(seed=seed)
    while True:
        _, _, terminated, truncated, _ = env.step(random_choices(env.action_masks(), random))
        yield lanes, int((terminated | truncated).sum())


def batch(sheet: str, lanes: int, seed: int) -> Steps:
    """Play in lanes, with masks, observations and goals as a learner would ask for them."""
    import anygame

    game = anygame.load(sheet, lenient=True)
    many = game.batch(lanes, seed)
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


#: What plays, by the name of the form.
FORMS: Final[dict[str, Callable[[str, int, int], Steps]]] = {
    "aec": aec,
    "parallel": parallel,
    "gymnasium": gymnasium,
    "vector": vector,
    "batch": batch,
}
#: The forms of many lanes.
IN_LANES: Final = ("vector", "batch")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure one form; return the figures as plain data."""
    begin = perf_counter()
    steps = FORMS[options.form](options.sheet, options.lanes, options.seed)
    next(steps)
    setup = perf_counter() - begin
    _run(steps, options.seconds)
    runs = [_run(steps, options.seconds) for _ in range(options.repeats)]
    return {
        "setup": setup,
        "states": [states / elapsed for states, _, elapsed in runs],
        "playouts": [ends / elapsed for _, ends, elapsed in runs],
    }


def _run(steps: Steps, seconds: float) -> tuple[int, int, float]:
    states = ends = 0
    begin = perf_counter()
    for made, ended in steps:
        states, ends = states + made, ends + ended
        elapsed = perf_counter() - begin
        if elapsed >= seconds:
            break
    return states, ends, elapsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure random playouts of a sheet through an environment.")
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("sheet", help="a rule sheet, or the name of a game")
    parser.add_argument("--lanes", type=int, default=512, help="games at a time, where there are many (512)")
    options = measuring_options(parser, arguments)
    warnings.simplefilter("ignore")
    try:
        found = measure(options)
    except Exception as error:  # whatever goes wrong is told in the table
        lines = str(error).strip().splitlines() or [""]
        found = {
            "error": f"{type(error).__name__}: {lines[0][:200]}",
            "missing": isinstance(error, ImportError),
        }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
