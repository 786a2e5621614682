"""Practice as Python sees it: self-play for a while, then a trial of what was learned, by fast matches."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.analysis import PracticeReport
from anygame.search.native.marking import table_of
from anygame.search.tree.game_code import refresh
from anygame.search.tree.searcher import TreeSearcher
from anygame.search.tree.self_play import (
    GIVEN_UP,
    PLAYED,
    POSITIONS,
    SHARED,
    first_weights,
    make_practice,
    practise,
)
from anygame.search.tree.store import make_store
from anygame.search.tree.worker import make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State

#: How much minimax over estimates counts beside the means of playouts, where it does.
TRUST: Final = 0.6
#: Of the time, the part for self-play; the rest is for the trial.
_SHARE_OF_SELF_PLAY: Final = 0.6
#: Games from which nothing can be learned yet.
_FEWEST_GAMES: Final = 200
#: Matches of a trial: at least so many to go by, so many before it is decided with time left, and the most.
_FEWEST_MATCHES, _EARLIEST_MATCHES, _MOST_MATCHES = 4, 6, 24
#: For so many matches there should be time; seconds for a move of them.
_PLANNED_MATCHES: Final = 16
_FASTEST, _SLOWEST = 0.002, 0.1
#: Leaves for a move of a match without a clock.
_LEAVES: Final = 2000
#: Standard errors above one half: of a score that is good enough; of one that decides at once; and of one
#: that is given up.
_GOOD, _CERTAIN, _HOPELESS = 0.8, 2.0, -1.2
#: The same of goals where these are compared with what they are without estimates, and are too low.
_HARMFUL: Final = -0.5
#: Bytes of the tree of each side in a trial, and of the states of self-play.
_TRIAL_MEMORY, _SELF_PLAY_MEMORY = 1 << 24, 1 << 20
#: Of so many games one may end otherwise than the games of opponents do.
_FEW: Final = 20
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
        what came of it; None if the game is not one of two roles that take turns.
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
    trial = Trial()
    if learned.games >= _FEWEST_GAMES and not stop():
        length = None if seconds is None else learned.positions / learned.games
        trial = try_out(
            game, learned.weights, seed=seed, end=end, length=length, is_shared=learned.is_shared, stop=stop
        )
    if trial.speaks_for_it:
        searcher.use_estimates(learned.weights, TRUST)
    return PracticeReport(
        games=learned.games,
        positions=learned.positions,
        seconds=learned.seconds,
        trial_matches=len(trial.leads),
        trial_score=sum(trial.leads),
        is_used=trial.speaks_for_it,
    )


@dataclass(frozen=True, slots=True)
class Learned:
    """What self-play brought.

    Attributes:
        weights: float32 [64 words + 2, units]; of estimates.
        games: how many were played to their end.
        positions: how many of them there were.
        seconds: how long it took.
        is_shared: whether games end with something for both roles, and not by a draw.
    """

    weights: NDArray[np.float32]
    games: int
    positions: int
    seconds: float
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of matches of searches with estimates against searches without.

    Attributes:
        leads: for each match, half a point and half of what the role with estimates got more than the other.
        gains: where one role need not lose what the other gains, the same with what it got more than without
            estimates on either side; else nothing.
    """

    leads: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def speaks_for_it(self) -> bool:
        """Whether estimates are good: they bring a lead, and one that does not cost more than it takes."""
        enough = len(self.leads) >= _FEWEST_MATCHES
        return enough and _excess(self.leads) >= _GOOD and _excess(self.gains) > _HARMFUL

    @property
    def is_decided(self) -> bool:
        """Whether more matches would hardly say anything else."""
        if len(self.leads) < _EARLIEST_MATCHES:
            return False
        lead, gain = _excess(self.leads), _excess(self.gains)
        return min(lead, gain) <= _HOPELESS or (lead >= _CERTAIN and gain > _HARMFUL)


def _excess(points: Sequence[float]) -> float:
    """Return by how many standard errors the mean of points is above one half, 0 for no points.

    One more match is added, as far from one half as any, so that little is not made of few.
    """
    leads = [point - 0.5 for point in points]
    if not any(leads):
        return 0.0
    squares = [lead * lead for lead in leads]
    return sum(leads) / sqrt(sum(squares) + max(squares))


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
    return Learned(
        weights=own.weights,
        games=int(counts[PLAYED]),
        positions=int(counts[POSITIONS]),
        seconds=perf_counter() - begin,
        is_shared=_FEW * counts[SHARED] > counts[PLAYED],
    )


def try_out(
    game: Game,
    weights: NDArray[np.float32],
    *,
    seed: int,
    end: float = inf,
    length: float | None = None,
    is_shared: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Trial:
    """Let searches with estimates play searches without, in turn as either role.

    Args:
        game: the game.
        weights: of the estimates.
        seed: of random numbers.
        end: when it must be over, as ``perf_counter`` counts.
        length: how many joint moves a match may take, for sharing out the time; None for a number of leaves
            for each move, however long that takes.
        is_shared: whether one role need not lose what the other gains. Then a lead may be dearly bought, and
            each opening is also played without estimates on either side, to compare with.
        stop: asked before every move whether to end at once.

    Returns:
        what came of it, so far as it came.
    """
    random = Random(seed)
    trial = Trial()
    planned = _PLANNED_MATCHES * 3 // 2 if is_shared else _PLANNED_MATCHES
    matches = _Matches(game, weights, random, end, length, planned, stop)
    opening, without = game.initial_state(), None
    while len(trial.leads) < _MOST_MATCHES and not trial.is_decided:
        seat = len(trial.leads) % 2  # each opening is played from both
        if not seat:
            opening = _opening(game, random)
            without = matches.play(opening, None) if is_shared else None
        goals = matches.play(opening, seat)
        if goals is None:
            break
        trial.leads.append((1 + goals[seat] - goals[1 - seat]) / 2)
        if without is not None:
            trial.gains.append((1 + goals[seat] - without[seat]) / 2)
    return trial


def _opening(game: Game, random: Random) -> State:
    """Return a state after some random moves, the initial one if these end the game."""
    state = start = game.initial_state()
    for _ in range(random.randrange(_LONGEST_OPENING + 1)):
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        if state.is_terminal or state.stuck_role is not None:
            return start
    return state


@dataclass(slots=True)
class _Matches:
    """Fast matches, which share out the time that is left.

    Attributes:
        game: the game.
        weights: of the estimates.
        random: for seeds of searches.
        end: when all must be over.
        length: joint moves of a match, as far as is known; None for no clock.
        planned: for how many more matches there should be time.
        stop: asked before every move whether to end at once.
    """

    game: Game
    weights: NDArray[np.float32]
    random: Random
    end: float
    length: float | None
    planned: int
    stop: Callable[[], bool]

    def play(self, state: State, seat: int | None) -> tuple[float, float] | None:
        """Play a match, one seat with estimates or none; return what both get, None if it was not ended."""
        pace = None
        if self.length is not None:
            left = self.end - perf_counter()
            pace = min(max(_FASTEST, left / (max(1, self.planned) * self.length)), _SLOWEST)
        sides = [
            TreeSearcher(self.game, seed=self.random.getrandbits(32), memory=_TRIAL_MEMORY) for _ in "12"
        ]
        if seat is not None:
            sides[seat].use_estimates(self.weights, TRUST)
        made = 0
        while made < _LONGEST_MATCH and not state.is_terminal and state.stuck_role is None:
            joint = []
            for role, side in zip(self.game.roles, sides, strict=True):
                legal = state.legal_moves(role)
                if len(legal) > 1:
                    if perf_counter() >= self.end or self.stop():
                        return None
                    side.begin(state)
                    side.advance(*((inf, _LEAVES) if pace is None else (pace, None)))
                    joint.append(side.best(self.game.role_index(role)))
                else:
                    joint.append(legal[0])
            state = state.next(joint)
            made += 1
        self.planned -= 1
        if self.length is not None:
            # Matches can be longer than games of self-play, which are made of quick moves.
            self.length += max(0, made - self.length) / 4
        first, second = (side.value_of_end(state, role) for role, side in enumerate(sides))
        return first, second
