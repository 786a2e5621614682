"""anygame: load, play, question and simulate any game written in the Game Description Language.

>>> import anygame
>>> game = anygame.loads('''
...   (role x) (role o)
...   (init (control x))
...   (<= (legal ?r (say ?w)) (true (control ?r)) (word ?w))
...   (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
...   (word yes) (word no)
...   (<= (next (said ?w)) (does ?r (say ?w)))
...   (<= terminal (true (said ?w)))''')
>>> state = game.initial_state()
>>> state.legal_moves("x")
((say no), (say yes))
>>> state = state.next({"x": "(say yes)", "o": "noop"})
>>> state
<State of <text>, terminal: (said yes)>
"""

from __future__ import annotations

from anygame.errors import (
    AnygameError,
    ClusterError,
    CompilationError,
    DeviceError,
    EncodingError,
    GoalError,
    IllegalMoveError,
    LimitError,
    MissingExtraError,
    ModelError,
    PlayerError,
    PositionError,
    QueryError,
    QuizError,
    RecordError,
    RuleSheetError,
    SheetSyntaxError,
    SimultaneousMovesError,
    TableError,
    TermSyntaxError,
    UnknownRoleError,
    WorkerLostError,
)
from anygame.game import (
    Batch,
    Bindings,
    Encoding,
    FallbackWarning,
    Game,
    LenientReadingWarning,
    Playout,
    Role,
    SimulationResult,
    Snapshot,
    State,
    Stuck,
    load,
    loads,
    perft,
    perft_divide,
)
from anygame.language.installed import games
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

__version__ = "0.1.0"
