"""Function that searches a state and returns the values of its moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.game.game import begun
from anygame.search.searching import DEFAULT_MEMORY, Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.analysis import Analysis
    from anygame.search.model import Model
    from anygame.search.table import Table

#: Default time of an analysis in seconds.
SECONDS: Final = 5.0


def analyse(
    game: Game | State,
    state: State | None = None,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    seed: int | None = None,
    table: Table | None = None,
    model: Model | None = None,
    progress: Callable[[Analysis], None] | None = None,
) -> Analysis:
    """Search a state, and return the values of its moves with lines of best play.

    The command ``anygame analyse`` and the player ``mcts`` use the same search. After Ctrl-C, the function
    returns the analysis so far. To search successive states with one tree, use ``anygame.search.Search``.

    Args:
        game: the game, or the state to search.
        state: the state to search; the initial state by default.
        seconds: time limit; by default 5 s if ``iterations`` is not given. With ``math.inf``, the search ends
            when all values are proven.
        iterations: maximum number of leaves to evaluate.
        threads: number of threads.
        memory: approximate maximum size of the tree in bytes.
        seed: seed of the random numbers; None for a new seed. With one thread and a number of iterations, the
            same seed gives the same analysis.
        table: exact values, which the analysis shows as proven; see ``anygame.solve``.
        model: learned estimates; see ``anygame.load_model``.
        progress: called with the analysis about four times a second. By default, a notebook shows it.

    Raises:
        ModelError: the model was trained for another game.
        PositionError: the state or the table belongs to another game.
        ValueError: a number is out of range.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe", machine="reasoner")
    >>> state = game.state(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 b)", "(cell 2 1 o)", "(cell 2 2 b)",
    ...     "(cell 2 3 b)", "(cell 3 1 b)", "(cell 3 2 b)", "(cell 3 3 o)", "(control x)"])
    >>> found = anygame.analyse(state, iterations=1000, seed=1)
    >>> best = found.moves["x"][0]
    >>> best.move, best.proven, best.line
    ((mark 1 3), 100, (((mark 1 3), noop),))
    """
    game, state = begun(game, state)
    if seconds is None and iterations is None:
        seconds = SECONDS
    search = Search(game, seed=seed, threads=threads, memory=memory, table=table, model=model)
    return search.run(state, seconds=seconds, iterations=iterations, progress=progress)
