"""Surveys: what is certain of a game once all of its states have been seen."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError

if TYPE_CHECKING:
    from anygame.envs.extensive.turns import Turns
    from anygame.game import Game, State

#: So many states take about two seconds in the network.
_STATES: Final = 10_000
_JOINT_MOVES: Final = 40_000
#: Trees that are estimated larger have more states than that, as far as has been seen: tic-tac-toe has 5,478
#: and 550 thousand histories.
_TREE: Final = 10_000_000


@dataclass(frozen=True)
class Survey:
    """What holds in all states of a game.

    Attributes:
        turns_are_taken: whether at most one role besides `random` decides in each.
        steps: the length of the longest play in joint moves; None where plays need not end.
        decisions: the most nodes of a play in which players decide, one for all who move at once.
        goal_sum: what the goals of the roles besides `random` sum up to wherever a play ends; None where that
            differs, or a role has no goal.
        goals: the least and the greatest of them, a missing one counting as 0.
    """

    turns_are_taken: bool
    steps: int | None
    decisions: int
    goal_sum: int | None
    goals: tuple[int, int]


def survey(game: Game, turns: Turns) -> Survey | None:
    """Visit all states of a game; return None where there are too many."""
    if turns.tree_size > _TREE:
        return None
    chance = next((index for index, role in enumerate(game.roles) if role.is_random), None)
    start = game.initial_state()
    order: list[State] = [start]
    successors: dict[State, set[State]] = {start: set()}
    nodes: dict[State, int] = {}
    taken, edges = True, 0
    for state in order:
        nodes[state] = 0
        legal = [state.legal_moves(role) for role in game.roles]
        if state.is_terminal or not all(legal):
            continue
        deciders = turns.deciders(legal, chance)
        taken &= len(deciders) < 2
        nodes[state] = bool(deciders)
        for joint in product(*legal):
            edges += 1
            after = state.next(joint)
            if after not in successors:
                successors[after] = set()
                order.append(after)
            successors[state].add(after)
            if edges > _JOINT_MOVES or len(order) > _STATES:
                return None
    longest = _longest(successors, nodes)
    sums, least, most = _goals(game, [state for state in order if not successors[state]])
    goal_sum = sums.pop() if len(sums) == 1 else None
    steps, decisions = longest or (None, 0)
    return Survey(taken, steps, decisions, goal_sum, (least, most))


def _longest(successors: dict[State, set[State]], nodes: dict[State, int]) -> tuple[int, int] | None:
    """Return the most joint moves and the most nodes of a play; None where a state comes back."""
    steps: dict[State, int] = {}
    decisions: dict[State, int] = {}
    try:
        # What follows comes before.
        for state in TopologicalSorter(successors).static_order():
            steps[state] = max([1 + steps[after] for after in successors[state]], default=0)
            most = max([decisions[after] for after in successors[state]], default=0)
            decisions[state] = nodes[state] + most
    except CycleError:
        return None
    return max(steps.values()), max(decisions.values())


def _goals(game: Game, ends: list[State]) -> tuple[set[int | None], int, int]:
    """Return the sums of the goals where plays end, the least goal and the greatest."""
    sums: set[int | None] = set()
    found: set[int] = set()
    for state in ends:
        try:
            goals = [state.goal(role) for role in game.roles if not role.is_random]
        except GoalError:
            goals = [None]
        known = [goal for goal in goals if goal is not None]
        sums.add(sum(known) if len(known) == len(goals) else None)
        found.update(goal or 0 for goal in goals)
    return sums, min(found, default=0), max(found, default=0)
