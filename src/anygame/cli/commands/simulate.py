"""The ``simulate`` command: random games by the million, and what they have in common."""

from __future__ import annotations

import random
from math import isnan
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import (
    Command,
    Status,
    command_options,
    joint_moves,
    many,
    option,
    seconds,
    threads,
    whole,
)
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import load_position
from anygame.cli.progress import compile_game, progress
from anygame.cli.shared_options import AFTER, PositionOptions, cluster_option, joined, json_shape
from anygame.game.machine import reason_of
from anygame.language.diagnostics import shown
from anygame.plotting import image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game import Game, SimulationResult, State

_SHAPE: Final = """\
{"game", "seed", "threads", "machine", "device", "fallback", "asked", "playouts", "cut", "stuck",
   "first_stuck", "interrupted", "abandoned", "states",
   "seconds", "setup_seconds", "playouts_per_second", "states_per_second",
   "lengths": {"mean", "min", "max", "counts": {LENGTH: NUMBER}},
   "roles": {ROLE: {"mean", "spread", "error", "counts": {GOAL: NUMBER}, "missing", "double",
                    "branching"}}}
  spread is the standard deviation of the goals, error that of their mean; missing and double
  count games that ended without a goal or with several; cut those given up for their length,
  stuck those in which a role had no legal move, abandoned those under way at Ctrl-C;
  first_stuck is null or {"role", "facts", "moves"};
  fallback is null, or why the reasoner plays although the network was to"""

_COUNTED: Final = (
    *("interrupted", "abandoned", "states", "seconds", "setup_seconds"),
    *("playouts_per_second", "states_per_second"),
)
_GOALS_SHOWN: Final = 12
#: Of games in which on average so many are wrong, 99 in 100 samples have a wrong one.
_CHANCES: Final = 5
_FEWEST_GAMES: Final = 10
_DIGITS_SHOWN: Final = 40


@command_options
class _Options(PositionOptions):
    playouts: int = option(
        "--playouts", type=many, default=1_000_000, metavar="N", help="how many games (1e6)"
    )
    seed: int | None = option("--seed", type=whole, metavar="S", help="the same seed gives the same result")
    threads: int = option("--threads", type=threads, default=1, metavar="N", help="cores to use (1)")
    limit: int = option(
        "--limit",
        type=joint_moves,
        default=10_000,
        metavar="L",
        help="give a game up after L joint moves (10000)",
    )
    device: str = option(
        "--device", default="cpu", metavar="D", help="cuda or cuda:N plays on a graphics card"
    )
    cluster: str | None = cluster_option("play on a Ray cluster; without ADDRESS on all cores here")
    plot: str | None = option("--plot", metavar="IMAGE", help="draw the goals: *.png, *.svg, *.pdf")
    compile_seconds: float | None = option(
        "--compile-seconds",
        type=seconds,
        metavar="S",
        help="play by the rules if compiling takes longer",
    )


def run(options: _Options) -> int:
    """Play games at random and print what they have in common. Ctrl-C ends it, with what was done."""
    game, state = load_position(options)
    if options.machine != "reasoner" and not game.is_settled:
        compile_game(game, seconds=options.compile_seconds)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    result = _played(game, state, seed, options)
    if options.json:
        print_json(describe(game, result, options.playouts))
    else:
        print_lines(_lines(game, result, options.playouts))
    if options.plot is not None:
        with image(options.plot) as (ax,):
            result.plot(ax)
    return Status.INTERRUPTED if result.interrupted else Status.OK


def _played(game: Game, state: State, seed: int, options: _Options) -> SimulationResult:
    bar = progress("playouts", options.playouts, counts=True)
    with bar as show, joined(options.cluster) as cluster:
        return game.simulate(
            options.playouts,
            seed,
            options.threads,
            state=state,
            limit=options.limit,
            progress=lambda done: show(completed=done),
            cluster=cluster,
            device=options.device,
        )


def describe(game: Game, result: SimulationResult, asked: int) -> dict[str, Any]:
    """Return a result in the shape of ``--json``."""
    return {
        "game": game.name,
        "seed": result.seed,
        "threads": result.threads,
        "machine": result.machine,
        "device": result.device,
        "fallback": reason_of(game.fallback),
        "asked": asked,
        "playouts": result.playouts,
        "cut": result.cut,
        "stuck": result.stuck,
        "first_stuck": result.first_stuck.to_dict() if result.first_stuck else None,
        **{name: getattr(result, name) for name in _COUNTED},
        "lengths": {
            "mean": _known(result.mean_length),
            "min": min(result.lengths, default=None),
            "max": max(result.lengths, default=None),
            "counts": {str(length): count for length, count in result.lengths.items()},
        },
        "roles": {
            role: {
                "mean": _known(result.mean_goals[role]),
                "spread": _known(result.goal_spread[role]),
                "error": _known(result.goal_error[role]),
                "counts": {str(value): count for value, count in result.goal_counts[role].items()},
                "missing": result.missing_goals[role],
                "double": result.double_goals[role],
                "branching": _known(result.branching[role]),
            }
            for role in game.roles
        },
    }


def _known(number: float) -> float | None:
    """Return a number, or what JSON has for none."""
    return None if isnan(number) else number


def _lines(game: Game, result: SimulationResult, asked: int) -> Iterator[str]:
    done = f"{result.playouts:,}" + (f" of {asked:,}" if result.playouts != asked else "")
    yield f"{done} random playouts of {game.name}, seed {result.seed}"
    if result.interrupted:
        yield "interrupted: these are all that were played"
    if result.abandoned:
        yield f"{result.abandoned:,} more were under way and given up: short ones are favoured"
    if result.cut:
        yield f"{result.cut:,} more were given up for their length"
    if result.stuck:
        first = f"; the first: {result.first_stuck}" if result.first_stuck else ""
        yield f"{result.stuck:,} more could not go on{first}"
    width = max(map(len, game.roles))
    for role in game.roles:
        yield f"goal of {role.ljust(width)}  {_goals(game, result, role)}"
        yield from _advice(game, result, role)
    if result.lengths:
        least, most = min(result.lengths), max(result.lengths)
        yield f"moves  {result.mean_length:.1f} on average, {least} to {most}"
    widths = [f"{mean:.1f} of {role}" for role, mean in result.branching.items() if not isnan(mean)]
    if widths:
        yield f"legal moves  {', '.join(widths)} on average"
    cached = ""
    if result.machine == "network":
        cached = ", with cached machine code" if game.has_cached_code else ", machine code made now"
    device = "" if result.device == "cpu" else f" on {result.device}"
    threads = f", {result.threads} threads" if result.threads > 1 else ""
    yield (
        f"{result.seconds:.2f} s by the {result.machine}{device}{threads}: {result.playouts_per_second:,.0f} "
        f"playouts and {result.states_per_second:,.0f} states a second; set-up {result.setup_seconds:.2f} s"
        f"{cached}"
    )


def _goals(game: Game, result: SimulationResult, role: Any) -> str:
    counts = result.goal_counts[role]
    parts = [f"{shown(str(goal), _DIGITS_SHOWN)}: {_share(n, result)}" for goal, n in counts.items()]
    if len(parts) > _GOALS_SHOWN:
        parts[_GOALS_SHOWN // 2 : -_GOALS_SHOWN // 2] = ["..."]
    if result.missing_goals[role]:
        parts.append(f"none: {_share(result.missing_goals[role], result)}")
    if result.double_goals[role]:
        parts.append(f"several at once: {_share(result.double_goals[role], result)}")
    mean = result.mean_goals[role]
    if isnan(mean):
        return ", ".join([*parts, *["too large for a mean"] * bool(counts)]) or "unknown"
    spread, error = result.goal_spread[role], result.goal_error[role]
    return f"{mean:.2f} on average, give or take {error:.2f}; spread {spread:.1f} ({', '.join(parts)})"


def _advice(game: Game, result: SimulationResult, role: Any) -> Iterator[str]:
    """Yield how to see a game that ends without a goal, or with several, by playing enough of them."""
    wrong = result.missing_goals[role] + result.double_goals[role]
    if wrong:
        enough = max(_FEWEST_GAMES, -(-_CHANCES * result.playouts // wrong))
        yield f"  `anygame check {game.name} --play {enough}` is likely to show such a game of {role}"


def _share(count: int, result: SimulationResult) -> str:
    return f"{100 * count / result.playouts:.1f} %"


_DETAILS: Final = f"""\
The first time a sheet is simulated its rules are compiled; the machine code is cached.

{AFTER}
{json_shape(_SHAPE)}"""

COMMAND = Command(_Options, run, _DETAILS)
