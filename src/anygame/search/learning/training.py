"""Training of a game's model by self-play, from the rules alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from anygame.errors import ModelError
from anygame.game.game import Game
from anygame.game.loading import load
from anygame.progress import reporting
from anygame.search.learning import FORMAT, MOST_THREADS, SUFFIX
from anygame.search.model import Model, TrainingProgress, duration_text, load_model, model_path, models_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from anygame.search.learning.remote import Hosts


def train(
    game: Game | str,
    *,
    seconds: float | None = None,
    games: int | None = None,
    into: str | os.PathLike[str] | None = None,
    resume: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    cluster: Hosts | None = None,
    progress: Callable[[TrainingProgress], object] | None = None,
) -> Model:
    """Learn estimates of a game's states by self-play, test them in a trial, and write a model file.

    An interrupted training loses at most ten seconds of play; continue it with ``resume``. In the folder of
    models, a model that won its trial is replaced only by a model that wins its own trial.

    Args:
        game: the game, or an argument of ``anygame.load``.
        seconds: total seconds of self-play. The last trial takes at most as long again, or a minute. A new
            training of at least 35 minutes has a larger network.
        games: total number of games, including the games before ``resume``. Without ``seconds``, the same
            seed and numbers of games and threads give the same model.
        into: path of the model file; by default a file in the folder of models.
        resume: whether to resume the training of this game that has the most games.
        seed: random seed; None for a random one.
        threads: number of learners, one per core, whose weights are averaged periodically. The default is 1,
            or the number of cores of the cluster. With ``resume``, the number is kept.
        cluster: worker processes that play, here or on other machines; the model is the same as without
            a cluster. See ``anygame.cluster``.
        progress: called every ten seconds, and during the last trial. Each time the number of games has
            doubled, the figures include matches against the model after half of the games. By default, a
            notebook shows the progress.

    Returns:
        the model, whose figures say whether searches use it.

    Raises:
        ModelError: the game is not suited to learning or cannot be compiled, no training can be resumed, or
            the files cannot be written.
        ClusterError: all workers are lost.
        ValueError: neither seconds nor games are given, one of them is not positive, or the number of threads
            is out of range.
    """
    limits = [number for number in (seconds, games) if number is not None]
    if not limits or min(limits) <= 0:
        raise ValueError("expected a number of seconds or games above 0")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"expected 1 to {MOST_THREADS} threads, got {threads}")
    game = game if isinstance(game, Game) else load(game)
    path = model_path(game) if into is None else Path(into)
    if path is None:
        raise ModelError("the environment variable ANYGAME_MODELS is empty: name a file for the model")
    if into is not None and path.exists():
        try:
            load_model(path, game)
        except ModelError as error:
            raise ModelError(f"the model cannot replace the file {path}: {error}") from error
    # A late import keeps NumPy out of programs that only load games.
    from anygame.search.learning.run import TrainingRun

    seed = SystemRandom().getrandbits(32) if seed is None else abs(seed)
    count = threads or (1 if cluster is None else min(cluster.count, MOST_THREADS))
    training = TrainingRun(game, path, seed, count, seconds or 0.0)
    with (
        training.resumed(threads) if resume else training.begun(),
        training.placed(cluster),
        reporting(progress, str) as report,
    ):
        show = report or (lambda _: None)
        training.learn(inf if seconds is None else seconds, inf if games is None else games, show)
        model = training.model(seconds is not None, show)
    if into is not None or model.figures.is_used or not (path.is_file() and _is_used(path, game)):
        model.save(path)
    return model


@dataclass(frozen=True, slots=True)
class TrainingFigures:
    """A training that can be resumed: its game, digest of rules, games played, and seconds of self-play."""

    game: str
    rules: str
    games: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.game}: training after {self.games:,} games in {duration_text(self.seconds)}"


def trainings() -> dict[Path, TrainingFigures | ModelError]:
    """Return the figures of each training in the folder of models, or the error of a damaged training."""
    from anygame.search.array_file import read_arrays

    folder = models_folder()
    figures: dict[Path, TrainingFigures | ModelError] = {}
    for path in sorted(folder.glob(f"[!.]*{SUFFIX}")) if folder is not None else ():
        try:
            header, _ = read_arrays(path, FORMAT)
            name, rules = str(header["game"]), str(header["rules"])
            figures[path] = TrainingFigures(name, rules, int(header["games"]), float(header["seconds"]))
        except ModelError as error:
            figures[path] = error
        except (KeyError, TypeError, ValueError) as error:
            figures[path] = ModelError(f"{path} is damaged: {error}")
    return figures


def _is_used(path: Path, game: Game) -> bool:
    try:
        return load_model(path, game).figures.is_used
    except ModelError:
        return False
