"""Standings of a tournament: goals and ratings of the players, and their plot.

The library openskill computes ratings with the Plackett-Luce model from contests. A contest is a match, and
ranks its players by their goals. In a game with one role, all matches of a round form one contest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from statistics import stdev
from sys import float_info
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import needing
from anygame.markup import meter, table
from anygame.plotting import axes_or_new, image

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from anygame.tournament.store import Result


#: Heading of ratings in tables.
RATING: Final = "rating (mu - 3 sigma)"
#: Quantiles of Student's t for 95 % intervals, by degrees of freedom from 1 to 30.
_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
#: Quantile of the normal distribution, for more than 30 degrees of freedom.
_NORMAL: Final = 1.96
#: Upper bound of the margin, as goals lie between 0 and 100.
_WIDEST: Final = 100.0
#: Minimum number of match results for which a confidence interval is shown.
_FEWEST: Final = 4
#: Above this bound, goals have no interval, and their mean has three digits. Rules can define huge goals.
_LARGE: Final = 1e9


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of ``count`` goals, with a confidence interval.

    ``margin`` is half the width of the 95 % interval by Student's t; infinite for one goal.
    """

    mean: float
    margin: float
    count: int

    @classmethod
    def of(cls, goals: Sequence[float]) -> Estimate | None:
        """Estimate the mean from goals; return None without goals.

        >>> print(Estimate.of([100, 50, 100, 0]))
        62.5 ± 76.2
        >>> print(Estimate.of([100, 0]))
        50.0 (too few)
        """
        count = len(goals)
        if not count:
            return None
        if count == 1:
            margin = inf
        elif max(map(abs, goals)) > _LARGE:
            margin = _WIDEST if len(set(goals)) > 1 else 0.0
        else:
            factor = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else _NORMAL
            margin = min(factor * stdev(goals) / sqrt(count), _WIDEST)
        return cls(_mean(goals), margin, count)

    def __str__(self) -> str:
        mean = f"{self.mean:.1f}" if abs(self.mean) < _LARGE else f"{self.mean:.3g}"
        return f"{mean} (too few)" if self.is_unsure else f"{mean} ± {self.margin:.1f}"

    @property
    def is_unsure(self) -> bool:
        """Whether there are too few goals for a meaningful interval."""
        return self.count < _FEWEST


def describe_estimate(estimate: Estimate | None) -> dict[str, float | None]:
    """Return an estimate as plain data; unknown values are None."""
    if estimate is None:
        return {"games": 0, "mean": None, "margin": None}
    margin = estimate.margin if isfinite(estimate.margin) else None
    return {"games": estimate.count, "mean": estimate.mean, "margin": margin}


def _mean(goals: Sequence[float]) -> float:
    """Return the mean of goals, clipped to the range of floats.

    >>> _mean([100, 50]), _mean([10**309]) == _mean([10**310])
    (75.0, True)
    """
    total = sum(goals)
    try:
        return total / len(goals)
    except OverflowError:
        return float_info.max if total > 0 else -float_info.max


@dataclass(frozen=True, slots=True)
class Standing:
    """Standing of a player.

    Attributes:
        name: name of the player.
        mu: mean of the rating; None without ratings.
        sigma: standard deviation of the rating; None without ratings.
        estimate: mean of the goals; None before the first match.
        errors: number of replaced replies.
        by_sheet: mean of the goals in each game.
    """

    name: str
    mu: float | None
    sigma: float | None
    estimate: Estimate | None
    errors: int
    by_sheet: dict[str, float]

    @property
    def games(self) -> int:
        """The number of completed matches."""
        return self.estimate.count if self.estimate else 0

    @property
    def rating(self) -> float | None:
        """The conservative rating: mu - 3 sigma."""
        return None if self.mu is None or self.sigma is None else self.mu - 3 * self.sigma


class Standings(tuple[Standing, ...]):
    """Standings of all players, best first. Notebooks show the standings as a table."""

    __slots__ = ()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw ratings with error bars of 3 sigma, or mean goals if there are no ratings; return the axes.

        Args:
            ax: axes to draw in; new axes by default.

        Raises:
            MissingExtraError: the extra ``plot`` is not installed.
        """
        ax = axes_or_new(ax)
        draw = _plot_ratings if any(each.mu is not None for each in self) else _plot_goals
        draw(self, ax)
        return ax

    def _repr_html_(self) -> str:
        rows = [
            (
                each.name,
                "" if each.rating is None else f"{each.rating:.1f}",
                "" if each.estimate is None else meter(each.estimate.mean, str(each.estimate)),
                each.games,
                each.errors or "",
            )
            for each in self
        ]
        return table(("player", RATING, "mean goal", "games", "replaced"), rows)


def standings(players: Sequence[str], results: Sequence[Result], *, rated: bool = True) -> Standings:
    """Return the standings of all players, best first.

    Args:
        players: names of the players.
        results: results of the matches.
        rated: whether to compute ratings; if not, players are ordered by their mean goal.

    Raises:
        MissingExtraError: ``rated`` is true, and the extra ``tournament`` is not installed.
    """
    ratings = _ratings(players, results) if rated else {}
    goals: dict[str, dict[str, list[int]]] = {name: defaultdict(list) for name in players}
    errors = dict.fromkeys(players, 0)
    for result in results:
        for index, name in enumerate(result.players):
            if name not in goals:
                continue
            errors[name] += result.errors[index]
            if result.goals is not None:
                goals[name][result.sheet].append(result.goals[index])
    rows = []
    for name in players:
        mu, sigma = ratings.get(name, (None, None))
        reached = [goal for each in goals[name].values() for goal in each]
        by_sheet = {sheet: _mean(each) for sheet, each in sorted(goals[name].items())}
        rows.append(Standing(name, mu, sigma, Estimate.of(reached), errors[name], by_sheet))

    def order(row: Standing) -> tuple[float, float, str]:
        mean = row.estimate.mean if row.estimate else -1.0
        return -(row.rating or 0.0), -mean, row.name

    return Standings(sorted(rows, key=order))


def _ratings(players: Sequence[str], results: Sequence[Result]) -> dict[str, tuple[float, float]]:
    with needing("tournament", "ratings need openskill"):
        from openskill.models import PlackettLuce
    model = PlackettLuce()
    ratings: dict[str, Any] = {name: model.rating(name=name) for name in players}
    for contest in _contests(results):
        names = [name for name, _ in contest]
        if len(names) < 2 or not ratings.keys() >= set(names):
            continue
        # Goals can exceed the range of floats, but ranks cannot, and only the order counts.
        order = sorted({goal for _, goal in contest})
        scores = [float(order.index(goal)) for _, goal in contest]
        rated = model.rate([[ratings[name]] for name in names], scores=scores)
        ratings |= {name: team[0] for name, team in zip(names, rated, strict=True)}
    return {name: (rating.mu, rating.sigma) for name, rating in ratings.items()}


def _contests(results: Sequence[Result]) -> Iterator[list[tuple[str, int]]]:
    """Yield the players and goals of each contest."""
    alone: dict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
    for result in results:
        if result.goals is None:
            continue
        contest = list(zip(result.players, result.goals, strict=True))
        if len(contest) == 1:
            alone[result.round, result.sheet] += contest
        else:
            yield contest
    yield from alone.values()


#: Highest goal that GDL allows, and upper end of the axis of goals in plots.
_HIGHEST: Final = 100.0


def plot_standings(standings: Sequence[Standing], path: str | os.PathLike[str]) -> None:
    """Write an image of the ratings and mean goals, with error bars; see `anygame.plotting.image`."""
    with image(path, 2, (9, 1.5 + 0.4 * len(standings)), same_rows=True) as (left, right):
        _plot_ratings(standings, left)
        _plot_goals(standings, right)


def _plot_ratings(standings: Sequence[Standing], ax: Axes) -> None:
    _name_players(standings, ax)
    rated = [(index, each) for index, each in enumerate(standings) if each.mu is not None]
    ax.errorbar(
        [each.mu or 0.0 for _, each in rated],
        [index for index, _ in rated],
        xerr=[3 * (each.sigma or 0.0) for _, each in rated],
        fmt="o",
        capsize=3,
    )
    ax.set_xlabel("rating: mu, with the interval from mu - 3 sigma to mu + 3 sigma")


def _plot_goals(standings: Sequence[Standing], ax: Axes) -> None:
    _name_players(standings, ax)
    estimates = [standing.estimate for standing in standings]
    ax.barh(
        range(len(standings)),
        [min(max(each.mean, 0.0), _HIGHEST) if each else 0.0 for each in estimates],
        xerr=[min(each.margin, _HIGHEST) if each else 0.0 for each in estimates],
        color="lightsteelblue",
        capsize=3,
    )
    ax.set_xlim(0, _HIGHEST)
    ax.set_xlabel("mean goal, with 95 % confidence interval")


def _name_players(standings: Sequence[Standing], ax: Axes) -> None:
    ax.set_yticks(range(len(standings)), [standing.name for standing in standings])
    ax.set_ylim(len(standings) - 0.5, -0.5)
