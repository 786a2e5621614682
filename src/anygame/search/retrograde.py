"""Minimax values and distances of large graphs by native sweeps from the last state to the first.

What ``values`` does by layers for any game, for games without chance in which roles take turns: goals are
replaced by their ranks, a byte each, and states are visited in the order opposite to that of their discovery
(retrograde analysis: Stroehlein 1970, Thompson 1986).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from anygame.search.blocks import joint_moves
from anygame.search.native.marking import Elements, Int32s, exported
from anygame.search.values import FAR, Values, runs_forward

if TYPE_CHECKING:
    from anygame.search.graph import StateGraph
    from anygame.search.values import Players

#: What stands for the other role in a game for one.
_NOBODY = -1
#: Numbers of moves, and ranks of goals: bytes, unless there are too many.
_Options = Annotated[NDArray[Any], Elements(("uint8", "uint32"), 2)]
_Ranks = Annotated[NDArray[Any], Elements(("uint8", "uint32"))]


def retrograde_values(graph: StateGraph, players: Players, levels: NDArray[np.float64]) -> Values:
    """Return bounds of the value of every state as ranks; see ``values.find_values``."""
    goals = graph.goals[:, players.most]
    known = ~np.isnan(goals)
    kind = np.uint8 if len(levels) <= 1 << 8 else np.uint32
    lower, upper = np.zeros(graph.expanded, kind), np.full(graph.expanded, len(levels) - 1, kind)
    ranks = np.searchsorted(levels, goals[known])
    lower[graph.ends[known]] = upper[graph.ends[known]] = ranks
    forward = runs_forward(graph)
    least = _NOBODY if players.least is None else players.least
    while _sweep(graph.options, graph.children, players.most, least, lower, upper) and not forward:
        pass
    return Values(lower, upper, levels)


def retrograde_distances(
    graph: StateGraph, values: Values, players: Players, middle: float
) -> NDArray[np.int32]:
    """Return how many joint moves best play takes to the end; see ``values.distances``."""
    assert values.levels is not None
    left = np.full(graph.expanded, FAR, np.int32)
    left[graph.ends] = 0
    below = int(np.searchsorted(values.levels, middle, side="left"))
    above = int(np.searchsorted(values.levels, middle, side="right"))
    forward = runs_forward(graph)
    least = _NOBODY if players.least is None else players.least
    bounds = values.lower, values.upper
    arguments = (graph.options, graph.children, players.most, least, *bounds, left, below, above)
    while _distance_sweep(*arguments) and not forward:
        pass
    return left


@exported
def _sweep(
    options: _Options,
    children: Int32s,
    most: int,
    least: int,
    lower: _Ranks,
    upper: _Ranks,
) -> bool:
    """Compute the bounds of all states anew from those of their children; return whether any changed."""
    at, changed = len(children), False
    for state in range(len(options) - 1, -1, -1):
        joint = joint_moves(options, state)
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
    left: Int32s,
    below: int,
    above: int,
) -> bool:
    """Compute distances anew from those of children that keep the value; return whether any changed."""
    at, changed = len(children), False
    for state in range(len(options) - 1, -1, -1):
        joint = joint_moves(options, state)
        if not joint:
            continue
        at -= joint
        mine = lower[state]
        late = least != _NOBODY and (mine < below if options[state, most] > 1 else mine >= above)
        wanted = np.int32(-1) if late else FAR
        for edge in range(at, at + joint):
            child = children[edge]
            if lower[child] == mine and upper[child] == upper[state]:
                wanted = max(wanted, left[child]) if late else min(wanted, left[child])
        wanted = np.int32(min(wanted, FAR - 1) + 1)
        changed |= wanted != left[state]
        left[state] = wanted
    return changed
