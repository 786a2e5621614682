"""What is known of a game before its tree is: turns, found by play, and what is certain of all its states."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final

from anygame.errors import GoalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game import Game, State
    from anygame.language.terms import Term

#: So many states take about two seconds in the network.
_STATES: Final = 10_000
_JOINT_MOVES: Final = 40_000
#: Trees that are estimated larger have more states than that, as far as has been seen: tic-tac-toe has 5,478
#: and 550 thousand histories.
_TREE: Final = 10_000_000
#: Enough to meet every kind of turn of the sheets that were tried, and no long wait in large games.
_PLAYOUTS: Final = 20
_STATES_PLAYED: Final = 1_000
#: What waiting is called wherever games are written down.
_NOOP: Final = "noop"


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


@dataclass(frozen=True)
class Turns:
    """How roles decide.

    Attributes:
        waiting: for each role, moves that are no decision where they are the only ones.
        are_taken: whether at most one role besides `random` had a choice in every state that was seen.
        tree_size: about how many histories there are; an estimate.
    """

    waiting: tuple[frozenset[Term], ...]
    are_taken: bool
    tree_size: float

    def deciders(self, legal: Sequence[Sequence[Term]], chance: int | None) -> tuple[int, ...]:
        """Return the indices of the roles that decide in a state, given the legal moves of all.

        A role with a choice does. Where nobody has one, so does the role that does something else than to
        wait, if it is the only such: a forced mark is a move, and noop is not.

        Args:
            legal: the legal moves for each role; none of them empty.
            chance: the index of `random`, None where there is none.
        """
        choosing = tuple(role for role, moves in enumerate(legal) if len(moves) > 1 and role != chance)
        if choosing or (chance is not None and len(legal[chance]) > 1):
            return choosing
        forced = tuple(
            role for role, moves in enumerate(legal) if role != chance and moves[0] not in self.waiting[role]
        )
        return forced if len(forced) == 1 else ()


def find_turns(game: Game) -> Turns:
    """Return how roles decide in a game, from random playouts that are the same every time.

    A move waits if it is noop, or was seen as the only one of its role where another role had a choice. The
    size of the tree is estimated from the choices on random paths (D. E. Knuth, "Estimating the efficiency of
    backtrack programs", 1975).
    """
    chance = next((index for index, role in enumerate(game.roles) if role.is_random), None)
    waiting: list[set[Term]] = [set() for _ in game.roles]
    are_taken, states, sizes = True, 0, []
    random = Random(0)
    for _ in range(_PLAYOUTS):
        size, paths = 1.0, 1.0
        for legal in _random_path(game, random, _STATES_PLAYED - states):
            states += 1
            choosing = [role for role, moves in enumerate(legal) if len(moves) > 1]
            are_taken &= sum(role != chance for role in choosing) < 2
            for role, moves in enumerate(legal):
                if str(moves[0]) == _NOOP or (choosing and len(moves) == 1):
                    waiting[role].add(moves[0])
            paths *= prod(map(len, legal))
            size += paths
        sizes.append(size)
        if states >= _STATES_PLAYED:
            break
    return Turns(tuple(map(frozenset, waiting)), are_taken, fmean(sizes))


def _random_path(game: Game, random: Random, limit: int) -> Iterator[list[tuple[Term, ...]]]:
    """Yield the legal moves in the states of a random playout, until it ends or there were so many."""
    state = game.initial_state()
    for _ in range(limit):
        if state.is_terminal:
            return
        legal = [state.legal_moves(role) for role in game.roles]
        if not all(legal):
            return
        yield legal
        state = state.next([random.choice(moves) for moves in legal])
