"""Public API of `anygame`, imported lazily."""

# ruff: noqa: F403, F405 (errors and games are public as a whole)

from __future__ import annotations

from anygame.errors import *
from anygame.game import *
from anygame.language.limits import Limits, ReadingLimits
from anygame.language.terms import Compound, Constant, Term, Variable
from anygame.proving import Verdict, Verdicts, equal, prove
from anygame.search import (
    Analysis,
    Bounds,
    Model,
    ModelFigures,
    MoveAnalysis,
    Solution,
    Table,
    analyse,
    load_model,
    load_table,
    models,
    save_table,
    solve,
)
from anygame.sheets.installed import games
from anygame.training import train

__all__ = [
    "Analysis",
    "AnygameError",
    "Batch",
    "Bindings",
    "Bounds",
    "ClusterError",
    "CompilationError",
    "Compound",
    "Constant",
    "DeviceError",
    "Encoding",
    "EncodingError",
    "FallbackWarning",
    "Game",
    "GoalError",
    "IllegalMoveError",
    "LenientReadingWarning",
    "LimitError",
    "Limits",
    "MissingExtraError",
    "Model",
    "ModelError",
    "ModelFigures",
    "MoveAnalysis",
    "PlayerError",
    "Playout",
    "PositionError",
    "QueryError",
    "QuizError",
    "ReadingLimits",
    "RecordError",
    "Role",
    "RuleSheetError",
    "SheetSyntaxError",
    "SimulationResult",
    "SimultaneousMovesError",
    "Snapshot",
    "Solution",
    "State",
    "Stuck",
    "Table",
    "TableError",
    "Term",
    "TermSyntaxError",
    "UnknownRoleError",
    "Variable",
    "Verdict",
    "Verdicts",
    "WorkerLostError",
    "analyse",
    "equal",
    "games",
    "load",
    "load_model",
    "load_table",
    "loads",
    "models",
    "perft",
    "perft_divide",
    "prove",
    "save_table",
    "solve",
    "train",
]
