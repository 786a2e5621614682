"""Solutions of games, computed from a graph of all states."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.search.goals import USUAL, Bounds, GoalScale, rounded
from anygame.search.retrograde import FAR, Players, find_values, retrograde_distances, retrograde_values
from anygame.search.table import NO_END, Solution, Table, numbered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.graph import Expansion, StateGraph
    from anygame.search.retrograde import Values

#: Maximum difference of values that count as equal, because of accumulated floating-point errors.
_CLOSE: Final = 1e-9
#: Number of decimals of the values in a table.
_DIGITS: Final = 9


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
        #: Computed values, by role. The solution derives all other roles' values from computed values.
        self._values: dict[int, Values] = {}
        self._distances: NDArray[np.int32] | None = None
        #: For each role: the number of terminal or stuck states without a goal for the role.
        self._missing = [int(n) + graph.stuck for n in np.isnan(graph.goals).sum(axis=0)]

    def solution(self) -> Solution:
        """Return the values, or the reason why no values are known."""
        graph = self._graph
        if not graph.complete:
            return self._unsolved(f"not all states were found: {graph.stopped}")
        if self._game.is_gdl2:
            return self._unsolved("the rules hide information, so states have no exact values")
        if len(self._choosing) > 2:
            return self._unsolved(f"{len(self._choosing)} roles have choices, expected at most two")
        if len(self._choosing) == 2 and not self._are_opposed(*self._choosing):
            return self._unsolved("the goals of the two roles are not opposed")
        return self._valued()

    # -- kind of game ---------------------------------------------------------------------------------

    def _ends(self, one: int, other: int) -> NDArray[np.float64]:
        """Return the distinct pairs of goals of two roles in terminal states, ascending: float [pairs, 2]."""
        pairs = self._graph.goals[:, [one, other]]
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        # Sorting ranks instead of goals is faster, because few goals are distinct.
        (ones, first), (others, second) = (np.unique(column, return_inverse=True) for column in pairs.T)
        numbers = np.unique(first * len(others) + second)
        return np.stack([ones[numbers // len(others)], others[numbers % len(others)]], axis=1)

    def _are_opposed(self, one: int, other: int) -> bool:
        """Return whether the goals of two roles are opposed: one goal falls when the other rises.

        In a game with chance or simultaneous moves, one goal must also be a linear function of the other.
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

    # -- value ----------------------------------------------------------------------------------------

    def _goals(self, role: int) -> NDArray[np.float64]:
        """Return the goals of a role in terminal states, without nan."""
        goals = self._graph.goals[:, role]
        return np.asarray(goals[~np.isnan(goals)])

    def _levels(self, role: int) -> NDArray[np.float64]:
        """Return the possible values of a final state for a role, ascending.

        A final state without a goal can have any value from 0 to 100, or any goal in the rules.
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
            # If a role has no goal in a terminal state, one role's value does not determine another's.
            leading = self._choosing
        if not leading:
            return self._unsolved("only chance decides, so no role has a value")
        find = retrograde_values if self._takes_turns else find_values
        for place in leading:
            if not len(self._goals(place)):
                return self._unsolved(f"no final state gives {roles[place]} a goal")
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
        """Return why the bounds of a role's value differ."""
        causes = [
            f"{'1 final state gives' if number == 1 else f'{number:,} final states give'} {role} no goal"
            for role, number in self._lacking().items()
            if number
        ]
        if not causes:
            return "best play may never end"
        what = "best play may never end, or end without a goal"
        return f"{what}: {', '.join(causes)}, or several"

    def _opposed_roles(self) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the roles opposed to the first role of ``_values``, each with the pairs of both goals.

        Both roles must have a goal in every final state.
        """
        first = next(iter(self._values))
        others = [p for p in range(len(self._game.roles)) if p not in self._values and p not in self._random]
        whole = [p for p in others if not self._missing[p] and not self._missing[first]]
        return [(p, self._ends(first, p)) for p in whole if self._are_opposed(first, p)]

    # -- best play ---------------------------------------------------------------------------------

    def _remaining(self) -> NDArray[np.int32] | None:
        """Return the number of joint moves of best play from each state; None unless the roles take turns."""
        if self._distances is None and self._takes_turns:
            leading, values = next(iter(self._values.items()))
            goals = self._goals(leading)
            middle = float(goals.min() + goals.max()) / 2
            self._distances = retrograde_distances(self._graph, values, self._players(leading), middle)
        return self._distances

    def _line(self) -> tuple[tuple[Term, ...], ...]:
        graph, state, number = self._graph, self._start, 0
        distances = self._remaining()
        if distances is None:
            return ()
        values = next(iter(self._values.values()))
        line: list[tuple[Term, ...]] = []
        while 0 < distances[number] < FAR:
            children = graph.children[graph.offsets[number] : graph.offsets[number + 1]]
            is_best = distances[children] == distances[number] - 1
            for bound in values.lower, values.upper:
                is_best &= bound[children] == bound[number]
            edge = int(is_best.argmax())
            number = int(children[edge])
            line.append(self._joint(state, edge))
            state = state.next(line[-1])
        return tuple(line)

    def _joint(self, state: State, edge: int) -> tuple[Term, ...]:
        """Return the joint move of an edge of a state; see ``ExpandedStates.children`` for the order."""
        joint: list[Term] = []
        for role in reversed(self._game.roles):
            legal = state.legal_moves(role)
            edge, place = divmod(edge, len(legal))
            joint.append(legal[place])
        return tuple(joint[::-1])

    # -- the values of all states ------------------------------------------------------------------

    def table(self, expansion: Expansion) -> Table | None:
        """Return the values of all states; None if no values were computed."""
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
        distances, remaining = None, self._remaining()
        if remaining is not None:
            distances = np.where(remaining < FAR, remaining.astype(np.uint32), np.uint32(NO_END))
        fluents, states = expansion.packed()
        return Table(self._game, self._method(), fluents, states, kinds, bounds, distances)

    # -- the record --------------------------------------------------------------------------------

    def _lacking(self) -> dict[str, int]:
        """Return ``Solution.missing``."""
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


def _opposite(ends: NDArray[np.float64], least: float, most: float) -> tuple[float, float]:
    """Return the bounds of a role, given the bounds of the opponent and the pairs of opposed goals."""
    low, high = np.interp([most, least], ends[:, 0], ends[:, 1])
    return float(low), float(high)
