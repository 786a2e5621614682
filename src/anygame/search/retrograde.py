"""Retrograde analysis: values of all states of a graph, by sweeps from the last layer to the first.

Each state has a lower and an upper bound of its value for one role. The initial bounds are the lowest and the
highest goal of the game. A sweep recomputes the bounds of each state from the bounds of its children. A final
state without a goal keeps the initial bounds. If both bounds of a state are equal, the value is exact. An
exact value depends neither on the value of endless play, nor on the value of final states without a goal. The
role can guarantee the lower bound in a bounded number of moves, and the opponent can limit the role to the
upper bound. If all edges lead to later layers, one sweep is enough. Otherwise, sweeps are repeated until no
bound changes (value iteration: Shapley 1953, Condon 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from anygame.errors import needing
from anygame.native.marking import Elements, Int32s, exported
from anygame.search.lanes import joint_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.search.graph import StateGraph

#: Minimum change of a bound that causes another sweep. With chance in endless play, bounds converge slowly.
TOLERANCE: Final = 1e-12
#: Maximum number of sweeps. In a game that tosses a fair coin until heads, each sweep halves the error.
_MOST_SWEEPS: Final = 10_000
#: Distance to the end from a state in which best play never ends.
FAR: Final = np.int32((1 << 31) - 2)


@dataclass(frozen=True, slots=True)
class Players:
    """Objectives of the roles; each role is given by an index."""

    most: int  # the maximising role, whose value is computed
    least: int | None  # the minimising role; None in a game for one role
    chance: tuple[int, ...]  # the roles that move at random


@dataclass(frozen=True, slots=True)
class Values:
    """Bounds of the value of each expanded state."""

    lower: NDArray[Any]  # [states]; lower bounds, as goals or as indices of ``levels``
    upper: NDArray[Any]  # [states]; upper bounds, as goals or as indices of ``levels``
    levels: NDArray[np.float64] | None = None  # [levels]; all goals, ascending; None if bounds are goals

    def goals(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Convert lower or upper bounds to goals."""
        return np.asarray(values if self.levels is None else self.levels[values.astype(np.int64)])

    def bounds(self, state: int) -> tuple[float, float]:
        """Return the lower and the upper bound of a state, as goals."""
        least, most = self.goals(np.array([self.lower[state], self.upper[state]])).tolist()
        return least, most


def _groups(graph: StateGraph, layer: int) -> Iterator[tuple[NDArray[np.int64], tuple[int, ...]]]:
    """Group states of a layer by the roles' numbers of moves; yield each group and the numbers of moves."""
    first = int(graph.layers[layer])
    options = graph.options[first : graph.layers[layer + 1]]
    going = np.flatnonzero(options[:, 0])
    ordered = going[np.lexsort(options[going].T[::-1])]
    changes = 1 + np.flatnonzero((np.diff(options[ordered], axis=0) != 0).any(axis=1))
    for states in np.split(ordered, changes) if len(ordered) else ():
        yield first + states, tuple(options[states[0]].tolist())


def find_values(graph: StateGraph, players: Players, levels: NDArray[np.float64]) -> Values:
    """Return bounds of the value of every state of a complete graph.

    ``levels`` holds the possible values of a terminal state for ``players.most``, ascending.
    """
    lower = np.full(graph.expanded, levels[0], np.float64)
    upper = np.full(graph.expanded, levels[-1], np.float64)
    goals = graph.goals[:, players.most]
    has_goal = ~np.isnan(goals)
    lower[graph.ends[has_goal]] = upper[graph.ends[has_goal]] = goals[has_goal]
    forward = runs_forward(graph)
    layers = reversed(range(len(graph.layers) - 1))
    groups = [group for layer in layers for group in _groups(graph, layer)]
    sweeps, changed = 0, float("inf")
    while changed > TOLERANCE and sweeps < _MOST_SWEEPS:
        sweeps, changed = sweeps + 1, 0.0
        for states, options in groups:
            children = graph.children[graph.offsets[states][:, None] + np.arange(prod(options))]
            for bound in (lower, upper):
                new = _value(bound[children], options, players)
                if not forward:
                    changed = max(changed, float(np.abs(new - bound[states]).max()))
                bound[states] = new
    return Values(lower, upper)


def runs_forward(graph: StateGraph) -> bool:
    """Return whether every joint move leads to a later layer."""
    for layer in range(len(graph.layers) - 1):
        first, end = graph.offsets[graph.layers[layer]], graph.offsets[graph.layers[layer + 1]]
        if first < end and graph.children[first:end].min() < graph.layers[layer + 1]:
            return False
    return True


def _value(values: NDArray[np.float64], options: tuple[int, ...], players: Players) -> NDArray[np.float64]:
    """Return the values of n states, given ``values`` of their children: float [n, joint moves]."""
    table = values.reshape(-1, *options)
    for role in players.chance:
        table = table.mean(axis=1 + role, keepdims=True)
    most = options[players.most]
    least = 1 if players.least is None else options[players.least]
    if players.least is not None and players.least < players.most:
        table = table.swapaxes(1 + players.most, 1 + players.least)
    table = table.reshape(-1, most, least)
    if most == 1:
        return np.asarray(table.min(axis=(1, 2)))
    if least == 1:
        return np.asarray(table.max(axis=(1, 2)))
    return values_of_games(table)


def values_of_games(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of matrix games in which the maximising role chooses the row.

    Each value is clipped to the bounds that pure strategies guarantee.

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
    if payoffs.shape[1:] == (2, 2):
        # Without a saddle point, a - b and d - c have the same sign, so their sum is free of cancellation.
        a, b, c, d = different.reshape(-1, 4).T
        values = c + (a - c) * ((d - c) / ((a - b) + (d - c)))
    else:
        values = np.array([_by_linear_program(game) for game in different])
    assured[mixed] = values[where.reshape(-1)].clip(assured[mixed], conceded[mixed])
    return np.asarray(assured)


def _by_linear_program(payoffs: NDArray[np.float64]) -> float:
    """Return the greatest expected payoff that a mixture of rows guarantees against every column."""
    with needing("solve", "mixed strategies need linear programs, which scipy solves"):
        from scipy.optimize import linprog
    rows, columns = payoffs.shape
    # Scale the payoffs, since the tolerances of the solver suit numbers near 1.
    lowest, width = payoffs.min(), np.ptp(payoffs)
    result = linprog(
        c=np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[(lowest - payoffs.T) / width, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    return float(lowest - width * result.fun)


#: Role index that compiled code gets for the minimising role if no role minimises.
_NOBODY = -1
#: Type of ``StateGraph.options`` in compiled code.
_Options = Annotated[NDArray[Any], Elements(("uint8", "uint32"), 2)]
#: Type, in compiled code, of bounds that are indices of goals in ``Values.levels``.
_Ranks = Annotated[NDArray[Any], Elements(("uint8", "uint32"))]


def retrograde_values(graph: StateGraph, players: Players, levels: NDArray[np.float64]) -> Values:
    """Return bounds of the value of every state, as ranks. The roles must take turns without chance.

    The function is a faster, native version of ``find_values``. A sweep visits states in the reverse order of
    their discovery (retrograde analysis: Stroehlein 1970, Thompson 1986).
    """
    goals = graph.goals[:, players.most]
    has_goal = ~np.isnan(goals)
    kind = np.uint8 if len(levels) <= 1 << 8 else np.uint32
    lower, upper = np.zeros(graph.expanded, kind), np.full(graph.expanded, len(levels) - 1, kind)
    ranks = np.searchsorted(levels, goals[has_goal])
    lower[graph.ends[has_goal]] = upper[graph.ends[has_goal]] = ranks
    forward = runs_forward(graph)
    least = _NOBODY if players.least is None else players.least
    while _sweep(graph.options, graph.children, players.most, least, lower, upper) and not forward:
        pass
    return Values(lower, upper, levels)


def retrograde_distances(
    graph: StateGraph, values: Values, players: Players, middle: float
) -> NDArray[np.int32]:
    """Return the number of joint moves of best play from each state, int32 [states]; FAR if play never ends.

    Best play keeps both bounds. A move that keeps only one bound can lead to a final state without a goal. A
    role whose value is above ``middle`` prefers a short match. The other role prefers a long match.
    """
    assert values.levels is not None
    distances = np.full(graph.expanded, FAR, np.int32)
    distances[graph.ends] = 0
    below = int(np.searchsorted(values.levels, middle, side="left"))
    above = int(np.searchsorted(values.levels, middle, side="right"))
    forward = runs_forward(graph)
    least = _NOBODY if players.least is None else players.least
    bounds = values.lower, values.upper
    arguments = (graph.options, graph.children, players.most, least, *bounds, distances, below, above)
    while _distance_sweep(*arguments) and not forward:
        pass
    return distances


@exported
def _sweep(options: _Options, children: Int32s, most: int, least: int, lower: _Ranks, upper: _Ranks) -> bool:
    """Recompute the bounds of all states from their children's bounds; return whether a bound changed."""
    at, changed = len(children), False
    for state in range(len(options) - 1, -1, -1):
        joint = joint_count(options, state)
        if not joint:
            continue
        at -= joint
        low, high = lower[children[at]], upper[children[at]]
        if least == _NOBODY or options[state, most] > 1:
            for edge in range(at + 1, at + joint):
                low, high = max(low, lower[children[edge]]), max(high, upper[children[edge]])
        else:
            for edge in range(at + 1, at + joint):
                low, high = min(low, lower[children[edge]]), min(high, upper[children[edge]])
        changed |= low != lower[state] or high != upper[state]
        lower[state], upper[state] = low, high
    return changed


@exported
def _distance_sweep(
    options: _Options,
    children: Int32s,
    most: int,
    least: int,
    lower: _Ranks,
    upper: _Ranks,
    distances: Int32s,
    below: int,
    above: int,
) -> bool:
    """Recompute distances from the children that keep both bounds; return whether a distance changed."""
    at, changed = len(children), False
    for state in range(len(options) - 1, -1, -1):
        joint = joint_count(options, state)
        if not joint:
            continue
        at -= joint
        mine = lower[state]
        late = least != _NOBODY and (mine < below if options[state, most] > 1 else mine >= above)
        wanted = np.int32(-1) if late else FAR
        for edge in range(at, at + joint):
            child = children[edge]
            if lower[child] == mine and upper[child] == upper[state]:
                wanted = max(wanted, distances[child]) if late else min(wanted, distances[child])
        wanted = np.int32(min(wanted, FAR - 1) + 1)
        changed |= wanted != distances[state]
        distances[state] = wanted
    return changed
