"""Series: several matches between the same players, and what they are worth on average."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, sqrt
from statistics import stdev
from sys import float_info
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game.game import Game

#: Student's t for 95 %, by degrees of freedom from 1; beyond, the normal distribution is near enough.
_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL: Final = 1.96
#: Goals lie between 0 and 100, so that a wider margin says nothing more.
_WIDEST: Final = 100.0
#: Rules may give other goals all the same. Beyond this the digits of a mean are no help, nor is its margin.
_LARGE: Final = 1e9
_Seat = TypeVar("_Seat")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of goals, and how sure it is.

    Attributes:
        mean: of the goals.
        margin: half the width of the 95 % confidence interval, by Student's t; infinite for one goal.
        count: how many goals.
    """

    mean: float
    margin: float
    count: int

    @classmethod
    def of(cls, goals: Sequence[float]) -> Estimate | None:
        """Return the estimate from some goals, None from none.

        >>> print(Estimate.of([100, 50, 100, 0]))
        62.5 ± 76.2
        >>> print(Estimate.of([100]))
        100.0
        """
        count = len(goals)
        if not count:
            return None
        if count == 1:
            return cls(mean_of(goals), inf, 1)
        factor = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else _NORMAL
        if max(map(abs, goals)) > _LARGE:
            return cls(mean_of(goals), _WIDEST if len(set(goals)) > 1 else 0.0, count)
        return cls(mean_of(goals), min(factor * stdev(goals) / sqrt(count), _WIDEST), count)

    def __str__(self) -> str:
        mean = f"{self.mean:.1f}" if abs(self.mean) < _LARGE else f"{self.mean:.3g}"
        return mean if self.margin == inf else f"{mean} ± {self.margin:.1f}"


def describe_estimate(estimate: Estimate | None) -> dict[str, float | None]:
    """Return an estimate as plain data; what is not known is None."""
    if estimate is None:
        return {"games": 0, "mean": None, "margin": None}
    margin = estimate.margin if isfinite(estimate.margin) else None
    return {"games": estimate.count, "mean": estimate.mean, "margin": margin}


def mean_of(goals: Sequence[float]) -> float:
    """Return the mean of some goals; of goals beyond all floats, the largest float or its opposite.

    >>> mean_of([100, 50]), mean_of([10**309]) == mean_of([10**310])
    (75.0, True)
    """
    total = sum(goals)
    try:
        return total / len(goals)
    except OverflowError:
        return float_info.max if total > 0 else -float_info.max


@dataclass(slots=True)
class Tally:
    """The goals that each player reached, match by match.

    Attributes:
        players: their names, in the order in which they were given; names may repeat.
        goals: by the index of a player.
        errors: by the index of a player: how many replies were late, missing or illegal.
    """

    players: tuple[str, ...]
    goals: list[list[int]] = field(init=False)
    errors: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.goals = [[] for _ in self.players]
        self.errors = [0] * len(self.players)

    def add(
        self, game: Game, order: Sequence[int], goals: Sequence[int], errors: Sequence[Sequence[str]]
    ) -> None:
        """Count a match.

        Args:
            game: what was played.
            order: the indexes of the players, in the order of the roles that are not ``random``.
            goals: in the order of all roles.
            errors: as in the record.
        """
        indexes = [index for index, role in enumerate(game.roles) if not role.is_random]
        for player, index in zip(order, indexes, strict=True):
            self.goals[player].append(goals[index])
            self.errors[player] += sum(bool(step[index]) for step in errors)

    def estimates(self) -> list[Estimate | None]:
        """Return what each player reached on average."""
        return [Estimate.of(goals) for goals in self.goals]

    def rows(self) -> Iterator[tuple[str, Estimate | None, int]]:
        """Return the name, the estimate and the number of errors of each player."""
        return zip(self.players, self.estimates(), self.errors, strict=True)


def rotated(items: Sequence[_Seat], turns: int) -> list[_Seat]:
    """Return items moved on by some places: who had the last role gets the first.

    >>> rotated(["a", "b", "c"], 1)
    ['c', 'a', 'b']
    """
    start = -turns % len(items) if items else 0
    return [*items[start:], *items[:start]]
