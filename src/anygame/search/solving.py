"""Exact value of a state, by breadth-first exploration and retrograde analysis."""

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

#: Default memory in bytes: enough for about 50 million states of a small board.
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
    """Return the exact value of a state, computed from all reachable states.

    In a game for one role, the value is the best goal. If two roles with opposed goals take turns, the value
    is the minimax value. If two roles with opposed goals move at the same time, the value is the maximin of
    mixed strategies. The moves of ``random`` are equally probable. All other games, and games with hidden
    information, have no exact value; ``Solution.reason`` says why.

    A final state without a goal for a role has an unknown value. If the result depends on a state without a
    goal, the solution has bounds instead of a value. If there are too many states, a search follows. With one
    role, the search looks for the best line. With two roles, the search tries to prove the goals that the
    roles can guarantee. After Ctrl-C, the function returns the results so far.

    Args:
        game: the game, or a state of it to solve.
        state: the state to solve; the initial state by default.
        memory: approximate maximum memory in bytes.
        table: whether to return the values of all states as ``Solution.table``.
        seconds: time limit. The exploration of states may take half of the time. If there are too many
            states, a search takes the remaining time. Without a limit, the exploration ends when memory is
            full, and a search may take as long as the exploration.
        states: maximum number of states; None for no maximum. If the game has more states, no search follows,
            so the result does not depend on the speed of the machine.
        progress: called periodically with the number of expanded states and the number of known states. By
            default, a notebook shows the progress of the exploration and of a search for a proof.
        proving: called periodically with the analysis of a search for a proof.

    Raises:
        PositionError: the state belongs to another game.
        MissingExtraError: the solution needs mixed strategies, and scipy is not installed.

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
    from anygame.search.graph import INTERRUPTED, MOST_STATES, Exploration
    from anygame.search.graph_solver import Solver

    game, state = begun(game, state)
    start = game.initial_state() if state is None else state
    expansion = _expansion(game, start)
    began = perf_counter()
    half, most = None if seconds is None else seconds / 2, MOST_STATES if states is None else states
    with reporting(progress, _exploration_text) as report:
        graph = Exploration(expansion, game.roles, memory, half, most).run(report)
    solver = Solver(game, start, graph, began)
    solution = replace(solver.solution(), interrupted=graph.stopped == INTERRUPTED)
    if table:
        solution = replace(solution, table=solver.table(expansion), seconds=perf_counter() - began)
    if graph.complete or solution.interrupted or states is not None:
        return solution
    # Free the memory of the exploration before another search starts.
    del expansion, graph, solver
    seconds = solution.seconds if seconds is None else max(0.0, seconds - solution.seconds)
    with_line = with_best_line(game, start, solution, memory, seconds)
    if with_line is not solution:
        return with_line
    return with_proof(game, start, solution, memory, seconds, proving)


def _exploration_text(expanded: int, known: int) -> str:
    return f"exploring states: {known:,} found, {expanded:,} expanded"


def _expansion(game: Game, start: State) -> Expansion:
    """Return an expansion in lanes if the game has a network that can hold the state."""
    from anygame.search.graph import LaneExpansion, StateExpansion

    if game.machine_name != "reasoner":
        try:
            return LaneExpansion(game, start)
        except (LimitError, PositionError):
            pass
    return StateExpansion(start)


def with_best_line(game: Game, start: State, solution: Solution, memory: int, seconds: float) -> Solution:
    """Add the best line to an incomplete solution of a game for one role; return other solutions unchanged.

    The goal of the line is the lower bound of the value. If both bounds are equal, the game is solved. The
    value of a final state without a goal is at most 100, or the highest goal in the rules if greater.
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
        reason = f"no final state gives {role} a goal" if line.proven else solution.reason
        return replace(solution, reason=reason, seconds=spent, interrupted=line.interrupted)
    highest = max(*USUAL, GoalScale.of(game).highest)
    bound = line.most_worth(highest)
    most = max(line.goal, highest) if bound is None else bound
    solved = line.proven and most == line.goal
    reason = "" if solved else solution.reason
    if line.misses_goal and not solved:
        reason = f"a final state without a goal for {role} may have a greater value"
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
    """Add the result of a search for a proof to an incomplete solution of a game for two roles.

    A proof does not need most states: the search stops at a winning move, and prunes moves that cannot be
    better than a known move (score-bounded search; see ``anygame.search.tree.bounds``). In a zero-sum game,
    the goals that the two roles can guarantee are the value of the game. Only a visit to all final states can
    show that a game is zero-sum, so the solution calls the guaranteed goals the maximin. If a final state
    gives a role no goal or several goals, the proof assumes that the value of the state can be any goal.
    """
    has_chance = any(role.is_random for role in game.roles)
    if seconds <= 0 or game.is_gdl2 or has_chance or len(game.roles) != 2:
        return solution
    analysis = Search(game, seed=0, memory=memory).run(start, seconds=seconds, progress=progress)
    solution = replace(
        solution,
        seconds=solution.seconds + analysis.seconds,
        bytes=max(solution.bytes, analysis.bytes),
        leaves=analysis.iterations,
        interrupted=analysis.interrupted,
    )
    goals: dict[str, float | None] = {role: analysis.proven[role] for role in game.roles}
    if any(goal is None for goal in goals.values()):
        return solution
    mover = max(game.roles, key=lambda role: len(start.legal_moves(role)))
    moves = analysis.moves[mover]
    return replace(
        solution,
        method="maximin",
        solved=True,
        goals=goals,
        bounds={role: Bounds(goal, goal) for role, goal in goals.items() if goal is not None},
        reason="",
        line=moves[0].line if moves else (),
    )
