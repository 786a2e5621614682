"""Practice as Python sees it: self-play for a while, then a trial of what was learned, by fast matches."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.analysis import PracticeReport
from anygame.search.tree.learner import Learner
from anygame.search.tree.trial import Trial, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.search.tree.searcher import TreeSearcher

#: Of the time, the part for self-play; the rest is for the trial.
_SHARE_OF_SELF_PLAY: Final = 0.6
#: Games from which nothing can be learned yet.
FEWEST_GAMES: Final = 200
#: Roles of a game that is learned, at most.
MOST_ROLES: Final = 16


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
        what came of it; None if the game is not one to learn from.
    """
    if obstacle_to_learning(searcher) is not None:
        return None
    begin = perf_counter()
    end = begin + (inf if seconds is None else seconds)
    learned = Learner(searcher, seed)
    deadline = begin + _SHARE_OF_SELF_PLAY * (end - begin)
    if not learned.play(inf if games is None else games, deadline=deadline, stop=stop):
        return None
    seconds_of_play = perf_counter() - begin
    trust, trial = 0.0, Trial()
    if learned.games >= FEWEST_GAMES and not stop():
        length = None if seconds is None else learned.positions / learned.games
        trust, trial = judge(
            searcher.game,
            learned.weights,
            seed=seed,
            end=end,
            length=length,
            is_shared=learned.is_shared,
            stop=stop,
        )
    if trust:
        searcher.use_estimates(learned.weights, trust)
    return PracticeReport(
        games=learned.games,
        positions=learned.positions,
        seconds=seconds_of_play,
        trial_matches=len(trial.leads),
        trial_score=sum(trial.leads),
        is_used=trust > 0,
    )


def obstacle_to_learning(searcher: TreeSearcher) -> str | None:
    """Return why a game is not practised, as a sentence; None for one of several roles without chance."""
    random = searcher.code.random
    if random.any():
        return "it has chance"
    if not 2 <= len(random) <= MOST_ROLES:
        return "it has one role" if len(random) == 1 else f"it has {len(random)} roles"
    return None
