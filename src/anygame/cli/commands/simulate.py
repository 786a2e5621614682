"""The ``simulate`` command, which plays random games by the million, and ``playout`` for a few games."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from anygame.answers.simulation import SHAPE, Simulation
from anygame.cli.options import Command, Status, command_options, joint_moves, many, option, seconds, threads
from anygame.cli.output import print_answer
from anygame.cli.positions import load_compiled_position
from anygame.cli.progress import progress
from anygame.cli.shared_options import (
    AFTER,
    PositionOptions,
    cluster_option,
    joined,
    json_shape,
    plot_option,
    seed_option,
)
from anygame.plotting import image

#: Maximum number of games that ``playout`` plays without compiling. For more games, compiling saves time.
_FEW: Final = 1_000


@command_options
class _Options(PositionOptions):
    playouts: int = option("--playouts", "N", "number of games, such as 5000 or 1e6", many, default=1_000_000)
    seed: int | None = seed_option()
    threads: int = option("--threads", "N", "number of threads", threads, default=1)
    limit: int = option("--limit", "N", "abandon a game after N joint moves", joint_moves, default=10_000)
    device: str = option(
        "--device",
        "D",
        "device that plays: cpu, or a graphics card (cuda, or cuda:N for card N)",
        default="cpu",
    )
    cluster: str | None = cluster_option(
        "play on all cores of the Ray cluster at ADDRESS; without ADDRESS, on all cores of this machine"
    )
    plot: str | None = plot_option("the goals")
    compile_seconds: float | None = option(
        "--compile-seconds",
        "S",
        "interpret the rules if compiling takes longer than S seconds (default: no limit)",
        seconds,
    )


@command_options
class _PlayoutOptions(_Options):
    playouts: int = option("--playouts", "N", "number of games", many, default=1, former="--count")


def _simulate(options: _Options, *, tells_speed: bool = True) -> int:
    at = load_compiled_position(options, options.compile_seconds)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    bar = progress("playouts", options.playouts, counts=True)
    with bar as show, joined(options.cluster) as cluster:
        result = at.game.simulate(
            options.playouts,
            seed,
            options.threads,
            state=at.state,
            limit=options.limit,
            progress=lambda done: show(completed=done),
            cluster=cluster,
            device=options.device,
        )
    print_answer(Simulation(at.game, result, options.playouts, tells_speed), options)
    if options.plot is not None:
        with image(options.plot) as (ax,):
            result.plot(ax)
    return Status.INTERRUPTED if result.interrupted else Status.OK


def _playout(options: _PlayoutOptions) -> int:
    is_few = options.playouts <= _FEW and options.machine == "auto" and options.device == "cpu"
    return _simulate(replace(options, machine="reasoner") if is_few else options, tells_speed=False)


_DETAILS: Final = f"""\
The first simulation of a sheet compiles its rules. Later simulations reuse the compiled code.

{AFTER}
{json_shape(SHAPE)}"""
_PLAYOUT_DETAILS: Final = f"""\
This command is like `anygame simulate`, but it compiles the rules only for more than {_FEW:,} games.

{AFTER}
{json_shape(SHAPE)}"""

COMMANDS: Final = {
    "simulate": Command(_Options, _simulate, _DETAILS),
    "playout": Command(_PlayoutOptions, _playout, _PLAYOUT_DETAILS),
}
