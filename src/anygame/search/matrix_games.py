"""Games of one simultaneous move: the value of a matrix under mixed strategies (von Neumann 1928)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anygame.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def values_of_games(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of matrix games whose rows are chosen by the one who wants much.

    Args:
        payoffs: float [games, rows, columns].

    Raises:
        MissingExtraError: a game larger than 2 x 2 has no saddle point, and scipy is not installed.

    >>> import numpy as np
    >>> values_of_games(np.array([[[1.0, 0.0], [0.0, 1.0]], [[3.0, 2.0], [5.0, 0.0]]])).tolist()
    [0.5, 2.0]
    """
    assured = payoffs.min(axis=2).max(axis=1)
    conceded = payoffs.max(axis=1).min(axis=1)
    mixed = np.flatnonzero(assured < conceded)
    if not len(mixed):
        return np.asarray(assured)
    different, where = np.unique(payoffs[mixed], axis=0, return_inverse=True)
    small = payoffs.shape[1:] == (2, 2)
    values = _two_by_two(different) if small else np.array([_by_linear_program(game) for game in different])
    assured[mixed] = values[where.reshape(-1)]
    return np.asarray(assured)


def _two_by_two(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    a, b, c, d = payoffs[:, 0, 0], payoffs[:, 0, 1], payoffs[:, 1, 0], payoffs[:, 1, 1]
    return np.asarray((a * d - b * c) / (a + d - b - c))


def _by_linear_program(payoffs: NDArray[np.float64]) -> float:
    """Maximise v such that some mixture of the rows gives at least v against every column."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError(
            "mixed strategies need linear programs, which scipy solves: pip install 'anygame[solve]'", "solve"
        ) from None
    rows, columns = payoffs.shape
    result = linprog(
        c=np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-payoffs.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    return float(-result.fun)
