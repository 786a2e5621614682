"""Retrograde analysis: values of all states of a graph, by sweeps from the last layer to the first.

Each state has a lower and an upper bound of its value for one role. The first bounds are the extreme goals of
the game, and a sweep recomputes the bounds from those of the children. A final state without a goal keeps the
first bounds. If both bounds are equal, the value is exact, whatever endless play and ends without a goal are
worth. The role can guarantee the lower bound in a bounded number of moves, and the opponent can limit it to
the upper bound. If all edges lead to later layers, one sweep is enough. Other graphs are swept until nothing
changes (value iteration: Shapley 1953, Condon 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anygame.errors import needing
from anygame.native.marking import Elements, Int32s, exported
from anygame.search.lanes import joint_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.search.graph import StateGraph

#: Smallest change of expectations that needs another sweep: endless play only converges to its value.
TOLERANCE: Final = 1e-12
#: Maximum number of sweeps. For repeated fair coin tosses, each sweep halves the error.
_MOST_SWEEPS: Final = 10_000
#: Distance of states from which best play never ends.
FAR: Final = np.int32((1 << 31) - 2)


@dataclass(frozen=True, slots=True)
class Players:
    """Objectives of the roles, by place.

    Attributes:
        most: the role whose value is computed; it maximises the value.
        least: the role that minimises the value; None in a game for one role.
        chance: the roles that move at random.
    """

    most: int
    least: int | None
    chance: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Bounds of the value of each expanded state.

    Attributes:
        lower: [states]; goals as floats or, with ``levels``, their ranks.
        upper: [states]; in the same form.
        levels: all goals, ascending: float [levels]; None if bounds are not ranks.
    """

    lower: NDArray[Any]
    upper: NDArray[Any]
    levels: NDArray[np.float64] | None = None

    def goals(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return bounds as goals."""
        return np.asarray(values if self.levels is None else self.levels[values.astype(np.int64)])

    def bounds(self, state: int) -> tuple[float, float]:
        """Return the bounds of the value of a state, as goals."""
        least, most = self.goals(np.array([self.lower[state], self.upper[state]])).tolist()
        return least, most


class Group(NamedTuple):
    """States of a layer, int64 [n], whose roles have the same numbers of moves, and these numbers."""

    states: NDArray[np.int64]
    options: tuple[int, ...]

    def children(self, graph: StateGraph) -> NDArray[np.int32]:
        """Return the states after each joint move: int32 [n, joint moves]."""
        edges = graph.offsets[self.states][:, None] + np.arange(prod(self.options))
        return np.asarray(graph.children[edges])


def _layer(graph: StateGraph, layer: int) -> Iterator[Group]:
    first = int(graph.layers[layer])
    options = graph.options[first : graph.layers[layer + 1]]
    going = np.flatnonzero(options[:, 0])
    if not len(going):
        return
    kind_of = np.zeros(len(going), np.int64)
    for counts in options[going].T:
        # The groups are renumbered for each role to keep their numbers small.
        _, kind_of = np.unique(kind_of * (int(counts.max()) + 1) + counts, return_inverse=True)
    order = np.argsort(kind_of.astype(np.uint16 if kind_of.max() < 1 << 16 else np.int64), kind="stable")
    begins = np.searchsorted(kind_of[order], np.arange(kind_of.max() + 2))
    for begin, end in pairwise(begins.tolist()):
        states = going[order[begin:end]]
        yield Group(first + states, tuple(options[states[0]].tolist()))


def find_values(graph: StateGraph, players: Players, levels: NDArray[np.float64]) -> Values:
    """Return bounds of the value of every state.

    Args:
        graph: the complete graph.
        players: the objectives of the roles.
        levels: the possible values of a terminal state for ``players.most``, ascending.
    """
    lower = np.full(graph.expanded, levels[0], np.float64)
    upper = np.full(graph.expanded, levels[-1], np.float64)
    goals = graph.goals[:, players.most]
    has_goal = ~np.isnan(goals)
    lower[graph.ends[has_goal]] = upper[graph.ends[has_goal]] = goals[has_goal]
    forward = runs_forward(graph)
    layers = reversed(range(len(graph.layers) - 1))
    groups = [group for layer in layers for group in _layer(graph, layer)]
    sweeps, changed = 0, float("inf")
    while changed > TOLERANCE and sweeps < _MOST_SWEEPS:
        sweeps, changed = sweeps + 1, 0.0
        for group in groups:
            children = group.children(graph)
            for bound in (lower, upper):
                new = _value(bound[children], group.options, players)
                if not forward:
                    changed = max(changed, float(np.abs(new - bound[group.states]).max()))
                bound[group.states] = new
    return Values(lower, upper)


def runs_forward(graph: StateGraph) -> bool:
    """Return whether every joint move leads from a layer to a later one."""
    for layer in range(len(graph.layers) - 1):
        first, end = graph.offsets[graph.layers[layer]], graph.offsets[graph.layers[layer + 1]]
        if first < end and graph.children[first:end].min() < graph.layers[layer + 1]:
            return False
    return True


def _value(values: NDArray[np.float64], options: tuple[int, ...], players: Players) -> NDArray[np.float64]:
    """Return the values of states, given those of their children: float [n, joint moves]."""
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


def best_edge(
    graph: StateGraph, values: Values, distances: NDArray[np.int32], state: int, late: bool
) -> int | None:
    """Return the number of the joint move of best play in a state; None if there is none."""
    children = graph.children[graph.offsets[state] : graph.offsets[state + 1]]
    keeps = (values.lower[children] == values.lower[state]) & (values.upper[children] == values.upper[state])
    keeping: Sequence[int] = np.flatnonzero(keeps).tolist()
    if not keeping:
        return None
    sign = -1 if late else 1
    return min(keeping, key=lambda edge: sign * int(distances[children[edge]]))


def values_of_games(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of matrix games whose rows the maximising role chooses.

    Rounding never moves a value out of the bounds that pure strategies give.

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
        # Without a saddle point, both differences have the same sign, so the sum does not cancel.
        a, b, c, d = different.reshape(-1, 4).T
        values = c + (a - c) * ((d - c) / ((a - b) + (d - c)))
    else:
        values = np.array([_by_linear_program(game) for game in different])
    assured[mixed] = values[where.reshape(-1)].clip(assured[mixed], conceded[mixed])
    return np.asarray(assured)


def _by_linear_program(payoffs: NDArray[np.float64]) -> float:
    """Return the greatest value that a mixture of the rows guarantees against every column."""
    with needing("solve", "mixed strategies need linear programs, which scipy solves"):
        from scipy.optimize import linprog
    rows, columns = payoffs.shape
    # The payoffs are scaled, since the tolerances of the solver suit numbers near 1.
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


#: Place of the minimising role in a game for one role.
_NOBODY = -1
#: Arrays of numbers of moves, and of ranks of goals: bytes if the numbers fit.
_Options = Annotated[NDArray[Any], Elements(("uint8", "uint32"), 2)]
_Ranks = Annotated[NDArray[Any], Elements(("uint8", "uint32"))]


def retrograde_values(graph: StateGraph, players: Players, levels: NDArray[np.float64]) -> Values:
    """Return bounds of the value of every state as ranks, if roles take turns without chance.

    This is the native form of ``find_values``. A rank takes a byte, and sweeps visit states in the reverse
    order of their discovery (retrograde analysis: Stroehlein 1970, Thompson 1986).
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
    """Return the number of joint moves of best play to the end, int32 [states]; FAR if play never ends.

    Best play keeps both bounds, since a move that keeps only one can lead to an end without a goal. A role
    whose value is above the middle of the goals prefers a short match, and the other role a long match.
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
def _sweep(
    options: _Options,
    children: Int32s,
    most: int,
    least: int,
    lower: _Ranks,
    upper: _Ranks,
) -> bool:
    """Recompute the bounds of all states from those of their children; return whether any changed."""
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
    """Recompute distances from those of children that keep the value; return whether any changed."""
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
