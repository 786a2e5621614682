"""A training: self-play, trials against earlier selves, checkpoints, and the trial that decides of the model.

A checkpoint lies beside the model, written whole every few seconds: whatever ends a training, no more is
lost. Its name has the seed, so that trainings of one sheet at once have one each.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError, ModelError
from anygame.game.encoding import rules_digest
from anygame.game.game import Game
from anygame.game.loading import load
from anygame.search.model import Model, ModelFigures, fluents_of, load_model, model_path

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from anygame.search.tree.learner import Learner
    from anygame.search.tree.searcher import TreeSearcher
    from anygame.search.tree.trial import Trial, Weights

_FORMAT: Final = "anygame learning 1"
_SUFFIX: Final = ".learning"
#: Seconds between two checkpoints: what may be lost. Nothing that is learned depends on them.
_BETWEEN: Final = 5.0
#: Games after which there is the first trial against an earlier self; then whenever they have doubled.
_FIRST_TRIAL: Final = 1_000
#: Matches of such a trial, and leaves for a move of them.
_MATCHES, _LEAVES = 12, 500
#: Bytes of the tree that is asked about the game.
_MEMORY: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a training is.

    >>> print(TrainingProgress(2_000, 120_000, 1.5, 0.1234, 0.75, 12, (0.47, 0.91), 60.0))
    2,000 games in 2 s, error 0.123; 75 % (47 to 91) of 12 matches against half the games; 60 s left

    Attributes:
        games: how many were played to their end.
        positions: how many of them were learned from.
        seconds: of self-play.
        error: the mean squared difference of estimates and ends, 0 to 1, since the last report.
        score: of searches with what was learned against those with what half the games had taught.
        matches: of that.
        interval: between what the score lies with 95 %.
        left: seconds until the end, as far as is known.
    """

    games: int
    positions: int
    seconds: float
    error: float
    score: float
    matches: int
    interval: tuple[float, float]
    left: float | None

    def __str__(self) -> str:
        low, high = self.interval
        left = "" if self.left is None else f"; {self.left:.0f} s left"
        return (
            f"{self.games:,} games in {self.seconds:.0f} s, error {self.error:.3f}; "
            f"{100 * self.score:.0f} % ({100 * low:.0f} to {100 * high:.0f}) of {self.matches} matches "
            f"against half the games{left}"
        )


def train(
    game: Game | str,
    *,
    seconds: float | None = None,
    games: int | None = None,
    into: str | os.PathLike[str] | None = None,
    resume: bool = False,
    seed: int | None = None,
    progress: Callable[[TrainingProgress], None] = lambda _: None,
) -> Model:
    """Learn estimates of a game's states by self-play, try them out, and write a model that searches find.

    Ctrl-C, or whatever else ends it, loses some seconds at most: with ``resume`` it goes on. A model in the
    folder of models that is used is replaced only by one that is used, too.

    Args:
        game: the game, or what ``anygame.load`` takes.
        seconds: of self-play, in all; the last trial comes after that.
        games: to learn from, in all, those before ``resume`` among them; with the same seed, the same comes
            of it.
        into: the file of the model; by default a place in the folder of models.
        resume: whether to go on with the training of this sheet that came furthest.
        seed: of random numbers; None for any.
        progress: called whenever the number of games has doubled.

    Returns:
        the model. Its figures say whether searches use it.

    Raises:
        ModelError: the game is not one of two roles that take turns, or cannot be compiled; there is nothing
            to go on with; the files cannot be written.
        ValueError: neither seconds nor games are given, or one is not positive.
    """
    asked = [number for number in (seconds, games) if number is not None]
    if not asked or min(asked) <= 0:
        raise ValueError("say for how many seconds to train, or how many games, as numbers above 0")
    game = game if isinstance(game, Game) else load(game)
    path = model_path(game) if into is None else Path(into)
    if path is None:
        raise ModelError("there is no folder of models here: say which file to write")
    searcher = _searcher(game)
    training = _Training(searcher, path, SystemRandom().getrandbits(32) if seed is None else abs(seed))
    if resume:
        training.resume()
    training.learn(inf if seconds is None else seconds, inf if games is None else games, progress)
    model = training.model()
    if into is not None or not (path.is_file() and _is_used(path, game) and not model.figures.is_used):
        model.save(path)
    return model


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
    from anygame.search.tree.practice import takes_turns
    from anygame.search.tree.searcher import TreeSearcher

    game.compile_if_worth_it()
    try:
        searcher = TreeSearcher(game, seed=1, memory=_MEMORY)
    except LimitError as error:
        raise ModelError(f"{game.name} cannot be trained: {error}") from error
    if game.is_gdl2 or not takes_turns(searcher):
        raise _unsuitable(game)
    return searcher


def _unsuitable(game: Game) -> ModelError:
    return ModelError(
        f"{game.name} cannot be trained: that is for games of two roles that take turns, without chance"
    )


class _Training:
    """A training that can be gone on with.

    Args:
        searcher: for the game.
        path: of the model.
        seed: of random numbers.
    """

    def __init__(self, searcher: TreeSearcher, path: Path, seed: int) -> None:
        from anygame.search.tree.learner import Learner

        self._searcher, self._path = searcher, path
        self._begin(Learner(searcher, seed), seed)

    def _begin(self, learner: Learner, seed: int) -> None:
        self._learner, self._seed = learner, seed
        self._seconds = 0.0
        self._earlier: Weights = learner.weights.copy()
        self._next_trial = _FIRST_TRIAL
        self._reported = 0.0, 0

    @property
    def _checkpoint(self) -> Path:
        return self._path.with_name(f"{self._path.name}.{self._seed}{_SUFFIX}")

    def learn(self, seconds: float, games: float, progress: Callable[[TrainingProgress], None]) -> None:
        """Play until so many seconds or games are over in all; write the state now and then."""
        try:
            while self._seconds < seconds and self._games < games:
                begin = perf_counter()
                deadline = begin + min(_BETWEEN, seconds - self._seconds)
                if not self._learner.play(min(games, self._next_trial), deadline=deadline):
                    raise _unsuitable(self._searcher.game)
                self._seconds += perf_counter() - begin
                if self._games >= self._next_trial:
                    progress(self._compared(seconds, games))
                self._write()
        except KeyboardInterrupt:
            self._write()
            raise

    @property
    def _games(self) -> int:
        return self._learner.games + self._learner.given_up

    def _compared(self, seconds: float, games: float) -> TrainingProgress:
        """Compare with the self of half as many games, which the present one replaces."""
        from anygame.search.tree.trial import try_out

        learner = self._learner
        trial = try_out(
            self._searcher.game,
            learner.weights,
            rivals=self._earlier,
            seed=self._next_trial,
            matches=_MATCHES,
            leaves=_LEAVES,
        )
        error, positions = self._reported
        self._reported = learner.squared_error, learner.positions
        self._earlier, self._next_trial = learner.weights.copy(), 2 * self._next_trial
        left = min(seconds - self._seconds, self._seconds * (games / max(1, self._games) - 1))
        return TrainingProgress(
            games=learner.games,
            positions=learner.positions,
            seconds=self._seconds,
            error=(learner.squared_error - error) / max(1, learner.positions - positions),
            score=trial.score,
            matches=len(trial.leads),
            interval=trial.interval,
            left=left if left < inf else None,
        )

    def model(self) -> Model:
        """Return what was learned, with the trial of searches with it against searches without."""
        from anygame.search.tree.practice import FEWEST_GAMES
        from anygame.search.tree.trial import LEAVES, TRUST, Trial, try_out

        game, learner = self._searcher.game, self._learner
        trial: Trial = Trial()
        if learner.games >= FEWEST_GAMES:
            trial = try_out(game, learner.weights, seed=self._seed, is_shared=learner.is_shared)
        figures = ModelFigures(
            game=game.name,
            rules=rules_digest(game),
            games=learner.games,
            positions=learner.positions,
            seconds=self._seconds,
            trial_leaves=LEAVES,
            trial_matches=len(trial.leads),
            trial_score=sum(trial.leads),
            trust=TRUST if trial.speaks_for_it else 0.0,
        )
        return Model(figures, fluents_of(self._searcher), learner.weights.copy())

    def _write(self) -> None:
        from anygame.search.array_file import write_arrays

        header = {
            "format": _FORMAT,
            "rules": rules_digest(self._searcher.game),
            "fluents": fluents_of(self._searcher),
            "seed": self._seed,
            "seconds": self._seconds,
            "next_trial": self._next_trial,
            "reported": self._reported,
        }
        write_arrays(self._checkpoint, header, {**self._learner.state(), "earlier": self._earlier})

    def resume(self) -> None:
        """Go on from the checkpoint beside the model that came furthest.

        Raises:
            ModelError: there is none that can be used.
        """
        from anygame.search.array_file import read_arrays

        furthest: tuple[float, int, Any, dict[str, Any]] | None = None
        reasons = []
        for place, path in enumerate(sorted(self._path.parent.glob(f"{self._path.name}.*{_SUFFIX}"))):
            try:
                header, arrays = read_arrays(path, _FORMAT)
                self._restore(header, arrays)
            except (ModelError, ValueError, TypeError, KeyError) as error:
                reasons.append(f"; {path} cannot be used: {error}")
                continue
            found = self._games, place, header, arrays
            furthest = found if furthest is None else max(furthest, found, key=lambda each: each[:2])
        if furthest is None:
            raise ModelError(f"there is no training of {self._path} to go on with" + "".join(reasons))
        self._restore(*furthest[2:])

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take a state; raise ValueError, TypeError or KeyError where it is of another kind."""
        from anygame.search.tree.learner import Learner

        game = self._searcher.game
        if header["rules"] != rules_digest(game) or tuple(header["fluents"]) != fluents_of(self._searcher):
            raise ValueError("it is of other rules")
        seed = int(header["seed"])
        learner = Learner(self._searcher, seed)
        learner.restore(arrays)
        self._begin(learner, seed)
        error, positions = header["reported"]
        self._reported = float(error), int(positions)
        self._seconds, self._next_trial = float(header["seconds"]), int(header["next_trial"])
        if arrays["earlier"].shape != self._earlier.shape or arrays["earlier"].dtype != self._earlier.dtype:
            raise ValueError("its earlier self has other weights")
        self._earlier = arrays["earlier"].copy()
