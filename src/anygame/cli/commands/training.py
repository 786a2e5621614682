"""The commands ``train`` (learns a model of a sheet by self-play) and ``models`` (lists all models)."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, command_options, flag, option, positive, seconds, whole_from
from anygame.cli.output import Screen, complain, print_event, print_json
from anygame.cli.positions import load_game
from anygame.cli.progress import compile_needed, progress
from anygame.cli.shared_options import (
    JsonOption,
    MachineOption,
    cluster_option,
    joined,
    plot_option,
    seed_option,
)
from anygame.errors import ModelError
from anygame.plotting import image
from anygame.search import models
from anygame.search.learning import MOST_THREADS
from anygame.search.learning.training import train, trainings
from anygame.search.model import models_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from anygame.training import TrainingProgress

# -- train ---------------------------------------------------------------------------------------------

#: Default training time in seconds, much longer than the start clock of a match.
_USUAL: Final = 600.0
_TRAIN_DETAILS: Final = """\
The model learns the values of states from games of self-play. A trial at the end measures
whether searches play better with the model. A model that wins the trial is used automatically
by the player mcts in `anygame play`, `match` and `web`. `anygame models` lists all models.

Each time the number of training games has doubled, a line reports progress. The error is the mean
squared difference between estimates and results. The score is the mean result of matches
against the model after half as many games, with a 95 % confidence interval.

Ctrl-C stops the training without loss. If the process is killed, at most ten seconds of work
are lost. --resume continues until the total of --seconds or --games is reached, and then writes
the model. After --seconds, the trial takes at most as long as self-play, or a minute. If a process
of a --cluster dies, its work is repeated.

With --json, one object is printed on each line: progress every ten seconds and during the trial.
Each time the number of games has doubled, an object has the score of test matches. The last object
describes the model; its history lists all objects that have a score:
  {"games", "positions", "seconds", "error", "score", "matches", "interval": [N, N], "left",
   "trial_matches"}
  {"game", "rules", "games", "positions", "seconds", "trial_leaves", "trial_matches",
   "trial_score", "trust", "history": [...]}
"""


@command_options
class _TrainOptions(JsonOption, MachineOption):
    seconds: float | None = option(
        "--seconds",
        "S",
        "total training time, such as 90 (seconds), 30m or 8h (default 10m; no limit with --games)",
        seconds,
        former="--time",
    )
    games: int | None = option("--games", "N", "total number of training games (default: no limit)", positive)
    output: str | None = option(
        "-o --output", "OUT", "file for the model (default: a file in the folder of models)", former="--into"
    )
    resume: bool = flag("--resume", "resume the longest interrupted training of this sheet")
    seed: int | None = seed_option()
    threads: int | None = option(
        "--threads",
        "N",
        "number of threads (default 1; with --cluster, one for each core of the cluster)",
        partial(whole_from, 1, MOST_THREADS),
    )
    cluster: str | None = cluster_option(
        "train on all cores of the Ray cluster at ADDRESS; without ADDRESS, on all cores of this machine"
    )
    plot: str | None = plot_option("the learning curve")


def _train(options: _TrainOptions) -> int:
    game = load_game(options)
    compile_needed(game)
    limit = _USUAL if options.seconds is None and options.games is None else options.seconds
    try:
        # The image is opened first, so that a missing library is reported before hours of training.
        with ExitStack() as stack:
            axes = stack.enter_context(image(options.plot)) if options.plot is not None else ()
            cluster = stack.enter_context(joined(options.cluster))
            bar = stack.enter_context(progress("learning"))
            screen = Screen(sys.stderr)

            def show(reported: TrainingProgress) -> None:
                if options.json:
                    print_event(asdict(reported))
                elif reported.matches:
                    screen.say(str(reported))
                total = reported.seconds + reported.left if reported.left else None
                bar(description=str(replace(reported, matches=0)), completed=reported.seconds, total=total)

            model = train(
                game,
                seconds=limit,
                games=options.games,
                into=options.output,
                resume=options.resume,
                seed=options.seed,
                threads=options.threads,
                cluster=cluster,
                progress=show,
            )
            for ax in axes:
                model.figures.plot(ax)
    except KeyboardInterrupt:
        complain("stopped; the training is saved, and --resume continues it")
        return Status.INTERRUPTED
    if options.json:
        print_event(asdict(model.figures))
    else:
        print(model.figures)
    return Status.OK


# -- models --------------------------------------------------------------------------------------------

_MODELS_DETAILS: Final = """\
The environment variable ANYGAME_MODELS names the folder of models. The models of the package are
listed last. If your own model of a game won its trial, it replaces the model of the package. To
remove a model, delete its file. `anygame train FILE --resume` resumes an interrupted training.

With --json, one object is printed. The entry of an unusable file has only file and error:
  {"models": [{"file", "game", "rules", "games", "positions", "seconds", "trial_leaves",
               "trial_matches", "trial_score", "trust", "history": [...], "error"}],
   "trainings": [{"file", "game", "rules", "games", "seconds", "error"}]}
"""


@command_options
class _ModelsOptions(JsonOption):
    pass


def _models(options: _ModelsOptions) -> None:
    trained, stopped = models(), trainings()
    if options.json:
        print_json({"models": _described(trained), "trainings": _described(stopped)})
        return
    if models_folder() is None:
        complain("note: ANYGAME_MODELS is empty, so searches use no models")
    for path, each in (*trained.items(), *stopped.items()):
        print(each if isinstance(each, ModelError) else f"{each}\n  {path}")


def _described(files: Mapping[Path, Any]) -> list[dict[str, Any]]:
    return [
        {"file": str(path)} | ({"error": str(each)} if isinstance(each, ModelError) else asdict(each))
        for path, each in files.items()
    ]


COMMANDS: Final = {
    "train": Command(_TrainOptions, _train, _TRAIN_DETAILS),
    "models": Command(_ModelsOptions, _models, _MODELS_DETAILS),
}
