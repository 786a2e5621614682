"""Properties of a small game, computed from all its states."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import TYPE_CHECKING, Final

from anygame.envs.turns import chance_of
from anygame.errors import GoalError

if TYPE_CHECKING:
    from anygame.envs.turns import Turns
    from anygame.game import Game, State
    from anygame.language.terms import Term

#: Maximum number of visited states.
_STATES: Final = 10_000
#: Maximum number of joint moves that a survey makes; the network needs about two seconds.
_JOINT_MOVES: Final = 40_000
#: Maximum estimated number of histories. All tested sheets with larger trees had too many states for a
#: survey. Tic-tac-toe has 5,478 states and 550,000 histories.
_TREE: Final = 10_000_000


@dataclass(frozen=True)
class Survey:
    """Properties of all states of a game.

    Attributes:
        turns_are_taken: whether, in each state, at most one role besides `random` decides.
        steps: maximum number of joint moves in a play; None if a play need not end.
        decisions: maximum number of decision nodes in a play. Roles that move together share a node.
        goal_sum: sum of the goals of all roles besides `random`; None if sums differ or a goal is missing.
        goals: the smallest and the largest goal of any role besides `random`. A missing goal counts as 0.
    """

    turns_are_taken: bool
    steps: int | None
    decisions: int
    goal_sum: int | None
    goals: tuple[int, int]


def survey(game: Game, turns: Turns[Term]) -> Survey | None:
    """Visit all states of a game; return None if there are too many states."""
    if turns.tree_size > _TREE:
        return None
    chance = chance_of(game)
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
    sums, least, most = _goals(game, [state for state in order if not successors[state]])
    goal_sum = sums.pop() if len(sums) == 1 else None
    steps, decisions = _longest(successors, nodes) or (None, 0)
    return Survey(taken, steps, decisions, goal_sum, (least, most))


def _longest(successors: dict[State, set[State]], nodes: dict[State, int]) -> tuple[int, int] | None:
    """Return the maximum numbers of joint moves and of decision nodes; None if a state can recur."""
    steps: dict[State, int] = {}
    decisions: dict[State, int] = {}
    try:
        # In the order of the sorter, a state comes after its successors.
        for state in TopologicalSorter(successors).static_order():
            steps[state] = max([1 + steps[after] for after in successors[state]], default=0)
            most = max([decisions[after] for after in successors[state]], default=0)
            decisions[state] = nodes[state] + most
    except CycleError:
        return None
    return max(steps.values()), max(decisions.values())


def _goals(game: Game, ends: list[State]) -> tuple[set[int | None], int, int]:
    """Return the sums of the goals at all ends (None for a missing goal), the lowest and the highest goal."""
    sums: set[int | None] = set()
    values: set[int] = set()
    for state in ends:
        try:
            goals = [state.goal(role) for role in game.roles if not role.is_random]
        except GoalError:
            goals = [None]
        given = [goal for goal in goals if goal is not None]
        sums.add(sum(given) if len(given) == len(goals) else None)
        values.update(goal or 0 for goal in goals)
    return sums, min(values, default=0), max(values, default=0)
