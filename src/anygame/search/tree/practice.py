"""Practice as Python sees it: self-play for a while, then a trial of what was learned, by fast matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.practice import PracticeReport
from anygame.search.tree.compiling import table_of
from anygame.search.tree.game_code import refresh
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.self_play import GIVEN_UP, PLAYED, POSITIONS, first_weights, make_practice, practise
from anygame.search.tree.store import make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State

__all__ = ["Learned", "learn_estimates", "self_play", "try_out"]

#: How much minimax over estimates counts beside the means of playouts, where it does.
TRUST: Final = 0.6
#: Of the time, the part for self-play; the rest is for the trial.
_SHARE_OF_SELF_PLAY: Final = 0.6
#: Games from which nothing can be learned yet.
_FEWEST_GAMES: Final = 200
#: Matches of a trial: at least so many before it is decided, and no more than so many.
_FEWEST_MATCHES, _MOST_MATCHES = 6, 24
#: For so many matches there should be time; seconds for a move of them.
_PLANNED_MATCHES: Final = 16
_FASTEST, _SLOWEST = 0.002, 0.1
#: Leaves for a move of a match without a clock.
_LEAVES: Final = 2000
#: Standard errors above one half: of a score that is good enough; of one that decides at once; and of one
#: that is given up.
_GOOD, _CERTAIN, _HOPELESS = 0.8, 2.0, -1.2
#: Bytes of the tree of each side in a trial, and of the states of self-play.
_TRIAL_MEMORY, _SELF_PLAY_MEMORY = 1 << 24, 1 << 20
#: Random moves before a match of a trial begins, at most.
_LONGEST_OPENING: Final = 4
#: Joint moves after which a match of a trial is given up.
_LONGEST_MATCH: Final = 400


def learn_estimates(
    searcher: TreeSearcher,
    *,
    seed: int,
    seconds: float | None = None,
    games: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> PracticeReport | None:
    """Have a searcher learn estimates from self-play, and use them if they prove good in a trial.

    Args:
        searcher: for which game; what it knows so far is forgotten if it uses estimates from now on.
        seed: of random numbers.
        seconds: for all; None for any time.
        games: how many to play at most; the same seed then teaches the same.
        stop: asked often whether to end at once.

    Returns:
        what came of it; None if the game is not one of two roles that take turns against each other.
    """
    game, code = searcher.game, searcher.code
    if len(code.random) != 2 or code.random.any():
        return None
    begin = perf_counter()
    end = begin + (inf if seconds is None else seconds)
    learned = self_play(
        searcher, seed=seed, deadline=begin + _SHARE_OF_SELF_PLAY * (end - begin), games=games, stop=stop
    )
    if learned is None:
        return None
    matches, score = 0, 0.0
    if learned.games >= _FEWEST_GAMES and not stop():
        moves = _PLANNED_MATCHES * learned.positions / learned.games
        pace = None if seconds is None else min(max(_FASTEST, (end - perf_counter()) / moves), _SLOWEST)
        matches, score = try_out(game, learned.weights, seed=seed, end=end, pace=pace, stop=stop)
    is_used = matches >= _FEWEST_MATCHES and _excess(matches, score) >= _GOOD
    if is_used:
        searcher.use_estimates(learned.weights, TRUST)
    return PracticeReport(learned.games, learned.positions, learned.seconds, matches, score, is_used)


@dataclass(frozen=True, slots=True)
class Learned:
    """What self-play brought.

    Attributes:
        weights: float32 [64 words + 2, units]; of estimates.
        games: how many were played to their end.
        positions: how many of them there were.
        seconds: how long it took.
    """

    weights: NDArray[np.float32]
    games: int
    positions: int
    seconds: float


def self_play(
    searcher: TreeSearcher,
    *,
    seed: int,
    deadline: float = inf,
    games: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Learned | None:
    """Have a game play with itself; return what was learned, None if it is no game for that.

    Args:
        searcher: for the game.
        seed: of random numbers.
        deadline: when it must be over, as ``perf_counter`` counts.
        games: how many games are enough, those that were given up among them.
        stop: asked often whether to end at once.
    """
    begin = perf_counter()
    kernel, code = searcher.kernel, searcher.code
    own = code._replace(functions=code.functions.copy(), weights=first_weights(code.weights.shape, seed))
    start = searcher.packed(searcher.game.initial_state())
    practice = make_practice(start)
    store = make_store(len(start), 2, _SELF_PLAY_MEMORY)
    worker = make_worker(kernel, seed, 1, searcher.settings)
    tables = [table_of(each) for each in (store, worker, own, practice)]
    addresses = [table.ctypes.data for table in tables]
    counts = practice.counts
    most = inf if games is None else games
    while counts[PLAYED] + counts[GIVEN_UP] < most and perf_counter() < deadline and not stop():
        refresh(own, kernel)
        if not practise(*addresses):
            return None
    return Learned(own.weights, int(counts[PLAYED]), int(counts[POSITIONS]), perf_counter() - begin)


def try_out(
    game: Game,
    weights: NDArray[np.float32],
    *,
    seed: int,
    end: float = inf,
    pace: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[int, float]:
    """Let searches with estimates play searches without, in turn as either role.

    Args:
        game: the game.
        weights: of the estimates.
        seed: of random numbers.
        end: when it must be over, as ``perf_counter`` counts.
        pace: seconds for a move; None for a number of leaves.
        stop: asked before every move whether to end at once.

    Returns:
        how many matches were played, and the points of searches with estimates.
    """
    random = Random(seed)
    matches, score = 0, 0.0
    opening = game.initial_state()
    while matches < _MOST_MATCHES and perf_counter() < end and not stop():
        if not matches % 2:
            opening = _opening(game, random)
        with_estimates = TreeSearcher(game, seed=random.getrandbits(32), memory=_TRIAL_MEMORY)
        with_estimates.use_estimates(weights, TRUST)
        without = TreeSearcher(game, seed=random.getrandbits(32), memory=_TRIAL_MEMORY)
        seat = matches % 2  # each opening is played from both
        sides = (without, with_estimates) if seat else (with_estimates, without)
        value = _match(opening, sides, seat, pace, end, stop)
        if value is None:
            break
        matches, score = matches + 1, score + value
        if matches >= _FEWEST_MATCHES and not _HOPELESS < _excess(matches, score) < _CERTAIN:
            break
    return matches, score


def _excess(matches: int, score: float) -> float:
    """Return by how many standard errors a score is above one half."""
    return (score - matches / 2) / (sqrt(matches) / 2) if matches else 0.0


def _opening(game: Game, random: Random) -> State:
    """Return a state after some random moves, the initial one if these end the game."""
    state = start = game.initial_state()
    for _ in range(random.randrange(_LONGEST_OPENING + 1)):
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if state.is_terminal or state.stuck_role is not None:
            return start
    return state


def _match(
    state: State,
    sides: tuple[TreeSearcher, TreeSearcher],
    seat: int,
    pace: float | None,
    end: float,
    stop: Callable[[], bool],
) -> float | None:
    """Play a match; return what it is worth to the role of a seat, 0 to 1; None if it was not ended."""
    game = state.game
    for _ in range(_LONGEST_MATCH):
        if state.is_terminal or state.stuck_role is not None:
            break
        joint = []
        for role, side in zip(game.roles, sides, strict=True):
            legal = state.legal_moves(role)
            if len(legal) > 1:
                if perf_counter() >= end or stop():
                    return None
                side.begin(state)
                side.advance(*((inf, _LEAVES) if pace is None else (pace, None)))
                joint.append(side.best(game.role_index(role)))
            else:
                joint.append(legal[0])
        state = state.next(joint)
    own, other = (sides[seat].value_of_end(state, role) for role in (seat, 1 - seat))
    return (1 + own - other) / 2
