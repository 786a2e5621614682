"""Searches of a state, limited by time or by a number of leaves. `Search` chooses the engine."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf
from random import SystemRandom
from threading import TIMEOUT_MAX, Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from warnings import warn

from anygame.errors import CompilationError, LimitError, ModelError, PositionError
from anygame.game.game import begun
from anygame.game.machine import FallbackWarning, reason_of
from anygame.game.state import RoleView
from anygame.progress import reporting
from anygame.search.one_player import LineSearch, SeveralChooseError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import Analysis, PracticeReport
    from anygame.search.hidden.searcher import BeliefSearcher
    from anygame.search.model import Model
    from anygame.search.table import Table
    from anygame.search.tree.searcher import TreeSearcher


class Searcher(Protocol):
    """Grows a search tree from a root. Only one thread at a time may use a searcher.

    The tree depends only on the seed and the total number of iterations, not on the number of calls.
    """

    def begin(self, state: State) -> None:
        """Make a state the root, and keep the tree below it; raise PositionError if the engine cannot."""

    def advance(self, seconds: float, iterations: int | None = None) -> int:
        """Search for about a number of seconds or of leaves, and return the number of evaluated leaves.

        The result is 0 if the search is done or the time is too short. The next call resumes unfinished work.
        """

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the analysis of the root. ``lines`` tells whether the analysis has lines of best play."""

    def best(self, role: int) -> Term:
        """Return the first move of a role in the analysis; raise ValueError if the role has no move."""

    @property
    def is_done(self) -> bool:
        """Whether the root is a final state, or its value is proven for all roles."""


#: Default time of an analysis in seconds.
SECONDS: Final = 5.0
#: Default maximum size of the tree in bytes.
DEFAULT_MEMORY: Final = 1 << 30
#: Seconds between two checks of the clock and ``stop``.
_SLICE: Final = 0.05
#: Seconds between two reports of progress.
_BETWEEN_REPORTS: Final = 0.25
#: Factor by which the expected overrun of a time slice decays with every slice.
_FORGETTING: Final = 0.9
_COST: Final = "the search evaluates one state at a time, which typically takes hundreds of times longer"
#: A run changes to a better engine only if at least this fraction of its time remains.
_WORTH_BEGINNING: Final = 0.5
#: Fraction of a run that searches for the best line in a game for one role.
_SHARE_OF_LINES: Final = 0.8
#: Fraction of a run that updates the belief.
_BELIEVING: Final = 0.4


class _Run(NamedTuple):
    """Limits of a run. ``begin`` and ``end`` are times of ``perf_counter``."""

    begin: float
    end: float
    iterations: int | None
    stop: Callable[[], bool]
    slice_seconds: float

    @property
    def has_seconds_alone(self) -> bool:
        """Whether the run has a time limit and no other limit."""
        return self.end < inf and self.iterations is None


class Search:
    """Searches any game, with the best engine for the game and the limits of the run.

    The search uses the first possible engine of this list:

    - ``beliefs``, if a role is given: a tree from the states that agree with the role's knowledge. The game
      must have a network that computes percepts.
    - ``lines``: the best line of a game without chance in which one role chooses. The run must have a limit
      in seconds and no other limit. Without a line after four fifths of the time, a tree search follows.
    - ``lanes``: a tree that evaluates hundreds of leaves at a time in native code. The game must have a
      network that can hold the state.
    - ``states``: a tree that evaluates its leaves one by one with the reasoner.

    The trees use Monte Carlo tree search with proofs. The next run keeps the part of the tree below the new
    state. Several threads can share a search, but only one thread can run the search at a time.

    Args:
        game: the game.
        seed: seed of the random numbers; None for a new seed. With one thread and a number of iterations, the
            same seed gives the same analysis.
        threads: number of threads; only the engine ``lanes`` uses more than one thread.
        memory: approximate maximum size of the tree in bytes.
        role: the searching role, if the role does not know the whole state; otherwise None.
        table: exact values; see ``anygame.solve``.
        model: learned estimates; see ``anygame.load_model``. Lanes use the model if the model won its trial.

    Attributes:
        table: the exact values. In states of the table, exact values prove moves and choose the best move.
        fallback: the error that prevents the use of lanes; None otherwise. A ``FallbackWarning`` also reports
            the error.
        no_beliefs: why the engine is not ``beliefs`` although a role was given; None otherwise.
        no_model: why the search does not use a model that belongs to the rules of the game; None otherwise.

    Raises:
        ModelError: the model belongs to other rules.
        ValueError: a number is out of range.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe", machine="reasoner")
    >>> state = game.initial_state()
    >>> for cell in "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 3 3)":
    ...     state = state.play(cell)
    >>> found = Search(game, seed=1).run(state, iterations=1000)
    >>> str(found.best("x")), found.proven["x"], found.is_solved
    ('(mark 1 3)', 100, True)
    """

    def __init__(
        self,
        game: Game,
        *,
        seed: int | None = None,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        role: Role | None = None,
        table: Table | None = None,
        model: Model | None = None,
    ) -> None:
        if model is not None:
            model.check(game)
        if not 1 <= threads <= 4096:
            raise ValueError(f"expected 1 to 4096 threads, got {threads}")
        if memory < 1:
            raise ValueError(f"expected a memory limit of at least 1 byte, got {memory}")
        self._game, self._role, self._model = game, role, model
        self.table = table
        self._start: State | None = None
        self._seed, self._threads, self._memory = seed, threads, memory
        self._states: Searcher | None = None
        self._lanes: TreeSearcher | None = None
        self._lines: LineSearch | None = None
        self._may_be_for_one = not game.is_gdl2
        self._beliefs: BeliefSearcher | None = None
        self._compiling: Thread | None = None
        self._is_tried = False
        self._searcher: Searcher | None = None
        self.fallback: Exception | None = None
        self.no_beliefs: LimitError | None = None
        self.no_model: ModelError | None = None
        self._warned_of: str | None = None
        self._busy = Lock()
        self._iterations = 0
        self._seconds = 0.0
        self._interrupted = False
        self._overrun = 0.0

    # -- engines -----------------------------------------------------------------------------------

    def compile(self, seconds: float) -> bool:
        """Compile the game in the background, and wait at most ``seconds``; return whether the game is ready.

        A run that begins before the game is ready can change to lanes later. If the compilation fails, runs
        use the reasoner.
        """
        if self._compiling is None and not self._is_tried:
            self._compiling = Thread(target=self._compile, name="compiling", daemon=True)
            self._compiling.start()
        if self._compiling is not None:
            self._compiling.join(min(seconds, TIMEOUT_MAX))
        return self._lanes is not None or self._beliefs is not None

    @property
    def is_compiling(self) -> bool:
        """Whether the compilation has not ended yet, so the engine is unknown."""
        return not self._is_tried

    @property
    def is_for_one(self) -> bool:
        """Whether only one role is known to choose. If so, timed runs search for the role's best line."""
        return self._line_search() is not None

    @property
    def believes(self) -> bool:
        """Whether the engine is ``beliefs``."""
        return self._beliefs is not None

    @property
    def is_lost(self) -> bool:
        """Whether no state agrees with the knowledge of the role."""
        return self._beliefs is not None and self._beliefs.is_lost

    def _compile_once(self) -> None:
        if self._compiling is None and not self._is_tried:
            self._compile()

    def _compile(self) -> None:
        try:
            self._game.compile_if_worth_it()
            if self._role is not None:
                self._beliefs = self._belief_searcher(self._role)
            if self._beliefs is None:
                self._lanes = self._lane_searcher()
        except Exception as error:  # on any error, fall back to the reasoner
            self.fallback = error
        finally:
            self._is_tried = True

    def _belief_searcher(self, role: Role) -> BeliefSearcher | None:
        """Return the engine ``beliefs``; None if the game has no network that computes percepts."""
        from anygame.search.hidden.searcher import BeliefSearcher

        try:
            return BeliefSearcher(self._game, role, seed=self._seed, memory=self._memory)
        except LimitError as error:
            self.no_beliefs = error
            return None

    def _lane_searcher(self) -> TreeSearcher | None:
        """Return the engine ``lanes``, with the model if possible; None without a network."""
        if self._game.machine != "network":
            return None
        # Imported here, since other engines do not need the module.
        from anygame.search.tree.searcher import TreeSearcher

        lanes = TreeSearcher(self._game, seed=self._seed, threads=self._threads, memory=self._memory)
        if self._model is not None:
            try:
                self._model.use_in(lanes)
            except ModelError as error:
                self.no_model = error
        return lanes

    def _warn(self) -> None:
        """Warn of a fallback, unless the search has already warned of it."""
        reason = reason_of(self.fallback)
        if reason is not None and reason != self._warned_of:
            self._warned_of = reason
            message = f"{self._game.name}: the search is slow: {reason}; {_COST}"
            warn(message, FallbackWarning, stacklevel=2)

    def _line_search(self) -> LineSearch | None:
        """Return the engine ``lines``; None unless only one role is known to choose."""
        game = self._game
        is_shown = game.is_settled and (len(game.roles) == 1 or game.machine == "network")
        if self._may_be_for_one and is_shown:
            self._may_be_for_one = False
            with suppress(SeveralChooseError):
                self._lines = LineSearch(game, seed=self._seed, memory=self._memory)
        return self._lines

    def _begun_line(self, state: State) -> LineSearch | None:
        """Return the engine ``lines``, begun in a state; None if ``lines`` cannot search the state."""
        lines = None if state.is_terminal else self._line_search()
        if lines is not None:
            try:
                lines.begin(state)
            except (LimitError, MemoryError):
                self._lines = lines = None
        return lines

    def _begun_tree(self, state: State, view: RoleView | None, seconds: float) -> Searcher:
        """Return the best engine of ``beliefs``, ``lanes`` and ``states``, begun in a state."""
        if self._beliefs is not None:
            self._beliefs.follow(view or RoleView(state), _BELIEVING * seconds)
            self._beliefs.begin(state)
            return self._beliefs
        if self._lanes is not None:
            try:
                self._lanes.begin(state)
            except (PositionError, MemoryError) as error:
                self.fallback = error
            else:
                self._states, self.fallback = None, None
                return self._lanes
        self._warn()
        if self._states is None:
            from anygame.search.state_tree import StateSearcher

            self._states = StateSearcher(self._game, seed=self._seed, memory=self._memory)
        self._states.begin(state)
        return self._states

    # -- practice ----------------------------------------------------------------------------------

    def practise(
        self,
        *,
        seconds: float | None = None,
        games: int | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> PracticeReport | None:
        """Learn values of states by self-play, and use the values in searches if they win a trial.

        A small network learns from games of self-play in lanes. With two roles, the network learns the
        difference between the two goals; with more roles, the goal of each role. If the network then wins a
        trial of fast matches, the search uses the network and drops the old tree.

        Args:
            seconds: time limit, after the compilation of the game.
            games: maximum number of games. The same seed and number of games give the same result.
            stop: called often. If ``stop`` returns True, practice ends at once, and the search does not use a
                network that had no trial.

        Returns:
            the report; None if only one role chooses, if the rules hide information, or if the game has no
            network.

        Raises:
            ValueError: both limits are missing, or a limit is not positive.
        """
        asked = [number for number in (seconds, games) if number is not None]
        if not asked or min(asked) <= 0:
            raise ValueError("expected a positive limit for practice, in seconds or games")
        self._compile_once()
        with self._busy:
            if self._lanes is None or self.is_for_one:
                return None
            from anygame.search.learning.practice import learn_estimates

            seed = SystemRandom().getrandbits(32) if self._seed is None else self._seed
            report = learn_estimates(self._lanes, seed=seed, seconds=seconds, games=games, stop=stop)
            if report is not None and report.is_used:
                self._searcher = None
            return report

    # -- searching ---------------------------------------------------------------------------------

    def run(
        self,
        state: State | None = None,
        *,
        seconds: float | None = None,
        iterations: int | None = None,
        progress: Callable[[Analysis], None] | None = None,
        stop: Callable[[], bool] | None = None,
        view: RoleView | None = None,
    ) -> Analysis:
        """Search a state, and return its analysis.

        The first run compiles the game before the clock of the run starts. A run ends early if all values are
        proven. After Ctrl-C, the run returns the analysis so far.

        Args:
            state: the state; the initial state by default. With a view, any state that agrees with the view.
            seconds: time limit.
            iterations: approximate number of leaves to evaluate. Without a limit, the run ends when all
                values are proven.
            progress: called about four times a second with the analysis.
            stop: called about 20 times a second. The run ends if ``stop`` returns True.
            view: the knowledge of the searching role; None if the role knows the state.

        Raises:
            AnygameError: the rules cannot be evaluated.
        """
        reported = perf_counter()
        try:
            with reporting(progress, lambda analysis: analysis._repr_html_()) as report:
                for _ in self.slices(state, seconds=seconds, iterations=iterations, stop=stop, view=view):
                    if report is not None and perf_counter() - reported >= _BETWEEN_REPORTS:
                        report(self.analysis())
                        reported = perf_counter()
        except KeyboardInterrupt:
            # Ctrl-C can interrupt a progress report before an engine exists.
            if self._searcher is None:
                raise
            self._interrupted = True
        return self.analysis()

    def slices(
        self,
        state: State | None = None,
        *,
        seconds: float | None = None,
        iterations: int | None = None,
        stop: Callable[[], bool] | None = None,
        slice_seconds: float = _SLICE,
        view: RoleView | None = None,
    ) -> Iterator[int]:
        """Search as `run` does; after every slice of time, yield the number of iterations so far."""
        self._compile_once()
        start = self._start = self._game.initial_state() if state is None else state
        if self.table is not None:
            self.table.value(start)  # Raise an error for a state of another game now, before the search.
        begin = perf_counter()
        end = begin + (inf if seconds is None else seconds)
        run = _Run(begin, end, iterations, stop or (lambda: False), slice_seconds)
        with self._busy:
            self._iterations, self._interrupted = 0, False
            # The expected overrun is at most half of the duration of the run.
            self._overrun = min(_FORGETTING * self._overrun, (end - begin) / 2)
            try:
                while (yield from self._choose_and_search(start, view, run)):
                    pass
            except KeyboardInterrupt:
                self._interrupted = True
            finally:
                self._seconds = perf_counter() - begin

    def _choose_and_search(
        self, start: State, view: RoleView | None, run: _Run
    ) -> Generator[int, None, bool]:
        """Search with the best engine; return whether a better engine has become ready meanwhile."""
        line = self._begun_line(start) if run.has_seconds_alone else None
        if line is not None:
            self._searcher = line
            try:
                yield from self._advance(line, run, run.begin + _SHARE_OF_LINES * (run.end - run.begin))
            except (SeveralChooseError, LimitError, MemoryError):
                self._lines = None
            else:
                if line.line.moves:
                    return False
        searcher = self._searcher = self._begun_tree(start, view, run.end - run.begin)
        return (yield from self._advance(searcher, run, run.end))

    def _advance(self, searcher: Searcher, run: _Run, end: float) -> Generator[int, None, bool]:
        """Search in slices until ``end``; return whether a better engine has become ready."""
        while not searcher.is_done and not run.stop():
            remaining = end - perf_counter()
            wanted = None if run.iterations is None else run.iterations - self._iterations
            if remaining <= self._overrun or wanted == 0:
                break
            length = min(remaining, run.slice_seconds)
            before = perf_counter()
            done = searcher.advance(length, wanted)
            taken = perf_counter() - before
            self._overrun = max(_FORGETTING * self._overrun, taken - length, 0.0)
            if not done and taken < length / 2:
                break
            self._iterations += done
            self._seconds = perf_counter() - run.begin
            yield self._iterations
            if self._is_worth_beginning(searcher, run):
                return True
        return False

    def _is_worth_beginning(self, searcher: Searcher, run: _Run) -> bool:
        """Return whether a better engine is ready and enough time remains for it."""
        if searcher is not self._states or (self._lanes is None and self._beliefs is None):
            return False
        return run.end - perf_counter() >= _WORTH_BEGINNING * (run.end - run.begin)

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return the analysis of the last run; raise a ValueError if there was no run."""
        analysis = self._begun().analysis(lines=lines)
        if self.table is not None and self._start is not None:
            analysis = self.table.annotate(analysis, self._start)
        is_slow = self._searcher is self._states
        return replace(
            analysis,
            iterations=self._iterations,
            seconds=self._seconds,
            interrupted=self._interrupted,
            fallback=reason_of(self.fallback or self._game.fallback) if is_slow else None,
        )

    def best(self, role: int) -> Term:
        """Return the best move of a role, given its index, in the state of the last run.

        Raises:
            ValueError: the role has no move, or there was no run.
        """
        best = self._begun().best(role)
        if self.table is None or self._start is None:
            return best
        return next(iter(self.table.best_moves(self._start).get(self._game.roles[role], ())), best)

    def _begun(self) -> Searcher:
        if self._searcher is None:
            raise ValueError("nothing has been searched yet")
        return self._searcher


def analyse(
    game: Game | State,
    state: State | None = None,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    seed: int | None = None,
    table: Table | None = None,
    model: Model | None = None,
    progress: Callable[[Analysis], None] | None = None,
) -> Analysis:
    """Search a state, and return the values of its moves with lines of best play.

    The command ``anygame analyse`` and the player ``mcts`` use the same search. After Ctrl-C, the function
    returns the analysis so far. To search successive states with one tree, use ``Search``.

    Args:
        game: the game, or the state to search.
        state: the state to search; the initial state by default.
        seconds: time limit; by default 5 s if ``iterations`` is not given. With ``math.inf`` seconds, the
            search ends when all values are proven.
        iterations: maximum number of leaves to evaluate.
        threads: number of threads.
        memory: approximate maximum size of the tree in bytes.
        seed: seed of the random numbers; None for a new seed. With one thread and a number of iterations, the
            same seed gives the same analysis.
        table: exact values, which the analysis shows as proven; see ``anygame.solve``.
        model: learned estimates; see ``anygame.load_model``.
        progress: called about four times a second with the analysis, which a notebook shows by default.

    Raises:
        ModelError: the model was trained for another game.
        PositionError: the state or the table belongs to another game.
        ValueError: a number is out of range.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe", machine="reasoner")
    >>> state = game.state(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 b)", "(cell 2 1 o)", "(cell 2 2 b)",
    ...     "(cell 2 3 b)", "(cell 3 1 b)", "(cell 3 2 b)", "(cell 3 3 o)", "(control x)"])
    >>> found = anygame.analyse(state, iterations=1000, seed=1)
    >>> best = found.moves["x"][0]
    >>> best.move, best.proven, best.line
    ((mark 1 3), 100, (((mark 1 3), noop),))
    """
    game, state = begun(game, state)
    if seconds is None and iterations is None:
        seconds = SECONDS
    search = Search(game, seed=seed, threads=threads, memory=memory, table=table, model=model)
    return search.run(state, seconds=seconds, iterations=iterations, progress=progress)


def prepare() -> None:
    """Compile the native code of the searches. Compilation takes seconds, once on each machine."""
    from anygame.native.marking import native_code

    with suppress(CompilationError):  # The next search reports the error.
        native_code("search")
