"""What can be said of a game for one role whose states are too many to be counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anygame.search.goals import USUAL, Bounds, GoalScale
from anygame.search.one_player.choosing import SeveralChooseError, sole_chooser
from anygame.search.one_player.line_search import LineSearch

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.solution import Solution


def with_best_line(game: Game, start: State, solution: Solution, memory: int, seconds: float) -> Solution:
    """Return what is known of a game that was not solved, with the best line if it is one for one role.

    The role can make sure of its goal; the upper bound is a goal above which no line leads. Where both meet,
    the game is solved after all. An end without a goal, if one was met, may be worth 100, or the greatest
    goal of the rules.

    Args:
        game: the game.
        start: the state that was to be solved.
        solution: what was found by counting states.
        memory: bytes to use at most, about.
        seconds: how long to look for it.
    """
    chooser = None if game.is_gdl2 else sole_chooser(game)
    if chooser is None:
        return solution
    try:
        line = LineSearch(game, seed=0, memory=memory).run(start, seconds=seconds)
    except SeveralChooseError:
        return solution
    role, spent = game.roles[chooser], solution.seconds + line.seconds
    if line.goal is None:
        reason = f"no end gives {role} a goal" if line.proven else solution.reason
        return replace(solution, reason=reason, seconds=spent)
    most: float = line.goal if line.proven or line.most is None else line.most
    reason = "" if line.proven else solution.reason
    if line.misses_goal and line.goal < (highest := max(*USUAL, GoalScale(game).highest)):
        most, reason = highest, f"an end without a goal for {role} may be worth more"
    solved = not reason
    return replace(
        solution,
        method="best goal",
        solved=solved,
        goals={**solution.goals, role: line.goal if solved else None},
        bounds={**solution.bounds, role: Bounds(line.goal, most)},
        reason=reason,
        line=line.moves,
        seconds=spent,
    )
