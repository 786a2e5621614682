"""Models: estimates of a sheet's states that were learned before, in files of their own.

They lie in a folder, a file for each sheet, where searches of it find them: ``ANYGAME_MODELS`` names another
folder; empty, it switches models off.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import ModelError
from anygame.game.encoding import rules_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.search.tree.searcher import TreeSearcher

FORMAT: Final = "anygame model 1"
#: What files of models end with.
SUFFIX: Final = ".npz"


@dataclass(frozen=True)
class ModelFigures:
    """What is known of a model besides its weights.

    >>> figures = ModelFigures("chess", "sha256:00", 50_000, 3_000_000, 20.0, 2000, 12, 11.0, 0.6)
    >>> print(figures)
    chess: 50,000 games; 11 points of 12 trial matches at 2,000 leaves a move: used

    Attributes:
        game: the name of the game.
        rules: a digest of its rules; comments and layout do not count.
        games: how many were learned from.
        positions: how many of them.
        seconds: how long that took.
        trial_leaves: for a move, in the matches of the trial.
        trial_matches: of searches with the model against searches without.
        trial_score: points of the former.
        trust: how much its estimates count beside playouts, 0 to 1: 0 where the trial speaks against them.
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

    @property
    def is_used(self) -> bool:
        """Whether searches use it: only where the trial speaks for it."""
        return self.trust > 0

    def __str__(self) -> str:
        trial = "not tried out"
        if self.trial_matches:
            trial = (
                f"{self.trial_score:.3g} points of {self.trial_matches} trial matches "
                f"at {self.trial_leaves:,} leaves a move"
            )
        return f"{self.game}: {self.games:,} games; {trial}: {'used' if self.is_used else 'not used'}"


@dataclass(frozen=True, eq=False)
class Model:
    """Estimates of the states of a game, and what is known of them.

    Attributes:
        figures: what was learned from, and what the trial said.
        fluents: the names of what the weights belong to, in the order of their rows.
        weights: float32 [64 words + 2, units]; see ``anygame.search.tree.proving``.
    """

    figures: ModelFigures
    fluents: tuple[str, ...]
    weights: NDArray[np.float32]

    def check(self, game: Game) -> None:
        """Raise unless this is a model of a game.

        Raises:
            ModelError: its rules are others.
        """
        if self.figures.rules != rules_digest(game):
            raise ModelError(f"the model is of {self.figures.game!r}; the rules of {game.name} differ")

    def use_in(self, searcher: TreeSearcher) -> None:
        """Have a searcher use it, unless its trial spoke against it.

        Raises:
            ModelError: the compiled game has other fluents than that which the model was learned from.
        """
        if self.fluents != fluents_of(searcher) or self.weights.shape != searcher.code.weights.shape:
            raise ModelError(
                f"the model of {self.figures.game!r} is of other facts than this version of anygame finds: "
                "train it anew"
            )
        if self.figures.is_used:
            searcher.use_estimates(self.weights, self.figures.trust)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, whole or not at all.

        Raises:
            ModelError: it cannot be written.
        """
        from anygame.search.array_file import write_arrays

        header = {"format": FORMAT, **asdict(self.figures), "fluents": self.fluents}
        write_arrays(Path(path), header, {"weights": self.weights})


def fluents_of(searcher: TreeSearcher) -> tuple[str, ...]:
    """Return the names of the fluents of a compiled game, in the order of a model's rows."""
    return tuple(map(str, searcher.game.fluent_terms))


def load_model(path: str | os.PathLike[str], game: Game | None = None) -> Model:
    """Read a model that ``anygame train`` has written.

    Args:
        path: of the file.
        game: of which it should be; None for any.

    Raises:
        ModelError: it cannot be read, is no model or damaged, or belongs to other rules.
    """
    from anygame.search.array_file import read_arrays

    header, arrays = read_arrays(Path(path), FORMAT)
    weights, names = arrays.get("weights"), header.get("fluents")
    if (
        weights is None
        or weights.dtype != "float32"
        or weights.ndim != 2
        or not all(map(isfinite, weights.flat))
        or not (isinstance(names, list) and all(isinstance(name, str) for name in names))
    ):
        raise ModelError(f"{path} is damaged: its weights are no numbers, or have no names")
    model = Model(figures_of(header, path), tuple(names), weights)
    if game is not None:
        model.check(game)
    return model


def figures_of(header: dict[str, Any], path: str | os.PathLike[str]) -> ModelFigures:
    """Return the figures of a header.

    Raises:
        ModelError: there are none.
    """
    kinds = {"str": str, "int": int, "float": int | float}
    values = {each.name: header.get(each.name) for each in fields(ModelFigures)}
    for each in fields(ModelFigures):
        value = values[each.name]
        is_right = isinstance(value, kinds[str(each.type)]) and not isinstance(value, bool)
        if not is_right or (isinstance(value, int | float) and not 0 <= value < 1e15):
            raise ModelError(f"{path} is damaged: it does not say what {each.name} is")
    figures = ModelFigures(**values)  # type: ignore[arg-type]
    if figures.trust > 1:
        raise ModelError(f"{path} is damaged: nothing can be trusted by {figures.trust}")
    return figures


def models_folder() -> Path | None:
    """Return the folder of models; None where there shall be none."""
    chosen = os.environ.get("ANYGAME_MODELS")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    # A home that cannot be found stays "~": no place to write to.
    return Path(base) / "anygame" / "models" if base and os.path.isabs(base) else None


def model_path(game: Game) -> Path | None:
    """Return where the model of a game lies, or would; None where there shall be none."""
    folder = models_folder()
    return folder / (rules_digest(game).partition(":")[2][:40] + SUFFIX) if folder else None


def find_model(game: Game) -> Model | None:
    """Return the model of a game from the folder of models, None where there is none.

    Raises:
        ModelError: the file cannot be used.
    """
    path = model_path(game)
    return load_model(path, game) if path is not None and path.is_file() else None


def models() -> dict[Path, ModelFigures | ModelError]:
    """Return the models of the folder: by their files what is known of them, or why they cannot be used."""
    return dict(_models())


def _models() -> Iterator[tuple[Path, ModelFigures | ModelError]]:
    folder = models_folder()
    if folder is None or not folder.is_dir():
        return
    for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
        try:
            yield path, load_model(path).figures
        except ModelError as error:
            yield path, error
