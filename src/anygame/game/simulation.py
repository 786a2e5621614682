"""Random matches by the million, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt
from typing import TYPE_CHECKING, Final

from anygame.game.showing import html_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.game.machine import Machine, Position
    from anygame.game.outcomes import Stuck
    from anygame.game.roles import Role
    from anygame.game.sharing import Share
    from anygame.playouts.request import PlayoutRequest
    from anygame.playouts.tally import Tally

#: Integers of so many bits have a square root that can be taken of a float.
_FLOAT_BITS: Final = 1000


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What random matches have in common. Counts are exact; what a role has stands under its name.

    Attributes:
        playouts: how many matches came to an end; goals and lengths are about these alone.
        mean_goals: the mean of the goal values; None where no match gave the role one, or where it is beyond
            the range of floating-point numbers.
        goal_counts: how many matches ended with which value, in ascending order.
        goal_spread: the standard deviation of the goal values; None as for the mean.
        goal_error: the standard error of the mean: the spread by the square root of the number of values.
        missing_goals: how many matches ended without a usable goal value; they are in no mean.
        double_goals: how many ended with several values; they are in no mean.
        lengths: how many matches took so many joint moves, in ascending order.
        mean_length: the mean of the lengths; None where no match came to an end.
        branching: the mean number of legal moves, over all joint moves made; None where none was.
        states: joint moves made, those of matches that were given up too.
        cut: how many matches were given up for their length.
        stuck: how many could not go on, since a role had no legal move in a state that is not terminal.
        first_stuck: the first of these, with its role, facts and line of play; None where there was none, or
            it is not known.
        seed: of the random numbers.
        threads: how many were used.
        machine: what played, ``network`` or ``reasoner``.
        interrupted: whether it was ended early.
        seconds: how long playing took.
        setup_seconds: how long compiling the game took, when it was compiled.
    """

    playouts: int
    mean_goals: Mapping[str, float | None]
    goal_counts: Mapping[str, dict[int, int]]
    goal_spread: Mapping[str, float | None]
    goal_error: Mapping[str, float | None]
    missing_goals: Mapping[str, int]
    double_goals: Mapping[str, int]
    lengths: dict[int, int]
    mean_length: float | None
    branching: Mapping[str, float | None]
    states: int
    cut: int
    stuck: int
    first_stuck: Stuck | None
    seed: int
    threads: int
    machine: str
    interrupted: bool
    seconds: float
    setup_seconds: float

    @property
    def playouts_per_second(self) -> float:
        """Matches a second, set-up aside."""
        return self.playouts / self.seconds if self.seconds else 0.0

    @property
    def states_per_second(self) -> float:
        """Joint moves a second, set-up aside."""
        return self.states / self.seconds if self.seconds else 0.0

    def _repr_html_(self) -> str:
        rows = [
            (role, _short(mean), _short(self.goal_error[role]), dict(self.goal_counts[role]))
            for role, mean in self.mean_goals.items()
        ]
        summary = f"{self.playouts:,} random matches, {_short(self.mean_length)} joint moves on average"
        table = html_table(("role", "mean goal", "standard error", "matches by goal"), rows)
        return f"{table}<p>{summary}</p>"


def simulate(
    machine: Machine,
    roles: Sequence[Role],
    start: Position,
    request: PlayoutRequest,
    setup_seconds: float,
    share: Share | None = None,
) -> SimulationResult:
    """Play random matches from a position of a machine; see ``Game.simulate``."""
    if share is None:
        tally = machine.simulate(start, request)
    else:
        tally = share.tally(machine, request)
        if request.strict and tally.first_stuck is not None:
            raise tally.first_stuck.error()
    counts = [{value: count for value, count in sorted(goals.items()) if count} for goals in tally.goals]
    moments = [_moments(goals) for goals in counts]
    lengths = dict(sorted(tally.lengths.items()))
    return SimulationResult(
        playouts=tally.playouts,
        mean_goals={role: mean for role, (mean, _, _) in zip(roles, moments, strict=True)},
        goal_counts=dict(zip(roles, counts, strict=True)),
        goal_spread={role: spread for role, (_, spread, _) in zip(roles, moments, strict=True)},
        goal_error={role: error for role, (_, _, error) in zip(roles, moments, strict=True)},
        missing_goals=dict(zip(roles, tally.missing, strict=True)),
        double_goals=dict(zip(roles, tally.double, strict=True)),
        lengths=lengths,
        mean_length=_moments(lengths)[0],
        branching=_branching(roles, tally),
        states=tally.states,
        cut=tally.cut,
        stuck=tally.stuck,
        first_stuck=tally.first_stuck,
        seed=request.seed,
        threads=tally.threads,
        machine=machine.name,
        interrupted=tally.interrupted,
        seconds=tally.seconds,
        setup_seconds=setup_seconds,
    )


def _branching(roles: Sequence[Role], tally: Tally[Stuck]) -> dict[str, float | None]:
    made = tally.states
    return {role: count / made if made else None for role, count in zip(roles, tally.options, strict=True)}


def _moments(counts: dict[int, int]) -> tuple[float | None, float | None, float | None]:
    """Return mean, standard deviation and standard error of the mean of counted numbers, in exact sums.

    None for each that there is not, or that is beyond the range of floats.
    """
    number = sum(counts.values())
    if not number:
        return None, None, None
    total = sum(value * count for value, count in counts.items())
    squares = sum(value * value * count for value, count in counts.items())
    try:
        mean = total / number
        spread = _root(max(0, squares * number - total * total)) / number
    except OverflowError:
        return None, None, None
    return mean, spread, spread / sqrt(number)


def _root(square: int) -> float | int:
    return sqrt(square) if square.bit_length() <= _FLOAT_BITS else isqrt(square)


def _short(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
