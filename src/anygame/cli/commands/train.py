"""The ``train`` command: a model of a sheet, learned by self-play."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentTypeError
from contextlib import ExitStack
from dataclasses import asdict, replace
from math import inf
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, command_options, flag, option, positive, whole
from anygame.cli.output import Screen, complain
from anygame.cli.positions import load_game
from anygame.cli.progress import compile_needed, progress
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape
from anygame.plotting import image
from anygame.training import train

if TYPE_CHECKING:
    from anygame.training import TrainingProgress

#: Seconds where nobody says how long: much more than a start clock has.
_USUAL: Final = 600.0
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d|)", re.ASCII)
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SHAPE: Final = """\
an object every ten seconds, with matches whenever the number of games has doubled;
and one at the end, whose history has those with matches:
  {"games", "positions", "seconds", "error", "score", "matches", "interval": [N, N], "left"}
  {"game", "rules", "games", "positions", "seconds", "trial_leaves", "trial_matches",
   "trial_score", "trust", "history": [...]}"""
_DETAILS: Final = f"""\
The sheet plays with itself, and learns what its states are worth; the player mcts and
`anygame match` find the model by themselves, and use it if its trial speaks for it.
Ctrl-C, or whatever else ends it, loses some seconds at most: --resume goes on.

{json_shape(_SHAPE)}"""


def duration(text: str) -> float:
    """Return seconds: ``90``, ``90s``, ``30m``, ``8h``, ``2d``.

    Raises:
        ArgumentTypeError: it is something else.
    """
    found = _DURATION.fullmatch(text)
    if found is None or not 0 < (seconds := float(found[1]) * _UNITS[found[2]]) < inf:
        raise ArgumentTypeError(f"expected a time above 0, as 90s, 30m, 8h or 2d, found {text[:40]!r}")
    return seconds


@command_options
class _Options(JsonOption, MachineOption):
    time: float | None = option("--time", type=duration, metavar="T", help="how long to learn: 30m, 8h (10m)")
    games: int | None = option("--games", type=positive, metavar="N", help="how many games to learn from")
    into: str | None = option("--into", metavar="FILE", help="where to write the model")
    resume: bool = flag("--resume", help="go on with the training that came furthest")
    seed: int | None = option("--seed", type=whole, metavar="S", help="of random numbers")
    threads: int | None = option("--threads", type=positive, metavar="N", help="how many cores learn (1)")
    plot: str | None = option(
        "--plot", metavar="IMAGE", help="draw the curve at the end: *.png, *.svg, *.pdf"
    )


def run(options: _Options) -> int:
    """Train a model, and say how far that is; Ctrl-C ends it, and ``--resume`` goes on."""
    game = load_game(options)
    compile_needed(game)
    seconds = _USUAL if options.time is None and options.games is None else options.time
    try:
        # Whether the curve can be drawn shows before hours are spent.
        with ExitStack() as stack:
            axes = stack.enter_context(image(options.plot)) if options.plot is not None else ()
            bar = stack.enter_context(progress("learning"))
            screen = Screen(sys.stderr)

            def show(found: TrainingProgress) -> None:
                if options.json:
                    print(json.dumps(asdict(found)), flush=True)
                elif found.matches:
                    screen.say(str(found))
                bar(description=str(replace(found, matches=0)))

            model = train(
                game,
                seconds=seconds,
                games=options.games,
                into=options.into,
                resume=options.resume,
                seed=options.seed,
                threads=options.threads,
                progress=show,
            )
            for ax in axes:
                model.figures.plot(ax)
    except KeyboardInterrupt:
        complain("stopped: what was learned is kept, and --resume goes on")
        return Status.INTERRUPTED
    if options.json:
        print(json.dumps(asdict(model.figures), ensure_ascii=False))
    else:
        print(model.figures)
    return Status.OK


COMMAND = Command(_Options, run, _DETAILS)
