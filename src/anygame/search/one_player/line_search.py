"""The search for the best line, which may be interrupted and gone on with."""

from __future__ import annotations

from random import SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.one_player.choosing import SeveralChooseError, sole_chooser

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search.one_player.line import Line
    from anygame.search.one_player.portfolio import Portfolio

#: As much as a player may take by default.
DEFAULT_MEMORY: Final = 1 << 30
#: A way to search goes on for so long before the next one: a clock is looked at as often.
_SLICE: Final = 0.02


class LineSearch:
    """Looks for the best line of a game in which one role chooses and nothing is left to chance.

    It goes breadth first while memory lasts and, in turn with that, best first and depth first by estimates
    of how far a goal is, where the game has a network, and by nested rollouts. A line is proven to be best
    where no greater goal of the rules can be reached even in the relaxed game that gives the estimates, or
    all states were looked at.

    Args:
        game: the game; it is compiled when the search begins, if that is worth it.
        seed: of the random numbers; None for fresh ones.
        memory: bytes to use at most, about.

    Raises:
        SeveralChooseError: more than one role chooses, or there is chance.

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

    def __init__(self, game: Game, *, seed: int | None = None, memory: int = DEFAULT_MEMORY) -> None:
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
        """Search, and return the best line that is known. Ctrl-C ends it early.

        It ends when the line is proven to be best, or nothing is left to try. Called again, it goes on: from
        the same state where it was, and from a state of the line that was found with the rest of that line.

        Args:
            state: where the line begins; the initial state by default.
            seconds: how long to search at most; None for as long as it takes.
            stop: asked some tens of times a second whether to end.
            progress: called as often with what is known.

        Raises:
            SeveralChooseError: another role turns out to have a choice.
        """
        began = perf_counter()
        self._game.compile_if_worth_it()
        start = self._game.initial_state() if state is None else state
        search = self._search = self._at(start)
        try:
            while not search.is_over and not (stop and stop()):
                left = _SLICE if seconds is None else seconds - (perf_counter() - began)
                if left <= 0:
                    break
                search.advance(min(_SLICE, left))
                if progress:
                    progress(search.told(self._seconds + perf_counter() - began))
        except KeyboardInterrupt:
            search.begin_anew()
        self._seconds += perf_counter() - began
        return search.told(self._seconds)

    def _at(self, start: State) -> Portfolio:
        # A command that does not search imports no numpy.
        from anygame.search.one_player.portfolio import Portfolio

        known = self._search
        if known is not None and known.start == start:
            return known
        return Portfolio(self._game, start, self._chooser, self._memory, self._seed, known)
