"""Models: files with learned estimates of the states of a game.

Searches look for the model of a game in the folder of models, then in the package. The environment variable
``ANYGAME_MODELS`` sets another folder. If ``ANYGAME_MODELS`` is empty, searches use no models.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import ModelError
from anygame.game.encoding import rules_digest
from anygame.language.diagnostics import counted
from anygame.markup import meter, table
from anygame.native.cache import user_folder
from anygame.plotting import axes_or_new

if TYPE_CHECKING:
    import os

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.search.tree.searcher import TreeSearcher

#: Name of the file format in the header of a model file.
FORMAT: Final = "anygame model 2"
#: Suffix of model files.
SUFFIX: Final = ".npz"
#: Folder of the models that come with the package. ``tools/train_models.py`` writes them.
PACKAGED: Final = Path(__file__).parent / "models"
#: Maximum number of points of a training history. The number of games doubles from each point to the next.
_LONGEST_HISTORY: Final = 64


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Progress of a training run.

    >>> print(TrainingProgress(2_000, 120_000, 1.5, 0.1234, 0.75, 12, (0.47, 0.91), 60.0))
    2,000 games in 2 s, error 0.123; 75 % (47 to 91) in 12 matches against the earlier model; 60 s left
    >>> print(TrainingProgress(2_900, 174_000, 2.4, 0.1212))
    2,900 games in 2 s, error 0.121
    >>> print(TrainingProgress(2_900, 174_000, 2.4, 0.1212, trial_matches=8))
    2,900 games; trial: 8 matches so far

    Attributes:
        games: number of finished games.
        positions: number of positions in the finished games.
        seconds: duration of self-play in seconds.
        error: mean squared difference, from 0 to 1, between estimates and results since the last comparison.
        score: score, from 0 to 1, of searches with the current weights against searches with the weights
            after half the games.
        matches: number of matches that compare the two sets of weights; 0 if there was no comparison.
        interval: 95 % confidence interval of the score.
        left: estimated seconds until the end of self-play; None if unknown.
        trial_matches: number of matches so far in the last trial; None before this trial.
    """

    games: int
    positions: int
    seconds: float
    error: float
    score: float = 0.5
    matches: int = 0
    interval: tuple[float, float] = (0.0, 1.0)
    left: float | None = None
    trial_matches: int | None = None

    def __str__(self) -> str:
        if self.trial_matches is not None:
            return f"{counted(self.games, 'game')}; trial: {counted(self.trial_matches, 'match')} so far"
        low, high = (round(100 * bound) for bound in self.interval)
        matches = counted(self.matches, "match")
        score = f"; {100 * self.score:.0f} % ({low} to {high}) in {matches} against the earlier model"
        left = "" if self.left is None else f"; {duration_text(self.left)} left"
        return (
            f"{counted(self.games, 'game')} in {duration_text(self.seconds)}, error {self.error:.3f}"
            f"{score if self.matches else ''}{left}"
        )


def duration_text(seconds: float) -> str:
    """Return a duration as a string with a suitable unit.

    >>> [duration_text(seconds) for seconds in (90, 1800, 28_800)]
    ['90 s', '30 min', '8.0 h']
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class ModelFigures:
    """Figures of a model: its game, its training and its trial.

    >>> figures = ModelFigures("chess", "sha256:00", 50_000, 3_000_000, 20.0, 2000, 12, 11.0, 0.6)
    >>> print(figures)
    chess: 50,000 games; 11 points in 12 trial matches with up to 2,000 leaves a move: used

    Attributes:
        game: the name of the game.
        rules: digest of the rules, without comments and layout.
        games: number of games of self-play.
        positions: number of positions in the games of self-play.
        seconds: duration of self-play in seconds.
        trial_leaves: maximum number of leaves per move in the matches of the trial.
        trial_matches: number of matches between searches with and without the model.
        trial_score: points of the searches with the model.
        trust: weight of the estimates, from 0 to 1. At 1, searches use no playouts. At 0, searches do not use
            the model.
        history: progress of the training, each time the number of games had doubled.
    """

    game: str
    rules: str
    games: int
    positions: int
    seconds: float
    trial_leaves: int
    trial_matches: int
    trial_score: float
    trust: float
    history: tuple[TrainingProgress, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether the model won its trial, so that searches use it."""
        return self.trust > 0

    def __str__(self) -> str:
        trial = "no trial"
        if self.trial_matches:
            trial = (
                f"{self.trial_score:.3g} points in {self.trial_matches} trial matches "
                f"with up to {self.trial_leaves:,} leaves a move"
            )
        used = "used" if self.is_used else "not used"
        return f"{self.game}: {counted(self.games, 'game')}; {trial}: {used}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot two curves over the number of games: scores against earlier weights, and errors.

        Args:
            ax: axes for the plot; new axes by default.

        Raises:
            MissingExtraError: the extra ``plot`` is not installed.
        """
        ax = axes_or_new(ax)
        games = [each.games for each in self.history]
        reach = [[abs(each.score - each.interval[side]) for each in self.history] for side in (0, 1)]
        scores = [each.score for each in self.history]
        ax.errorbar(games, scores, yerr=reach, fmt="o-", capsize=3, label="score against the earlier model")
        ax.plot(games, [each.error for each in self.history], "s--", label="error")
        ax.axhline(0.5, color="grey", linewidth=0.8)
        ax.set(title=self.game, xlabel="games", xscale="log" if games else "linear", ylim=(0, 1.05))
        ax.legend(loc="lower right")
        return ax

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{each.games:,}",
                f"{each.seconds:.0f}",
                f"{each.error:.3f}",
                meter(100 * each.score, f"{100 * each.score:.0f} %"),
                "{:.0f} to {:.0f}".format(*(100 * bound for bound in each.interval)),
            )
            for each in self.history
        ]
        return table(("games", "seconds", "error", "score", "95 %"), rows, caption=str(self))


@dataclass(frozen=True, eq=False)
class Model:
    """Learned estimates of the states of a game.

    Attributes:
        figures: figures of the training and the trial.
        fluents: names of the inputs: fluents, then patterns.
        weights: see ``anygame.search.evaluation.network.ValueNetwork``.
    """

    figures: ModelFigures
    fluents: tuple[str, ...]
    weights: NDArray[np.float32]

    def _repr_html_(self) -> str:
        return self.figures._repr_html_()

    @property
    def has_windows(self) -> bool:
        """Whether windows are among the inputs of the model; see ``evaluation.windows``."""
        return any(name.startswith("window ") for name in self.fluents[-1:])

    def check(self, game: Game) -> None:
        """Raise ModelError unless the model was trained with the rules of a game."""
        if self.figures.rules != rules_digest(game):
            raise ModelError(f"the model of {self.figures.game!r} does not fit the rules of {game.name}")

    def use_in(self, searcher: TreeSearcher) -> None:
        """Make a searcher use the model if the model won its trial.

        Raises:
            ModelError: the compiled game and the model have different fluents.
        """
        searcher.windows = self.has_windows
        if self.fluents != inputs_of(searcher) or not searcher.can_use(self.weights):
            raise ModelError(
                f"this version of anygame cannot use the inputs of the model of {self.figures.game!r}: "
                "train a new model"
            )
        if self.figures.is_used:
            searcher.use_estimates(self.weights, self.figures.trust)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically; raise ModelError if that fails."""
        from anygame.search.array_file import write_arrays

        header = {"format": FORMAT, **asdict(self.figures), "fluents": self.fluents}
        write_arrays(Path(path), header, {"weights": self.weights})


def inputs_of(searcher: TreeSearcher) -> tuple[str, ...]:
    """Return the names of the inputs of a network: fluents of the compiled game, then patterns."""
    return (*map(str, searcher.game.fluent_terms), *searcher.patterns.names)


def load_model(path: str | os.PathLike[str], game: Game | None = None) -> Model:
    """Read a model file.

    Args:
        path: path of the file.
        game: the expected game; None for any game.

    Raises:
        ModelError: the file cannot be read, is not a model, is damaged, or belongs to other rules.
    """
    from anygame.search.array_file import read_arrays

    header, arrays = read_arrays(Path(path), FORMAT)
    weights, names = arrays.get("weights"), header.get("fluents")
    if (
        weights is None
        or weights.dtype not in ("float16", "float32")
        or weights.ndim != 2
        or not all(map(isfinite, weights.flat))
        or not (isinstance(names, list) and all(isinstance(name, str) for name in names))
    ):
        raise ModelError(f"{path} is damaged: the weights or the names of the inputs are missing or invalid")
    model = Model(figures_of(header, path), tuple(names), weights.astype("float32"))
    if game is not None:
        model.check(game)
    return model


def figures_of(header: dict[str, Any], path: str | os.PathLike[str]) -> ModelFigures:
    """Return the figures in the header of a model file; raise ModelError if the header is damaged."""
    values = {each.name: header.get(each.name) for each in fields(ModelFigures)}
    try:
        history = history_of(values.pop("history"))
    except ValueError as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    for each in fields(ModelFigures):
        if each.name in values and not _is_of(str(each.type), values[each.name]):
            raise ModelError(f"{path} is damaged: {each.name} is missing or invalid")
    figures = ModelFigures(**values, history=history)  # type: ignore[arg-type]
    if figures.trust > 1:
        raise ModelError(f"{path} is damaged: trust is {figures.trust}, expected at most 1")
    return figures


def history_of(found: object) -> tuple[TrainingProgress, ...]:
    """Return the history of a training from JSON; raise ValueError if the JSON is not a history."""
    others = {"interval", "left", "trial_matches"}
    numbers = {each.name: str(each.type) for each in fields(TrainingProgress) if each.name not in others}
    history = []
    for each in found if isinstance(found, list) and len(found) <= _LONGEST_HISTORY else (None,):
        values = each if isinstance(each, dict) else {}
        interval = values.get("interval")
        if (
            not isinstance(interval, list)
            or len(interval) != 2
            or not all(_is_of("float", bound) for bound in interval)
            or not all(_is_of(kind, values.get(name)) for name, kind in numbers.items())
        ):
            raise ValueError("an entry of the training history has missing or invalid figures")
        point = {name: values[name] for name in numbers}
        history.append(TrainingProgress(**point, interval=(interval[0], interval[1])))
    return tuple(history)


def _is_of(kind: str, value: object) -> bool:
    """Return whether a value has the named type; a number must also be from 0 to 1e15."""
    kinds = {"str": str, "int": int, "float": int | float}
    is_right = isinstance(value, kinds[kind]) and not isinstance(value, bool)
    return is_right and not (isinstance(value, int | float) and not 0 <= value < 1e15)


def models_folder() -> Path | None:
    """Return the folder of models; None if ``ANYGAME_MODELS`` is empty."""
    return user_folder("ANYGAME_MODELS", "XDG_DATA_HOME", "~/.local/share", "models")


def model_name(game: Game) -> str:
    """Return the name of a game's model file: a prefix of the digest of the rules, and the suffix."""
    return rules_digest(game).partition(":")[2][:40] + SUFFIX


def model_path(game: Game) -> Path | None:
    """Return the path of a game's model file, even if there is no file; None if models are disabled."""
    folder = models_folder()
    return folder / model_name(game) if folder else None


def find_model(game: Game) -> Model | None:
    """Return the model of a game from the folder of models, or else from the package, or else None.

    A model that lost its trial does not replace a model of the package.

    Raises:
        ModelError: the file cannot be used.
    """
    model = model_named(model_name(game))
    if model is not None:
        model.check(game)
    return model


def model_named(name: str) -> Model | None:
    """Return the model in a file with the given name; see ``find_model``."""
    folder, model = models_folder(), None
    for path in () if folder is None else (folder / name, PACKAGED / name):
        if (model is None or not model.figures.is_used) and path.is_file():
            model = load_model(path)
    return model


def usable_model(game: Game) -> Model | None:
    """Return the model of a game, see ``find_model``; None if the model is missing or cannot be used."""
    with suppress(ModelError):
        return find_model(game)
    return None


def wanted_model(game: Game, wanted: str | bool) -> Model | None:
    """Return the model in the file ``wanted``; True means the result of ``find_model``, and False means None.

    Raises:
        ModelError: the file cannot be used.
    """
    if isinstance(wanted, str):
        return load_model(wanted, game)
    return find_model(game) if wanted else None


def models() -> dict[Path, ModelFigures | ModelError]:
    """Return the figures of each model file, or the error of an unusable file; packaged files are last."""
    folder = models_folder()
    known: dict[Path, ModelFigures | ModelError] = {}
    folders = () if folder is None else (folder, PACKAGED)
    for path in [path for folder in folders for path in sorted(folder.glob(f"[!.]*{SUFFIX}"))]:
        try:
            known[path] = load_model(path).figures
        except ModelError as error:
            known[path] = error
    return known
