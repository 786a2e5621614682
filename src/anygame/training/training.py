"""A training: self-play, trials against earlier selves, checkpoints, and the trial that decides of the model.

A checkpoint lies beside the model, written whole every ten seconds: whatever ends a training, no more is
lost. Its name has the seed, so that trainings of one sheet at once have one each; a lock keeps others off.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from glob import escape as glob_escape
from math import inf
from pathlib import Path
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError, ModelError
from anygame.game.encoding import rules_digest
from anygame.game.game import Game
from anygame.game.loading import load
from anygame.progress import reporting
from anygame.search.model import (
    Model,
    ModelFigures,
    TrainingProgress,
    duration_text,
    history_of,
    inputs_of,
    load_model,
    model_path,
    models_folder,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from anygame.search.tree.searcher import TreeSearcher
    from anygame.search.tree.trial import Weights
    from anygame.training.remote import Hosts

FORMAT: Final = "anygame learning 5"
_SUFFIX: Final = ".learning"
#: Seconds between two checkpoints: what may be lost. Nothing that is learned depends on them.
_BETWEEN: Final = 10.0
#: Games after which there is the first trial against an earlier self; then whenever they have doubled.
_FIRST_TRIAL: Final = 1_000
#: Matches of such a trial, and leaves for a move of them.
_MATCHES, _LEAVES = 12, 500
#: Leaves for a move of the last trial: one for so many games, so that it takes a part of the time of those,
#: up to about as many as a move of a match has. With few leaves estimates seem better than they are, since
#: playouts need many: those of connect four after 900,000 games have 55 % with 2,000 and 29 % with 20,000.
_GAMES_FOR_A_LEAF, _MOST_LEAVES = 5, 20_000
#: Threads at most: each has games, weights and random numbers of its own.
MOST_THREADS: Final = 256


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
    """Learn estimates of a game's states by self-play, try them out, and write a model that searches find.

    Ctrl-C, or whatever else ends it, loses some seconds at most: with ``resume`` it goes on. A model in the
    folder of models that is used is replaced only by one that is used, too.

    Args:
        game: the game, or what ``anygame.load`` takes.
        seconds: of self-play, in all; the last trial comes after that.
        games: to learn from, in all, those before ``resume`` among them; with the same seed and threads, the
            same comes of it.
        into: the file of the model; by default a place in the folder of models.
        resume: whether to go on with the training of this sheet that came furthest.
        seed: of random numbers; None for any.
        threads: how many learn, a core each, and average what they have learned now and then; by default one,
            or the cores of the cluster, or as many as before with ``resume``.
        cluster: other processes that play, here or on other machines, with the same result; see
            ``anygame.cluster``.
        progress: called every ten seconds, and with a comparison whenever the number of games has doubled; a
            notebook shows it by itself.

    Returns:
        the model. Its figures say whether searches use it.

    Raises:
        ModelError: the game is not one to learn from, or cannot be compiled; there is nothing to go on
            with; the files cannot be written.
        ClusterError: nobody is left to play.
        ValueError: neither seconds nor games are given, or one is not positive; there cannot be so many
            threads.
    """
    asked = [number for number in (seconds, games) if number is not None]
    if not asked or min(asked) <= 0:
        raise ValueError("say for how many seconds to train, or how many games, as numbers above 0")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"expected 1 to {MOST_THREADS} threads, got {threads}")
    game = game if isinstance(game, Game) else load(game)
    path = model_path(game) if into is None else Path(into)
    if path is None:
        raise ModelError("there is no folder of models here: say which file to write")
    if into is not None and path.exists():
        _check_replaceable(path, game)
    searcher = _searcher(game)
    seed = SystemRandom().getrandbits(32) if seed is None else abs(seed)
    count = threads or (1 if cluster is None else min(cluster.count, MOST_THREADS))
    training = _Training(searcher, path, seed, count)
    with (
        training.resumed(threads) if resume else training.begun(),
        training.placed(cluster),
        reporting(progress, str) as report,
    ):
        training.learn(
            inf if seconds is None else seconds, inf if games is None else games, report or (lambda _: None)
        )
    model = training.model()
    if into is not None or not (path.is_file() and _is_used(path, game) and not model.figures.is_used):
        model.save(path)
    return model


@dataclass(frozen=True, slots=True)
class TrainingFigures:
    """How far a training is that can be resumed: its game and rules, the games played, the seconds spent."""

    game: str
    rules: str
    games: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.game}: training after {self.games:,} games in {duration_text(self.seconds)}"


def trainings() -> dict[Path, TrainingFigures | ModelError]:
    """Return the trainings in the folder of models that can be resumed, or why one cannot."""
    return dict(_trainings(models_folder()))


def _trainings(folder: Path | None) -> Iterator[tuple[Path, TrainingFigures | ModelError]]:
    from anygame.search.array_file import read_arrays

    for path in sorted(folder.glob(f"[!.]*{_SUFFIX}")) if folder is not None else ():
        try:
            header, _ = read_arrays(path, FORMAT)
            # Earlier versions write no name and no number of games.
            name, games = str(header.get("game", header["rules"])), int(header.get("games", 0))
            yield path, TrainingFigures(name, str(header["rules"]), games, float(header["seconds"]))
        except ModelError as error:
            yield path, error
        except (KeyError, TypeError, ValueError) as error:
            yield path, ModelError(f"{path} is damaged: {error}")


def _check_replaceable(path: Path, game: Game) -> None:
    """Raise a ModelError unless a file is a model of a game: hours end in no file of another kind."""
    try:
        load_model(path, game)
    except ModelError as error:
        raise ModelError(f"{path} would be written over: {error}") from error


def _is_used(path: Path, game: Game) -> bool:
    try:
        return load_model(path, game).figures.is_used
    except ModelError:
        return False


def _searcher(game: Game) -> TreeSearcher:
    """Return a searcher of a game.

    Raises:
        ModelError: it cannot be learned.
    """
    from anygame.search.tree.practice import obstacle_to_learning
    from anygame.training.remote import searcher_of

    try:
        searcher = searcher_of(game)
    except LimitError as error:
        raise ModelError(f"{game.name} cannot be trained: {error}") from error
    obstacle = "its roles do not know everything" if game.is_gdl2 else obstacle_to_learning(searcher)
    if obstacle is not None:
        raise _unsuitable(game, obstacle)
    return searcher


@contextmanager
def _alone(checkpoint: Path) -> Iterator[bool]:
    """Yield whether no other process writes a checkpoint, and keep others off until the end.

    A lock of a data base goes with its process, on every system.

    Raises:
        ModelError: the folder cannot be written to.
    """
    lock = checkpoint.with_name(f"{checkpoint.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(lock, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise ModelError(f"cannot write {lock}: {getattr(error, 'strerror', None) or error}") from error
    with closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            yield False
            return
        # What a process that was killed had not written to its end.
        for part in checkpoint.parent.glob(f".{glob_escape(checkpoint.name)}.*"):
            part.unlink(missing_ok=True)
        try:
            yield True
        finally:
            connection.close()
            lock.unlink(missing_ok=True)


def _unsuitable(game: Game, obstacle: str) -> ModelError:
    from anygame.search.tree.practice import MOST_ROLES

    return ModelError(
        f"{game.name} cannot be trained: {obstacle}; that is for games of two to {MOST_ROLES} roles that know"
        " everything, without chance, and with few joint moves at a time"
    )


class _Training:
    """A training that can be gone on with.

    Args:
        searcher: for the game.
        path: of the model.
        seed: of random numbers.
        threads: how many learn.
    """

    def __init__(self, searcher: TreeSearcher, path: Path, seed: int, threads: int) -> None:
        self._searcher, self._path = searcher, path
        self._begin(seed, threads)

    def _begin(self, seed: int, threads: int) -> None:
        from anygame.training.learners import Learners

        self._learners, self._seed = Learners(self._searcher, seed, threads), seed
        self._seconds = 0.0
        self._earlier: Weights = self._learners.weights
        self._next_trial = _FIRST_TRIAL
        self._reported = 0.0, 0
        self._history: list[TrainingProgress] = []

    @property
    def _checkpoint(self) -> Path:
        return self._path.with_name(f"{self._path.name}.{self._seed}{_SUFFIX}")

    def learn(self, seconds: float, games: float, progress: Callable[[TrainingProgress], object]) -> None:
        """Play until so many seconds or games are over in all; write the state now and then."""
        try:
            while self._seconds < seconds and not self._learners.have_played(games):
                begin = perf_counter()
                deadline = begin + min(_BETWEEN, seconds - self._seconds)
                if not self._learners.play(min(games, self._next_trial), deadline=deadline):
                    raise _unsuitable(self._searcher.game, "it has a great many joint moves at a time")
                self._seconds += perf_counter() - begin
                found = self._so_far()
                if self._learners.have_played(self._next_trial):
                    found = self._compared(found)
                left = min(seconds - self._seconds, self._seconds * (games / max(1, found.games) - 1))
                progress(replace(found, left=max(0.0, left)) if left < inf else found)
                self._write()
        except KeyboardInterrupt:
            self._write()
            raise

    def _so_far(self) -> TrainingProgress:
        learners = self._learners
        error, positions = self._reported
        return TrainingProgress(
            games=learners.games,
            positions=learners.positions,
            seconds=self._seconds,
            error=(learners.squared_error - error) / max(1, learners.positions - positions),
        )

    def _compared(self, found: TrainingProgress) -> TrainingProgress:
        """Compare with the self of half as many games, which the present one replaces."""
        from anygame.search.tree.trial import try_out

        learners, weights = self._learners, self._learners.weights
        trial = try_out(
            self._searcher.game,
            weights,
            rivals=self._earlier,
            seed=self._next_trial,
            matches=_MATCHES,
            leaves=_LEAVES,
        )
        self._reported = learners.squared_error, learners.positions
        self._earlier, self._next_trial = weights, 2 * self._next_trial
        found = replace(found, score=trial.score, matches=len(trial.leads), interval=trial.interval)
        self._history.append(found)
        return found

    def model(self) -> Model:
        """Return what was learned, with the trial of searches with it against searches without."""
        from anygame.search.tree.practice import FEWEST_GAMES
        from anygame.search.tree.trial import LEAVES, Trial, judge

        game, learners, weights = self._searcher.game, self._learners, self._learners.weights
        trust, trial = 0.0, Trial()
        leaves = min(_MOST_LEAVES, max(LEAVES, int(learners.games / _GAMES_FOR_A_LEAF)))
        if learners.games >= FEWEST_GAMES:
            trust, trial = judge(game, weights, seed=self._seed, leaves=leaves, is_shared=learners.is_shared)
        figures = ModelFigures(
            game=game.name,
            rules=rules_digest(game),
            games=learners.games,
            positions=learners.positions,
            seconds=self._seconds,
            trial_leaves=leaves,
            trial_matches=len(trial.leads),
            trial_score=sum(trial.leads),
            trust=trust,
            history=tuple(self._history),
        )
        return Model(figures, inputs_of(self._searcher), weights)

    def _write(self) -> None:
        from anygame.search.array_file import write_arrays

        header = {
            "format": FORMAT,
            "game": self._searcher.game.name,
            "games": self._learners.games,
            "rules": rules_digest(self._searcher.game),
            "fluents": inputs_of(self._searcher),
            "seed": self._seed,
            "threads": len(self._learners),
            "seconds": self._seconds,
            "next_trial": self._next_trial,
            "reported": self._reported,
            "history": list(map(asdict, self._history)),
        }
        try:
            write_arrays(self._checkpoint, header, {**self._learners.state(), "earlier": self._earlier})
        except ModelError as error:
            raise ModelError(f"{error}; what was written before is kept, to go on with") from error

    def placed(self, hosts: Hosts | None) -> AbstractContextManager[None]:
        """Have workers play until the block ends, if there are any."""
        return nullcontext() if hosts is None else self._learners.placed(hosts)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Begin anew, alone.

        Raises:
            ModelError: another process learns with this seed; the folder cannot be written to.
        """
        with _alone(self._checkpoint) as is_alone:
            if not is_alone:
                raise ModelError(
                    f"another process trains {self._path} with the seed {self._seed}: choose another one"
                )
            yield

    @contextmanager
    def resumed(self, threads: int | None) -> Iterator[None]:
        """Go on from the checkpoint beside the model that came furthest, alone.

        Args:
            threads: how many should learn; None for any number.

        Raises:
            ModelError: there is none that can be used.
        """
        reasons, found = "", []
        for path in self._path.parent.glob(f"{glob_escape(self._path.name)}.*{_SUFFIX}"):
            try:
                self._read(path, threads)
            except (ModelError, ValueError, TypeError, KeyError) as error:
                reasons += f"; {path} cannot be used: {error}"
                continue
            found.append((self._learners.games, path))
        for _, path in sorted(found, reverse=True):
            with _alone(path) as is_alone:
                if is_alone:
                    self._read(path, threads)
                    yield
                    return
            reasons += f"; another process goes on with {path}"
        raise ModelError(
            f"there is no training of {self._searcher.game.name} to go on with beside {self._path}"
            f"{reasons or '; rules that were changed are trained anew'}"
        )

    def _read(self, path: Path, threads: int | None) -> None:
        from anygame.search.array_file import read_arrays

        self._restore(*read_arrays(path, FORMAT), threads)

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any], threads: int | None) -> None:
        """Take a state; raise ValueError, TypeError or KeyError where it is of another kind."""
        game = self._searcher.game
        if header["rules"] != rules_digest(game) or tuple(header["fluents"]) != inputs_of(self._searcher):
            raise ValueError("it is of other rules")
        seed, count = int(header["seed"]), int(header["threads"])
        if not 1 <= count <= MOST_THREADS or threads not in {None, count}:
            raise ValueError(f"{threads or count} threads cannot go on with it: {count} began it")
        self._begin(seed, count)
        self._learners.restore(arrays)
        error, positions = header["reported"]
        self._reported = float(error), int(positions)
        self._seconds, self._next_trial = float(header["seconds"]), int(header["next_trial"])
        self._history = list(history_of(header["history"]))
        if arrays["earlier"].shape != self._earlier.shape or arrays["earlier"].dtype != self._earlier.dtype:
            raise ValueError("its earlier self has other weights")
        self._earlier = arrays["earlier"].copy()
