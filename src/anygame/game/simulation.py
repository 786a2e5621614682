"""Random matches by the million, and what they have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from random import Random, SystemRandom
from time import perf_counter
from typing import TYPE_CHECKING, Final
from warnings import warn

from anygame.game.machine import FallbackWarning
from anygame.game.playouts import goal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anygame.game.game import Game
    from anygame.game.machine import Outcome, Position
    from anygame.game.machines.network import NetworkMachine
    from anygame.game.state import State

__all__ = ["SimulationResult", "Tally", "simulate"]

_BETWEEN_REPORTS: Final = 0.1
#: The same bounds for both machines, so that what one refuses the other does too.
_BOUNDS: Final = {"playouts": (0, 1 << 60), "threads": (1, 4096), "limit": (0, 10_000_000)}


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted; lists are in the order of the roles.

    Attributes:
        playouts: how many came to an end.
        states: joint moves made, in all playouts.
        goals: how many ended with which value as the only one.
        missing: how many ended without a usable goal value: none, or none that is an integer.
        double: how many ended with several.
        lengths: how many ended after so many joint moves.
        options: numbers of legal moves, added up over the joint moves made.
        cut: how many were given up for their length.
        interrupted: whether it was ended early.
        seconds: how long it took.
    """

    playouts: int
    states: int
    goals: list[dict[int, int]]
    missing: list[int]
    double: list[int]
    lengths: dict[int, int]
    options: list[int]
    cut: int
    interrupted: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What random matches have in common. Counts are exact; what a role has stands under its name.

    Attributes:
        playouts: how many matches came to an end; all but the last three attributes are about these.
        mean_goals: the mean of the goal values; None where no match gave the role one.
        goal_counts: how many matches ended with which value, in ascending order.
        goal_spread: the standard deviation of the goal values; None where there is no mean.
        goal_error: the standard error of the mean: the spread by the square root of the number of values.
        missing_goals: how many matches ended without a usable goal value; they are in no mean.
        double_goals: how many ended with several values; they are in no mean.
        lengths: how many matches took so many joint moves, in ascending order.
        mean_length: the mean of the lengths; None where no match came to an end.
        branching: the mean number of legal moves, over all joint moves made; None where none was.
        states: joint moves made, those of matches that were given up too.
        cut: how many matches were given up for their length.
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


def simulate(
    game: Game,
    playouts: int,
    seed: int | None,
    threads: int,
    state: State | None,
    limit: int,
    progress: Callable[[int], None] | None,
) -> SimulationResult:
    """Play random matches; see ``Game.simulate``."""
    for name, value in (("playouts", playouts), ("threads", threads), ("limit", limit)):
        least, most = _BOUNDS[name]
        if not least <= value <= most:
            raise ValueError(f"{name} should be a number from {least} to {most}, not {value}")
    chosen = SystemRandom().getrandbits(32) if seed is None else seed
    network = game.network_to_play()
    if network is not None:
        start = network.initial() if state is None else state.position_in(network)
        if network.is_known(start):
            tally = network.simulate(playouts, chosen, threads, start, limit, progress)
            return _result(game, tally, chosen, threads, "network")
        _notice_unknown(game, network, start)
    tally = _play(game, playouts, chosen, state, limit, progress)
    return _result(game, tally, chosen, 1, "reasoner")


def _notice_unknown(game: Game, network: NetworkMachine, start: Position) -> None:
    unknown = min(str(fact) for fact in network.facts(start) if not network.knows([fact]))
    message = f"the reasoner plays: the network does not know {unknown}, to which no play leads"
    warn(f"{game.name}: {message}", FallbackWarning, stacklevel=4)


def _play(
    game: Game,
    playouts: int,
    seed: int,
    state: State | None,
    limit: int,
    progress: Callable[[int], None] | None,
) -> Tally:
    """Play one match after the other, by the reasoner."""
    machine = game.reasoner
    start = machine.initial() if state is None else state.position_in(machine)
    random = Random(seed)
    counts = _Counts(len(game.roles))
    begin = told = perf_counter()
    interrupted = False
    try:
        for number in range(playouts):
            counts.add(machine.play_out(start, random, limit))
            if progress and perf_counter() - told > _BETWEEN_REPORTS:
                told = perf_counter()
                progress(number + 1)
    except KeyboardInterrupt:
        interrupted = True
    return counts.tally(interrupted, perf_counter() - begin)


class _Counts:
    """What has been counted so far."""

    def __init__(self, roles: int) -> None:
        self._goals: list[Counter[int]] = [Counter() for _ in range(roles)]
        self._missing, self._double, self._options = [0] * roles, [0] * roles, [0] * roles
        self._lengths: Counter[int] = Counter()
        self._cut = self._states = 0

    def add(self, outcome: Outcome) -> None:
        """Count a match."""
        length = len(outcome.moves)
        self._states += length
        for place, count in enumerate(outcome.options):
            self._options[place] += count
        if not outcome.is_complete:
            self._cut += 1
            return
        self._lengths[length] += 1
        for place, values in enumerate(outcome.goals):
            goal = goal_of(values)
            if goal is not None:
                self._goals[place][goal] += 1
            elif len(values) > 1:
                self._double[place] += 1
            else:
                self._missing[place] += 1

    def tally(self, interrupted: bool, seconds: float) -> Tally:
        """Return the counts."""
        return Tally(
            self._lengths.total(),
            self._states,
            [dict(goals) for goals in self._goals],
            self._missing,
            self._double,
            dict(self._lengths),
            self._options,
            self._cut,
            interrupted,
            seconds,
        )


def _result(game: Game, tally: Tally, seed: int, threads: int, machine: str) -> SimulationResult:
    roles = game.roles
    counts = [{value: count for value, count in sorted(goals.items()) if count} for goals in tally.goals]
    spreads = [_moments(goals) for goals in counts]
    lengths = dict(sorted(tally.lengths.items()))
    return SimulationResult(
        playouts=tally.playouts,
        mean_goals={role: mean for role, (mean, _, _) in zip(roles, spreads, strict=True)},
        goal_counts=dict(zip(roles, counts, strict=True)),
        goal_spread={role: spread for role, (_, spread, _) in zip(roles, spreads, strict=True)},
        goal_error={role: error for role, (_, _, error) in zip(roles, spreads, strict=True)},
        missing_goals=dict(zip(roles, tally.missing, strict=True)),
        double_goals=dict(zip(roles, tally.double, strict=True)),
        lengths=lengths,
        mean_length=_moments(lengths)[0],
        branching={
            role: count / tally.states if tally.states else None
            for role, count in zip(roles, tally.options, strict=True)
        },
        states=tally.states,
        cut=tally.cut,
        seed=seed,
        threads=threads,
        machine=machine,
        interrupted=tally.interrupted,
        seconds=tally.seconds,
        setup_seconds=game.setup_seconds,
    )


def _moments(counts: dict[int, int]) -> tuple[float | None, float | None, float | None]:
    """Return mean, standard deviation and standard error of the mean of counted numbers, in exact sums."""
    number = sum(counts.values())
    if not number:
        return None, None, None
    total = sum(value * count for value, count in counts.items())
    squares = sum(value * value * count for value, count in counts.items())
    spread = sqrt(max(0, squares * number - total * total)) / number
    return total / number, spread, spread / sqrt(number)
