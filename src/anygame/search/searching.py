"""Search as people and players use it: from a state, for a time or a number of leaves, in slices."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf
from random import SystemRandom
from threading import Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Final
from warnings import warn

from anygame.errors import CompilationError, PositionError
from anygame.game.machine import FallbackWarning, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.analysis import Analysis
    from anygame.search.practice import PracticeReport
    from anygame.search.searcher import Searcher
    from anygame.search.tree.searcher import TreeSearcher

#: A gigabyte: what a program may take on most machines without being asked.
DEFAULT_MEMORY: Final = 1 << 30
#: Seconds between two looks at clocks and wishes to stop.
_SLICE: Final = 0.05
#: Seconds between two reports of progress: as often as people can read.
_BETWEEN_REPORTS: Final = 0.25
#: A slice that took too long, since a question to the rules did, is feared again, and less with every slice.
_FORGETTING: Final = 0.9
#: What a fallback costs, for people.
_COST: Final = "it looks at one state after the other, mostly hundreds of times as few"
#: Of the time of a run, the part that must be left for a tree that begins anew to be the better one.
_WORTH_BEGINNING: Final = 0.5


class Search:
    """Monte Carlo tree search with proofs, for any game.

    Where the game has a network, its leaves are evaluated in lanes by native code, hundreds at a time;
    elsewhere one after the other by the reasoner. The tree is kept from run to run, as far as it lies below
    the state that is searched. A search may be used by several threads, one at a time.

    Args:
        game: the game.
        seed: of the random numbers; None for fresh ones. With one thread and a number of iterations, the same
            seed gives the same analysis.
        threads: how many cores to use; only lanes use more than one.
        memory: bytes that the tree may take at most, about.

    Attributes:
        fallback: what keeps the search from using lanes although it was to; None otherwise. A
            ``FallbackWarning`` says it, too.

    Raises:
        ValueError: a number is out of range.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe", machine="reasoner")
    >>> state = game.initial_state()
    >>> for cell in "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 3 3)":
    ...     moves = state.legal_moves("x"), state.legal_moves("o")
    ...     state = state.next([cell if len(legal) > 1 else legal[0] for legal in moves])
    >>> found = Search(game, seed=1).run(state, iterations=1000)
    >>> str(found.best("x")), found.proven["x"], found.is_solved
    ('(mark 1 3)', 100, True)
    """

    def __init__(
        self, game: Game, *, seed: int | None = None, threads: int = 1, memory: int = DEFAULT_MEMORY
    ) -> None:
        if not 1 <= threads <= 4096:
            raise ValueError(f"threads should be a number from 1 to 4096, not {threads}")
        if memory < 1:
            raise ValueError(f"memory should be a number of bytes from 1, not {memory}")
        self._game = game
        self._seed, self._threads, self._memory = seed, threads, memory
        self._states: Searcher | None = None
        self._lanes: TreeSearcher | None = None
        self._compiling: Thread | None = None
        self._is_tried = False
        self._searcher: Searcher | None = None
        self.fallback: Exception | None = None
        self._told: str | None = None
        self._busy = Lock()
        self._iterations = 0
        self._seconds = 0.0
        self._interrupted = False
        self._overrun = 0.0

    # -- what evaluates leaves ---------------------------------------------------------------------

    def compile(self, seconds: float) -> bool:
        """Compile the game, and wait for it for so many seconds at most; return whether it is ready.

        Compiling goes on behind runs that begin meanwhile, which change to lanes when they can. A game that
        cannot be compiled is searched by the reasoner.
        """
        if self._compiling is None and not self._is_tried:
            self._compiling = Thread(target=self._compile, name="compiling", daemon=True)
            self._compiling.start()
        if self._compiling is not None:
            self._compiling.join(seconds)
        return self._lanes is not None

    @property
    def is_compiling(self) -> bool:
        """Whether it is not known yet what will evaluate leaves."""
        return not self._is_tried

    def _compile_if_nobody_does(self) -> None:
        if self._compiling is None and not self._is_tried:
            self._compile()

    def _compile(self) -> None:
        """Make the tree over lanes, where there can be one."""
        try:
            self._lanes = _lane_searcher(self._game, self._seed, self._threads, self._memory)
        except Exception as error:  # whatever stops it, the game is played anyway
            self.fallback = error
        finally:
            self._is_tried = True

    def _warn(self) -> None:
        """Say why states are searched, unless that was said before."""
        reason = reason_of(self.fallback)
        if reason is not None and reason != self._told:
            self._told = reason
            message = f"{self._game.name}: searches slowly here: {reason}; {_COST}"
            warn(message, FallbackWarning, stacklevel=2)

    def _chosen(self, state: State) -> Searcher:
        """Return what searches a state, begun there: lanes, where they can hold it."""
        if self._lanes is not None:
            try:
                self._lanes.begin(state)
            except (PositionError, MemoryError) as error:
                self.fallback = error
            else:
                # What was searched meanwhile is needed no more.
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
        """Learn by self-play what a state is worth at a glance, and use it in searches where it helps.

        Games of two roles that take turns are played in lanes by both roles for themselves, and a small
        network learns from them which role does better, and by how much. Whether searches are the better
        for it is tried in fast matches, and they use it only then; what was searched before is forgotten in
        this case.

        Args:
            seconds: for all of it, once the game is compiled.
            games: how many to learn from at most; with the same seed, the same comes of it.
            stop: asked often whether to end at once; what was not tried out is not used.

        Returns:
            what came of it; None for other games, and for those that have no network.

        Raises:
            ValueError: neither seconds nor games are given, or one is not positive.
        """
        asked = [number for number in (seconds, games) if number is not None]
        if not asked or min(asked) <= 0:
            raise ValueError("say for how many seconds to practise, or how many games, as numbers above 0")
        self._compile_if_nobody_does()
        with self._busy:
            if self._lanes is None:
                return None
            # Numba, which compiles self-play, is loaded for lanes alone.
            from anygame.search.tree.practice import learn_estimates

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
    ) -> Analysis:
        """Search a state, and return what is known of it.

        The first run compiles the game; the seconds count from then on. A run ends early where everything is
        proven, and by Ctrl-C, with what is known.

        Args:
            state: where to start; the initial state by default.
            seconds: how long at most.
            iterations: how many leaves to evaluate, about; without either, it goes on for as long as it can.
            progress: called about four times a second with what is known.
            stop: asked some tens of times a second whether to end, for other threads.

        Raises:
            AnygameError: the rules cannot be evaluated.
        """
        told = perf_counter()
        try:
            for _ in self.slices(state, seconds=seconds, iterations=iterations, stop=stop):
                if progress is not None and perf_counter() - told >= _BETWEEN_REPORTS:
                    progress(self.analysis())
                    told = perf_counter()
        except KeyboardInterrupt:
            # While progress was told; or before there was anything to tell.
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
    ) -> Iterator[int]:
        """Search as `run` does, and yield the number of iterations after every slice of time."""
        self._compile_if_nobody_does()
        start = self._game.initial_state() if state is None else state
        begin = perf_counter()
        end = begin + (inf if seconds is None else seconds)
        with self._busy:
            self._iterations, self._interrupted = 0, False
            # What was late once may be so again; but a run has half of its time at the least.
            self._overrun = min(_FORGETTING * self._overrun, (end - begin) / 2)
            try:
                searcher = self._searcher = self._chosen(start)
                while not searcher.is_done and not (stop is not None and stop()):
                    left = end - perf_counter()
                    wanted = None if iterations is None else iterations - self._iterations
                    if left <= self._overrun or wanted == 0:
                        break
                    length = min(left, slice_seconds)
                    before = perf_counter()
                    done = searcher.advance(length, wanted)
                    taken = perf_counter() - before
                    self._overrun = max(_FORGETTING * self._overrun, taken - length, 0.0)
                    if not done and taken < length / 2:
                        break
                    self._iterations += done
                    self._seconds = perf_counter() - begin
                    yield self._iterations
                    if self._is_worth_beginning(searcher, begin, end):
                        searcher = self._searcher = self._chosen(start)
            except KeyboardInterrupt:
                self._interrupted = True
            finally:
                self._seconds = perf_counter() - begin

    def _is_worth_beginning(self, searcher: Searcher, begin: float, end: float) -> bool:
        """Whether lanes are ready that were not when the run began, and there is time for another tree."""
        if self._lanes is None or searcher is self._lanes:
            return False
        return end - perf_counter() >= _WORTH_BEGINNING * (end - begin)

    def analysis(self, *, lines: bool = True) -> Analysis:
        """Return what is known of the state of the last run.

        Raises:
            ValueError: there was none yet.
        """
        found = self._begun().analysis(lines=lines)
        is_slow = self._searcher is not self._lanes
        return replace(
            found,
            iterations=self._iterations,
            seconds=self._seconds,
            interrupted=self._interrupted,
            fallback=reason_of(self.fallback or self._game.fallback) if is_slow else None,
        )

    def best(self, role: int) -> Term:
        """Return the move that a role, given by its index, should make in the state of the last run.

        Raises:
            ValueError: it has none, or there was no run yet.
        """
        return self._begun().best(role)

    def _begun(self) -> Searcher:
        if self._searcher is None:
            raise ValueError("nothing has been searched yet")
        return self._searcher


def prepare() -> None:
    """Compile the search over lanes, if that was not done before on this machine: it takes some seconds."""
    from anygame.search.native.marking import native_code

    with suppress(CompilationError):  # who searches is told
        native_code()


def _lane_searcher(game: Game, seed: int | None, threads: int, memory: int) -> TreeSearcher | None:
    """Return the tree over lanes; None where the game has no network."""
    game.compile_if_worth_it()
    if game.machine.name != "network":
        return None
    # Imported here, since other searches need no arrays of trees.
    from anygame.search.tree.searcher import TreeSearcher

    return TreeSearcher(game, seed=seed, threads=threads, memory=memory)
