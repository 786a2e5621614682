"""Search: values of moves by Monte Carlo tree search, and exact solutions of games with few enough states."""

from __future__ import annotations

from anygame.search.analysis import Analysis, MoveAnalysis, PracticeReport
from anygame.search.goals import Bounds
from anygame.search.model import Model, ModelFigures, load_model, models
from anygame.search.searching import Search, analyse
from anygame.search.solving import solve
from anygame.search.table import Solution, Table, load_table, save_table

__all__ = [
    "Analysis",
    "Bounds",
    "Model",
    "ModelFigures",
    "MoveAnalysis",
    "PracticeReport",
    "Search",
    "Solution",
    "Table",
    "analyse",
    "load_model",
    "load_table",
    "models",
    "save_table",
    "solve",
]

#: The modules whose marked functions become native code; see :mod:`anygame.native.library`.
NATIVE_MODULES = (
    "anygame.search.lanes",
    "anygame.search.learning.self_play",
    "anygame.search.one_player.relaxation",
    "anygame.search.retrograde",
    "anygame.search.state_set",
    "anygame.search.tree.forgetting",
    "anygame.search.tree.growing",
)
