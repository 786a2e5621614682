"""Trials of estimates: fast matches of searches with them against searches without, or with others."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, sqrt
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State

    Weights = NDArray[np.float32]

#: How much minimax over estimates may count: alone, without playouts, or beside the means of them.
ALONE, BESIDE_PLAYOUTS = 1.0, 0.6
#: Leaves for a move of a match without a clock.
LEAVES: Final = 2000
#: Matches of a trial: at least so many to go by, so many before it is decided with time left, and the most.
_FEWEST_MATCHES, _EARLIEST_MATCHES, _MOST_MATCHES = 4, 6, 24
#: For so many matches there should be time; seconds for a move of them. Few slow matches tell more than many
#: fast ones: with few leaves estimates seem better than they are.
_PLANNED_MATCHES: Final = 10
_FASTEST, _SLOWEST = 0.005, 0.1
#: Standard errors above one half: of a score that is good enough; of one that decides at once; and of one
#: that is given up.
_GOOD, _CERTAIN, _HOPELESS = 0.8, 2.0, -1.2
#: The same of goals where these are compared with what they are without estimates, and are too low.
_HARMFUL: Final = -0.5
#: Bytes of the tree of each side.
_MEMORY: Final = 1 << 24
#: Random moves before a match begins, at most.
_LONGEST_OPENING: Final = 4
#: Joint moves after which a match is given up.
_LONGEST_MATCH: Final = 400
#: Standard errors to either side that an interval of 95 % has.
_NINETY_FIVE: Final = 1.96


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of matches of searches with estimates against searches without, or with other ones.

    Attributes:
        leads: for each match, half a point and half of what the role with estimates got more than the others
            in the mean: so 1 for a win against one, and 0.5 for a draw.
        gains: where one role need not lose what the other gains, the same with what it got more than without
            estimates on either side; else nothing.
    """

    leads: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The mean of the leads; one half without any."""
        return sum(self.leads) / len(self.leads) if self.leads else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """Between what the score lies with 95 %, were all matches won or lost (Wilson 1927).

        >>> [round(bound, 2) for bound in Trial([1.0] * 9 + [0.0]).interval]
        [0.6, 0.98]
        """
        return interval(self.score, len(self.leads))

    @property
    def speaks_for_it(self) -> bool:
        """Whether estimates are good: they bring a lead, and one that does not cost more than it takes."""
        enough = len(self.leads) >= _FEWEST_MATCHES
        return enough and _excess(self.leads) >= _GOOD and _excess(self.gains) > _HARMFUL

    @property
    def speaks_against_it(self) -> bool:
        """Whether estimates are bad: they cost a lead, or more than they take."""
        return min(_excess(self.leads), _excess(self.gains)) <= _HOPELESS

    @property
    def is_decided(self) -> bool:
        """Whether more matches would hardly say anything else."""
        if len(self.leads) < _EARLIEST_MATCHES:
            return False
        is_certain = _excess(self.leads) >= _CERTAIN and _excess(self.gains) > _HARMFUL
        return self.speaks_against_it or is_certain


def interval(score: float, matches: int) -> tuple[float, float]:
    """Return between what the mean of points lies with 95 %, by Wilson's score interval; all for no matches.

    Args:
        score: the mean of the points found, each from 0 to 1.
        matches: how many there were.
    """
    if not matches:
        return 0.0, 1.0
    square = _NINETY_FIVE**2 / matches
    centre = (score + square / 2) / (1 + square)
    reach = sqrt(square * (score * (1 - score) + square / 4)) / (1 + square)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _excess(points: Sequence[float]) -> float:
    """Return by how many standard errors the mean of points is above one half, 0 for no points.

    One more match is added, as far from one half as any, so that little is not made of few.
    """
    leads = [point - 0.5 for point in points]
    if not any(leads):
        return 0.0
    squares = [lead * lead for lead in leads]
    return sum(leads) / sqrt(sum(squares) + max(squares))


def try_out(
    game: Game,
    weights: Weights,
    *,
    seed: int,
    rivals: Weights | None = None,
    trust: float = ALONE,
    matches: int | None = None,
    leaves: int = LEAVES,
    end: float = inf,
    length: float | None = None,
    is_shared: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Trial:
    """Let searches with estimates play searches without, or with others, in turn as each role.

    Args:
        game: the game.
        weights: of the estimates.
        seed: of random numbers. The same seed gives the same trial, without a clock.
        rivals: the weights of the others' estimates; None for searches without.
        trust: how much estimates count.
        matches: how many to play; None for as many as decide it.
        leaves: for a move, where ``length`` is not given.
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
    most = _MOST_MATCHES if matches is None else matches
    arena = _Matches(game, weights, rivals, trust, random, end, length, leaves, planned, stop)
    opening, without = game.initial_state(), None
    while len(trial.leads) < most and not (matches is None and trial.is_decided):
        seat = len(trial.leads) % len(game.roles)  # each opening is played from all
        if not seat:
            opening = _opening(game, random)
            without = arena.play(opening, None) if is_shared else None
        goals = arena.play(opening, seat)
        if goals is None:
            break
        others = (sum(goals) - goals[seat]) / (len(goals) - 1)
        trial.leads.append((1 + goals[seat] - others) / 2)
        if without is not None:
            trial.gains.append((1 + goals[seat] - without[seat]) / 2)
    return trial


def judge(
    game: Game,
    weights: Weights,
    *,
    seed: int,
    leaves: int = LEAVES,
    end: float = inf,
    length: float | None = None,
    is_shared: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[float, Trial]:
    """Return how much estimates should count in searches, 0 to 1, and the trial that says so.

    They are tried alone, without playouts, and, of two roles, beside them; what did better is taken. Where
    they are bad alone, nobody asks more: beside playouts they do harm that shows with many leaves only. The
    parameters are those of ``try_out``.
    """
    now = perf_counter()
    share = 0.5 if len(game.roles) == 2 else 1.0

    def tried(trust: float, share: float) -> Trial:
        return try_out(
            game,
            weights,
            seed=seed,
            trust=trust,
            leaves=leaves,
            end=now + share * (end - now),
            length=length,
            is_shared=is_shared,
            stop=stop,
        )

    trials = {ALONE: tried(ALONE, share)}
    if share < 1 and trials[ALONE].score < 1 and not trials[ALONE].speaks_against_it:
        trials[BESIDE_PLAYOUTS] = tried(BESIDE_PLAYOUTS, 1.0)
    trust, best = max(trials.items(), key=lambda each: (each[1].speaks_for_it, each[1].score))
    return trust if best.speaks_for_it else 0.0, best


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
        weights: of the estimates.
        rivals: of the others' estimates; None if they have none.
        trust: how much estimates count.
        end: when all must be over.
        length: joint moves of a match, as far as is known; None for no clock.
        leaves: for a move without a clock.
        planned: for how many more matches there should be time.
        stop: asked before every move whether to end at once.
    """

    game: Game
    weights: Weights
    rivals: Weights | None
    trust: float
    random: Random
    end: float
    length: float | None
    leaves: int
    planned: int
    stop: Callable[[], bool]

    def play(self, state: State, seat: int | None) -> list[float] | None:
        """Play a match, one seat with the estimates, or nobody with any; return what all get.

        None if it was not ended.
        """
        pace = None
        if self.length is not None:
            left = self.end - perf_counter()
            pace = min(max(_FASTEST, left / (max(1, self.planned) * self.length)), _SLOWEST)
        sides = [
            TreeSearcher(self.game, seed=self.random.getrandbits(32), memory=_MEMORY) for _ in self.game.roles
        ]
        if seat is not None:
            for number, side in enumerate(sides):
                weights = self.weights if number == seat else self.rivals
                if weights is not None:
                    side.use_estimates(weights, self.trust)
        made = 0
        while made < _LONGEST_MATCH and not state.is_terminal and state.stuck_role is None:
            joint = []
            for role, side in zip(self.game.roles, sides, strict=True):
                legal = state.legal_moves(role)
                if len(legal) > 1:
                    if perf_counter() >= self.end or self.stop():
                        return None
                    side.begin(state)
                    side.advance(*((inf, self.leaves) if pace is None else (pace, None)))
                    joint.append(side.best(self.game.role_index(role)))
                else:
                    joint.append(legal[0])
            state = state.next(joint)
            made += 1
        self.planned -= 1
        if self.length is not None:
            # Matches can be longer than games of self-play, which are made of quick moves.
            self.length += max(0, made - self.length) / 4
        return [side.value_of_end(state, role) for role, side in enumerate(sides)]
