"""Practice: a short training on the start clock of a match, and a trial of the learned estimates."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.search.analysis import PracticeReport
from anygame.search.learning.learner import Learner
from anygame.search.learning.trial import LEAVES, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.search.tree.searcher import TreeSearcher

#: Share of the practice time for self-play. The trial takes the remaining time.
_SHARE_OF_SELF_PLAY: Final = 0.6
#: Factor for the probabilities that a trial accepts estimates that do not raise the score. Practice has time
#: for about 20 matches. In simulated trials of 20 matches, the factor raises the acceptance rate of estimates
#: that score 75 % from 38 % to 65 %. For estimates that do not raise the score, the acceptance rate is 6 %.
RISK: Final = 4.0
#: Practice trains estimates only for games with at most this many roles.
MOST_ROLES: Final = 16


def learn_estimates(
    searcher: TreeSearcher,
    *,
    seed: int,
    seconds: float | None = None,
    games: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> PracticeReport | None:
    """Have a searcher learn estimates from self-play, and use the estimates if they win a trial.

    Using the estimates discards the tree of the searcher. The same seed and number of games give the same
    weights. Learning stops if ``stop``, which is called after every move, returns True.

    Returns:
        the report, or None if the game is not suited to learning.
    """
    if obstacle_to_learning(searcher) is not None:
        return None
    begin = perf_counter()
    end = begin + (inf if seconds is None else seconds)
    learner = Learner(searcher, seed)
    deadline = begin + _SHARE_OF_SELF_PLAY * (end - begin)
    if not learner.play(inf if games is None else games, deadline=deadline, stop=stop):
        return None
    seconds_of_play, progress = perf_counter() - begin, learner.progress
    leaves = LEAVES if seconds is None else None
    trust, trial = judge(
        searcher.game, learner.weights, progress, seed=seed, leaves=leaves, risk=RISK, end=end, stop=stop
    )
    if trust:
        searcher.use_estimates(learner.weights, trust)
    return PracticeReport(
        games=progress.games,
        positions=progress.positions,
        seconds=seconds_of_play,
        trial_matches=len(trial.leads),
        trial_score=sum(trial.leads),
        is_used=trust > 0,
    )


def obstacle_to_learning(searcher: TreeSearcher) -> str | None:
    """Return the reason why a game cannot be learned, as a clause; None if it can be learned."""
    random = searcher.code.random
    if random.any():
        return "the game has chance moves"
    if not 2 <= len(random) <= MOST_ROLES:
        return "the game has one role" if len(random) == 1 else f"the game has {len(random)} roles"
    return None
