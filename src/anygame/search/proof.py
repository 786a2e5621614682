"""What can be said of a game for two whose states are too many to be counted: what a search proves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.search.goals import Bounds
from anygame.search.searching import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.analysis import Analysis
    from anygame.search.solution import Solution


def with_proof(
    game: Game,
    start: State,
    solution: Solution,
    memory: int,
    seconds: float,
    progress: Callable[[Analysis], None] | None = None,
) -> Solution:
    """Return what is known of a game that was not solved, after a search for a proof if it is one for two.

    Most states need not be looked at to know what a role can make sure of: the first move that wins is
    enough, and moves that cannot be better than a known one are left out (score-bounded search; see
    ``anygame.search.tree.proving``). What both roles can make sure of is the value of a game in which one
    gains what the other loses; whether every end is so cannot be told without seeing all, so that the
    solution calls it the maximin. Where the rules give a role no goal, or several, it may have any goal that
    they give it elsewhere.

    Args:
        game: the game.
        start: the state that was to be solved.
        solution: what was found by counting states.
        memory: bytes to use at most, about.
        seconds: how long to search.
        progress: called now and then with what is known.
    """
    has_chance = any(role.is_random for role in game.roles)
    if seconds <= 0 or game.is_gdl2 or has_chance or len(game.roles) != 2:
        return solution
    found = Search(game, seed=0, memory=memory).run(start, seconds=seconds, progress=progress)
    solution = replace(
        solution,
        seconds=solution.seconds + found.seconds,
        bytes=max(solution.bytes, found.bytes),
        leaves=found.iterations,
    )
    goals: dict[str, float | None] = {role: found.proven[role] for role in game.roles}
    if any(goal is None for goal in goals.values()):
        return solution
    mover = max(game.roles, key=lambda role: len(start.legal_moves(role)))
    moves = found.moves[mover]
    return replace(
        solution,
        method="maximin",
        solved=True,
        goals=goals,
        bounds={role: Bounds(goal, goal) for role, goal in goals.items() if goal is not None},
        reason="",
        line=moves[0].line if moves else (),
    )
