"""The exact value of a state: all that can follow, found breadth first and valued backwards."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError, PositionError
from anygame.game.game import begun
from anygame.progress import reporting
from anygame.search.goals import USUAL, Bounds, GoalScale
from anygame.search.one_player import LineSearch, SeveralChooseError, sole_chooser
from anygame.search.searching import Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.analysis import Analysis
    from anygame.search.graph import Expansion
    from anygame.search.table import Solution

#: Enough for some fifty million states of a small board, and what most machines have to spare.
DEFAULT_MEMORY: Final = 4 << 30


def solve(
    game: Game | State,
    state: State | None = None,
    *,
    memory: int = DEFAULT_MEMORY,
    table: bool = False,
    seconds: float | None = None,
    states: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    proving: Callable[[Analysis], None] | None = None,
) -> Solution:
    """Return the exact value of a state: of all states that can follow it, if room and time suffice.

    One role: the best goal, and a shortest line to it. Two roles, where what is better for one is worse for
    the other: minimax where they take turns, the maximin of mixed strategies where they move together.
    The moves of ``random`` are weighed alike. For other games, and where rules hide information, no value is
    computed, and the solution says so. Where play ends without a goal for a role, that may be worth
    anything to it: the value is given where it makes no difference, bounds elsewhere. Ctrl-C ends it early,
    with what is known. Where states are too many, a game for one role is searched for the best line that can
    be found, and a game for two roles for a proof of what each can make sure of.

    Args:
        game: the game; or a state of it, where to start.
        state: where to start; the initial state by default.
        memory: bytes to use at most, about.
        table: whether to keep the values of all states, as ``Solution.table``.
        seconds: how long it may take: half of that to count states, the rest to search where they are too
            many. None: to count them as memory allows, and to search as long again.
        states: how many there may be; where they are more, that is all, and nothing is searched, so that
            whether there is a value depends on no clock. None for any number.
        progress: called now and then with the numbers of states expanded and found; by default a notebook
            shows them, as what a search for a proof knows.
        proving: called now and then with what a search for a proof knows.

    Raises:
        PositionError: the state is of another game.
        MissingExtraError: mixed strategies have to be computed, and scipy is not installed.

    >>> import anygame
    >>> game = anygame.loads('''
    ...     (role left) (role right) (init (heap 5)) (init (control left)) (less 1 0) (less 2 1) (less 3 2)
    ...     (less 4 3) (less 5 4) (turn left right) (turn right left)
    ...     (<= (legal ?r (take 1)) (true (control ?r)) (true (heap ?n)) (less ?n ?m))
    ...     (<= (legal ?r (take 2)) (true (control ?r)) (true (heap ?n)) (less ?n ?m) (less ?m ?k))
    ...     (<= (legal ?r noop) (turn ?r ?s) (true (control ?s)))
    ...     (<= (next (heap ?m)) (does ?r (take 1)) (true (heap ?n)) (less ?n ?m))
    ...     (<= (next (heap ?k)) (does ?r (take 2)) (true (heap ?n)) (less ?n ?m) (less ?m ?k))
    ...     (<= (next (control ?s)) (true (control ?r)) (turn ?r ?s))
    ...     (<= terminal (true (heap 0)))
    ...     (<= (goal ?r 100) (turn ?r ?s) (true (control ?s))) (<= (goal ?r 0) (true (control ?r)))''')
    >>> found = solve(game)
    >>> found.method, found.goals, found.states
    ('minimax', {'left': 100, 'right': 0}, 10)
    >>> [" ".join(map(str, joint)) for joint in found.line]
    ['(take 2) noop', 'noop (take 1)', '(take 2) noop']
    """
    from anygame.search.graph import INTERRUPTED, MOST_STATES, explore
    from anygame.search.graph_solver import Solver

    game, state = begun(game, state)
    start = game.initial_state() if state is None else state
    expansion = _expansion(game, start)
    began = perf_counter()
    half, most = None if seconds is None else seconds / 2, MOST_STATES if states is None else states
    with reporting(progress, _exploring_told) as report:
        graph = explore(expansion, game.roles, memory, report, half, most)
    solver = Solver(game, start, graph, began)
    solution = replace(solver.solution(), interrupted=graph.stopped == INTERRUPTED)
    if table:
        solution = replace(solution, table=solver.table(expansion), seconds=perf_counter() - began)
    if graph.complete or solution.interrupted or states is not None:
        return solution
    # What was found makes room for another search.
    del expansion, graph, solver
    seconds = solution.seconds if seconds is None else max(0.0, seconds - solution.seconds)
    found = with_best_line(game, start, solution, memory, seconds)
    return with_proof(game, start, solution, memory, seconds, proving) if found is solution else found


def _exploring_told(expanded: int, found: int) -> str:
    return f"looking for states: {found:,} found, {expanded:,} looked at"


def _expansion(game: Game, start: State) -> Expansion:
    """Return the expansion of states: in lanes where the game has a network that can hold the state."""
    from anygame.search.graph import LaneExpansion, StateExpansion

    if game.machine_name != "reasoner":
        try:
            return LaneExpansion(game, start)
        except (LimitError, PositionError):
            pass
    return StateExpansion(start)


def with_best_line(game: Game, start: State, solution: Solution, memory: int, seconds: float) -> Solution:
    """Return what is known of a game that was not solved, with the best line if it is one for one role.

    The role can make sure of its goal; the upper bound is a goal above which no line leads. Where both meet,
    the game is solved after all. An end without a goal, if one was met, may be worth 100, or the greatest
    goal of the rules.
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
        return replace(solution, reason=reason, seconds=spent, interrupted=line.interrupted)
    highest = max(*USUAL, GoalScale(game).highest)
    bound = line.most_worth(highest)
    most = max(line.goal, highest) if bound is None else bound
    solved = line.proven and most == line.goal
    reason = "" if solved else solution.reason
    if line.misses_goal and not solved:
        reason = f"an end without a goal for {role} may be worth more"
    return replace(
        solution,
        method="best goal",
        solved=solved,
        goals={**solution.goals, role: line.goal if solved else None},
        bounds={**solution.bounds, role: Bounds(line.goal, most)},
        reason=reason,
        line=line.moves,
        seconds=spent,
        interrupted=line.interrupted,
    )


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
        interrupted=found.interrupted,
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
