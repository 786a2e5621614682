"""Solutions of games from a graph of all states."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from anygame.search.goals import USUAL, Bounds, GoalScale, rounded
from anygame.search.retrograde import (
    FAR,
    Players,
    best_edge,
    find_values,
    retrograde_distances,
    retrograde_values,
)
from anygame.search.table import NO_END, Solution, Table, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.graph import Expansion, StateGraph
    from anygame.search.retrograde import Values

#: Tolerance of expectations and mixed strategies: floating-point errors of many steps.
_CLOSE, _DIGITS = 1e-9, 9


class Solver:
    """Computes the solution of a graph."""

    def __init__(self, game: Game, start: State, graph: StateGraph, began: float) -> None:
        self._game, self._start, self._graph, self._began = game, start, graph, began
        self._random = tuple(place for place, role in enumerate(game.roles) if role.is_random)
        several = graph.options.max(axis=0, initial=0) > 1
        self._choosing = [p for p in range(len(game.roles)) if several[p] and p not in self._random]
        self._has_chance = any(several[place] for place in self._random)
        together = (graph.options[:, self._choosing] > 1).all(axis=1).any()
        self._is_simultaneous = len(self._choosing) == 2 and bool(together)
        self._takes_turns = not (self._has_chance or self._is_simultaneous)
        #: Computed values by role; the values of other roles follow from them.
        self._values: dict[int, Values] = {}
        self._distances: NDArray[np.int32] | None = None
        #: Number of states, by role, in which play ends without a goal for the role.
        self._missing = [int(n) + graph.stuck for n in np.isnan(graph.goals).sum(axis=0)]

    def solution(self) -> Solution:
        """Return the solution, solved or not."""
        graph = self._graph
        if not graph.complete:
            return self._unsolved(f"not all states were found: {graph.stopped}")
        if self._game.is_gdl2:
            return self._unsolved("the rules hide information, which exact values do not allow for")
        if len(self._choosing) > 2:
            return self._unsolved(f"{len(self._choosing)} roles choose: there is no single best play")
        if len(self._choosing) == 2 and not self._are_opposed(*self._choosing):
            return self._unsolved("the goals of the two roles are not opposed")
        return self._valued()

    # -- what kind of game it is -------------------------------------------------------------------

    def _ends(self, one: int, other: int) -> NDArray[np.float64]:
        """Return the different pairs of goals of two roles, ascending by the first: float [pairs, 2]."""
        pairs = self._graph.goals[:, [one, other]]
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        # There are few distinct values, so pairs of their numbers sort faster than pairs of values.
        (ones, first), (others, second) = (np.unique(column, return_inverse=True) for column in pairs.T)
        numbers = np.unique(first * len(others) + second)
        return np.stack([ones[numbers // len(others)], others[numbers % len(others)]], axis=1)

    def _are_opposed(self, one: int, other: int) -> bool:
        """Return whether the goals of two roles are opposed at all ends that give both a goal.

        Unless the roles take turns without chance, one goal must be a linear function of the other.
        """
        pairs = self._ends(one, other)
        steps = np.diff(pairs, axis=0)
        if not (len(pairs) and (steps[:, 0] > 0).all() and (steps[:, 1] < 0).all()):
            return False
        in_proportion = bool(np.ptp(steps[:, 1] / steps[:, 0]) < _CLOSE) if len(steps) else True
        return in_proportion or self._takes_turns

    def _method(self) -> str:
        if len(self._choosing) == 2:
            if self._is_simultaneous:
                return "maximin of mixed strategies"
            return "expected minimax" if self._has_chance else "minimax"
        return "expectation" if self._has_chance else "best goal"

    # -- its value ---------------------------------------------------------------------------------

    def _goals(self, role: int) -> NDArray[np.float64]:
        """Return the goals of a role at the ends that give it one."""
        goals = self._graph.goals[:, role]
        return np.asarray(goals[~np.isnan(goals)])

    def _levels(self, role: int) -> NDArray[np.float64]:
        """Return the possible values of an end for a role, ascending.

        An end without a goal can be worth anything from 0 to 100, the usual goals, or any goal in the rules.
        """
        goals = self._goals(role)
        if not self._missing[role]:
            return np.unique(goals)
        scale = GoalScale.of(self._game)
        return np.unique([*goals, *USUAL, scale.lowest, scale.highest])

    def _players(self, most: int) -> Players:
        least = next((place for place in self._choosing if place != most), None)
        return Players(most, least, self._random)

    def _valued(self) -> Solution:
        roles = self._game.roles
        bounds: dict[str, Bounds | None] = dict.fromkeys(roles)
        # If no role chooses, every role except ``random`` still has a value.
        leading = self._choosing[:1] or [p for p in range(len(roles)) if p not in self._random]
        if any(self._missing[place] for place in self._choosing):
            # If an end gives one role no goal, the goal of the other role does not follow from it.
            leading = self._choosing
        if not leading:
            return self._unsolved("only chance decides: there is no role that could have a value")
        find = retrograde_values if self._takes_turns else find_values
        for place in leading:
            if not len(self._goals(place)):
                return self._unsolved(f"no end gives {roles[place]} a goal")
            self._values[place] = find(self._graph, self._players(place), self._levels(place))
            bounds[roles[place]] = Bounds(*map(rounded, self._values[place].bounds(0)))
        first = bounds[roles[leading[0]]]
        assert first is not None
        for place, ends in self._opposed_roles():
            bounds[roles[place]] = Bounds(*map(rounded, _opposite(ends, *first)))
        if any(bound is not None and bound.most - bound.least > _CLOSE for bound in bounds.values()):
            return self._unsolved(self._doubt(), bounds)
        goals_by_role = {role: None if bound is None else bound.least for role, bound in bounds.items()}
        return self._solution(goals_by_role, bounds, "", self._line())

    def _doubt(self) -> str:
        """Return why the lower bound of a role differs from its upper bound."""
        causes = [f"{_ends(number)} {role} no goal" for role, number in self._lacking().items() if number]
        if not causes:
            return "best play may never end"
        what = "best play may never end, or end without a goal"
        return f"{what}: {', '.join(causes)}, or several"

    def _opposed_roles(self) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the roles whose values follow from those of the first role, with the pairs of goals.

        Both roles must have a goal at every end.
        """
        first = next(iter(self._values))
        others = [p for p in range(len(self._game.roles)) if p not in self._values and p not in self._random]
        whole = [p for p in others if not self._missing[p] and not self._missing[first]]
        return [(p, self._ends(first, p)) for p in whole if self._are_opposed(first, p)]

    # -- best play ---------------------------------------------------------------------------------

    def _middle(self, leading: int) -> float:
        goals = self._goals(leading)
        return float(goals.min() + goals.max()) / 2

    def _left(self) -> NDArray[np.int32] | None:
        """Return the distance of each state from the end; None with chance or simultaneous moves."""
        if self._distances is None and self._takes_turns:
            leading, values = next(iter(self._values.items()))
            players, middle = self._players(leading), self._middle(leading)
            self._distances = retrograde_distances(self._graph, values, players, middle)
        return self._distances

    def _line(self) -> tuple[tuple[Term, ...], ...]:
        graph, state, number = self._graph, self._start, 0
        distances = self._left()
        if distances is None:
            return ()
        leading, values = next(iter(self._values.items()))
        players, middle = self._players(leading), self._middle(leading)
        line: list[tuple[Term, ...]] = []
        while 0 < distances[number] < FAR:
            value, _ = values.bounds(number)
            late = value < middle if graph.options[number, leading] > 1 else value > middle
            edge = best_edge(graph, values, distances, number, late and players.least is not None)
            if edge is None:
                break
            number = int(graph.children[graph.offsets[number] + edge])
            line.append(self._joint(state, edge))
            state = state.next(line[-1])
        return tuple(line)

    def _joint(self, state: State, edge: int) -> tuple[Term, ...]:
        """Return the joint move of a number: the move of the last role changes fastest."""
        joint: list[Term] = []
        for role in reversed(self._game.roles):
            legal = state.legal_moves(role)
            edge, place = divmod(edge, len(legal))
            joint.append(legal[place])
        return tuple(joint[::-1])

    # -- the values of all states ------------------------------------------------------------------

    def table(self, expansion: Expansion) -> Table | None:
        """Return the values of all states; None where no values were computed."""
        if not self._values:
            return None
        columns = [bound for values in self._values.values() for bound in (values.lower, values.upper)]
        different, kinds = numbered(columns)
        bounds = np.full((len(different), len(self._game.roles), 2), np.nan)
        pairs_of_each = different.reshape(len(different), -1, 2).swapaxes(0, 1)
        for (place, values), pairs in zip(self._values.items(), pairs_of_each, strict=True):
            bounds[:, place] = values.goals(pairs).round(_DIGITS)
        first = bounds[:, next(iter(self._values))]
        for place, ends in self._opposed_roles():
            bounds[:, place] = [_opposite(ends, *pair) for pair in first.tolist()]
        distances, remaining = None, self._left()
        if remaining is not None:
            distances = np.where(remaining < FAR, remaining.astype(np.uint32), np.uint32(NO_END))
        fluents, states = expansion.packed()
        return Table(self._game, self._method(), fluents, states, kinds, bounds, distances)

    # -- the record --------------------------------------------------------------------------------

    def _lacking(self) -> dict[str, int]:
        """Return for each role except ``random`` how many states end play without a goal for it."""
        roles = enumerate(self._game.roles)
        return {role: self._missing[place] for place, role in roles if place not in self._random}

    def _unsolved(self, reason: str, bounds: Mapping[str, Bounds | None] | None = None) -> Solution:
        unknown: dict[str, float | None] = dict.fromkeys(self._game.roles)
        return self._solution(unknown, bounds or dict.fromkeys(self._game.roles), reason, ())

    def _solution(
        self,
        goals: Mapping[str, float | None],
        bounds: Mapping[str, Bounds | None],
        reason: str,
        line: tuple[tuple[Term, ...], ...],
    ) -> Solution:
        graph = self._graph
        return Solution(
            method=self._method() if any(bound is not None for bound in bounds.values()) else "none",
            solved=not reason,
            goals=goals,
            bounds=bounds,
            reason=reason,
            states=graph.states,
            expanded=graph.expanded,
            edges=len(graph.children),
            depth=graph.depth,
            line=line,
            seconds=perf_counter() - self._began,
            bytes=graph.bytes,
            missing=self._lacking(),
        )


def _ends(number: int) -> str:
    return "1 end gives" if number == 1 else f"{number:,} ends give"


def _opposite(ends: NDArray[np.float64], least: float, most: float) -> tuple[float, float]:
    """Return the bounds of a role whose goals are opposed, given the pairs of goals at ends."""
    low, high = np.interp([most, least], ends[:, 0], ends[:, 1])
    return float(low), float(high)
