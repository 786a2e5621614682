"""Search for the best line of one role; it can be interrupted and resumed."""

from __future__ import annotations

from dataclasses import replace
from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.analysis import Analysis, MoveAnalysis
from anygame.search.goals import USUAL, Bounds
from anygame.search.one_player.lines import SeveralChooseError, sole_chooser

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.one_player.lines import Line
    from anygame.search.one_player.portfolio import Portfolio

#: Duration in seconds of one turn of a search in the portfolio.
_SLICE: Final = 0.02


class LineSearch:
    """Searches for the best line of a game in which one role chooses and there is no chance.

    Several searches take turns: breadth-first search until memory is full, and nested rollouts. If the game
    has a network, best-first and depth-first search use estimated distances to a goal. A line is proven to be
    best after the searches have visited all states. A line is also proven to be best if a relaxed game, in
    which fluents keep all earlier values, reaches no greater goal.

    `run` returns the line. The class implements ``anygame.search.searching.Searcher``, but ignores limits on
    the number of iterations.

    Args:
        game: the game, which the search compiles if that is worth the time.
        seed: seed of the random numbers; None for a random seed.
        memory: approximate maximum size in bytes.

    Raises:
        SeveralChooseError: several roles choose, or the game has chance.

    >>> import anygame
    >>> game = anygame.loads('''
    ...     (role robot) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4)
    ...     (<= (legal robot walk) (true (at ?x)) (succ ?x ?y)) (legal robot stay)
    ...     (<= (next (at ?y)) (does robot walk) (true (at ?x)) (succ ?x ?y))
    ...     (<= (next (at ?x)) (does robot stay) (true (at ?x)))
    ...     (<= terminal (true (at 4))) (<= (goal robot 100) (true (at 4)))''')
    >>> line = LineSearch(game).run()
    >>> line.goal, line.proven, str(line.moves[-1][0])
    (100, True, 'walk')
    """

    def __init__(self, game: Game, *, seed: int | None = None, memory: int = 1 << 30) -> None:
        chooser = sole_chooser(game)
        if chooser is None:
            raise SeveralChooseError("another role, or chance,")
        self._game, self._chooser, self._memory = game, chooser, memory
        self._seed = SystemRandom().getrandbits(32) if seed is None else seed
        self._seconds = 0.0
        self._search: Portfolio | None = None

    def run(
        self,
        state: State | None = None,
        *,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
        progress: Callable[[Line], None] | None = None,
    ) -> Line:
        """Search, and return the best line found. Ctrl-C ends the search early.

        The search ends when it has proven that no better line exists. Another call with the same state
        resumes the search. A call with a later state of the best line keeps the rest of that line.

        Args:
            state: the first state of the line; the initial state by default.
            seconds: time limit in seconds; None for no limit.
            stop: called tens of times per second; the search ends when ``stop`` returns True.
            progress: called tens of times per second with the best line so far.

        Raises:
            SeveralChooseError: another role has a choice in a visited state.
        """
        began = perf_counter()
        self.begin(self._game.initial_state() if state is None else state)
        try:
            while not self.is_done and not (stop and stop()):
                remaining = _SLICE if seconds is None else seconds - (perf_counter() - began)
                if remaining <= 0:
                    break
                self.advance(min(_SLICE, remaining))
                if progress:
                    progress(self.line)
        except KeyboardInterrupt:
            return replace(self.line, interrupted=True)
        return self.line

    def begin(self, state: State) -> None:
        """Set the first state. If the best line leads through the state, keep the rest of the line."""
        # Imported here, so that commands without a search do not import numpy.
        from anygame.search.one_player.portfolio import Portfolio

        began = perf_counter()
        self._game.compile_if_worth_it()
        former = self._search
        if former is None or former.start != state:
            self._search = Portfolio(self._game, state, self._chooser, self._memory, self._seed, former)
        self._seconds += perf_counter() - began

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about the given number of seconds; return the number of visited states.

        Raises:
            SeveralChooseError: another role has a choice in a visited state.
        """
        search = self._begun
        began, before = perf_counter(), search.states
        try:
            while not search.is_over and (remaining := seconds - (perf_counter() - began)) > 0:
                search.advance(min(_SLICE, remaining))
        except KeyboardInterrupt:
            search.begin_anew()
            raise
        self._seconds += perf_counter() - began
        return search.states - before

    @property
    def is_done(self) -> bool:
        """Whether the search has proven that no better line exists."""
        return self._begun.is_over

    @property
    def line(self) -> Line:
        """The best known line."""
        return self._begun.line(self._seconds)

    def best(self, role: int) -> Term:
        """Return a role's first move in the best line, or its first legal move if there is no line.

        Raises:
            ValueError: the role has no legal move.
        """
        line, name, start = self.line, self._game.roles[role], self._begun.start
        legal = () if start.is_terminal else start.legal_moves(name)
        if not legal:
            raise ValueError(f"{name} has no legal move here")
        return line.moves[0][role] if line.moves else legal[0]

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the legal moves with bounds of their values. The best move comes first, with its line."""
        line, start = self.line, self._begun.start
        goals = [*(self._begun.goals or USUAL), *([] if line.goal is None else [line.goal])]
        most = line.most_worth(max(*USUAL, *goals))
        bounds = Bounds(min(goals), max(goals) if most is None else most)
        roles = [role for role in start.game.roles if not role.is_random]
        legal = {role: () if start.is_terminal else start.legal_moves(role) for role in roles}
        moves = {role: [MoveAnalysis(move, 0, None, None, bounds) for move in legal[role]] for role in roles}
        chooser = start.game.roles[self._chooser]
        if line.goal is not None and line.moves:
            best, bounds = line.moves[0][self._chooser], Bounds(line.goal, bounds.most)
            of_line = MoveAnalysis(best, 0, line.goal, None, bounds, line.moves if lines else ())
            moves[chooser] = [of_line, *(other for other in moves[chooser] if other.move != best)]
        return Analysis(
            iterations=0,
            seconds=0.0,
            nodes=line.states,
            depth=len(line.moves),
            bytes=0,
            moves={role: tuple(of_role) for role, of_role in moves.items()},
            goals={role: line.goal if role == chooser else None for role in roles},
            proven={role: line.goal if role == chooser and line.goal == most else None for role in roles},
            engine="lines",
        )

    @property
    def _begun(self) -> Portfolio:
        assert self._search is not None, "`begin` must be called before this method"
        return self._search
