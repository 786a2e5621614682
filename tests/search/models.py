"""Models whose weights nobody has learned, as they are made and found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.game.encoding import rules_digest
from anygame.search import Model, ModelFigures
from anygame.search.evaluation.network import first_weights
from anygame.search.model import TrainingProgress, inputs_of, model_path
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game.game import Game

#: A point of a history.
POINT = TrainingProgress(1000, 9000, 1.0, 0.2, 0.75, 12, (0.47, 0.91))


def model_of(game: Game, trust: float = 0.6) -> Model:
    """Return a model of a game."""
    searcher = TreeSearcher(game, seed=1, memory=1 << 20)
    figures = ModelFigures(game.name, rules_digest(game), 500, 9000, 1.5, 2000, 6, 5.5, trust, (POINT,))
    return Model(figures, inputs_of(searcher), first_weights(searcher.shape, 32, 1))


def saved_model(game: Game, trust: float = 0.6) -> Path:
    """Write a model of a game to the folder of models, and return its file."""
    path = model_path(game)
    assert path is not None
    model_of(game, trust).save(path)
    return path
