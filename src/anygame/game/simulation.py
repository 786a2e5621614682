"""Simulations of many random matches, and their distribution to workers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import isnan, isqrt, nan, sqrt
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from anygame.errors import DeviceError
from anygame.game.outcomes import usable_goal
from anygame.language.diagnostics import shown
from anygame.markup import meter, paragraph, table
from anygame.playouts import PlayoutRequest, Tally
from anygame.plotting import axes_or_new

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

    from matplotlib.axes import Axes

    from anygame.game.game import Game
    from anygame.game.machine import Machine, Position
    from anygame.game.outcomes import Stuck
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term

#: Maximum number of goals that a plot shows as labelled bars.
_MOST_BARS: Final = 12
#: Total width of the bars of one goal, as a fraction of the distance between adjacent goals.
_BARS_WIDTH: Final = 0.8
#: Maximum number of bits of an integer whose square root is computed as a float.
_FLOAT_BITS: Final = 1000
#: Number of parts of a simulation per worker. Many small parts keep all workers busy until the end.
_PARTS_A_WORKER: Final = 16

_Shared = TypeVar("_Shared")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Summary statistics of random matches. Counts are exact, and the keys of mappings are roles.

    Attributes:
        playouts: matches that ended. ``goal_counts`` and ``lengths`` count only matches that ended.
        mean_goals: the mean goal; ``nan`` if no match gave the role a goal, or for a mean beyond all floats.
        goal_counts: the number of matches per goal value, in ascending order.
        goal_spread: the standard deviation of the goals; ``nan`` if ``mean_goals`` is ``nan``.
        goal_error: the standard error of the mean: spread / sqrt(number of goals).
        missing_goals: matches that ended without an integer goal; the mean excludes them.
        double_goals: matches that ended with several goals; the mean excludes them.
        lengths: the number of matches per number of joint moves, in ascending order.
        mean_length: the mean of the lengths; ``nan`` if no match ended.
        branching: the mean number of legal moves over all joint moves; ``nan`` without joint moves.
        states: joint moves made, including those of unfinished matches.
        cut: matches that reached the limit of joint moves.
        stuck: matches that could not continue: a role had no legal move in a nonterminal state.
        first_stuck: the first match that could not continue; None if no match was stuck, or if unknown.
        seed: the seed of the random numbers.
        threads: the number of threads used.
        machine: ``network`` or ``reasoner``.
        device: ``cpu``, or a graphics card, such as ``cuda:0``.
        interrupted: whether the run was stopped early.
        abandoned: unfinished matches of an interrupted run, which tend to be long.
        seconds: playing time.
        setup_seconds: compile time, if the game was compiled.
    """

    playouts: int
    mean_goals: Mapping[str, float]
    goal_counts: Mapping[str, dict[int, int]]
    goal_spread: Mapping[str, float]
    goal_error: Mapping[str, float]
    missing_goals: Mapping[str, int]
    double_goals: Mapping[str, int]
    lengths: dict[int, int]
    mean_length: float
    branching: Mapping[str, float]
    states: int
    cut: int
    stuck: int
    first_stuck: Stuck | None
    seed: int
    threads: int
    machine: str
    device: str
    interrupted: bool
    abandoned: int
    seconds: float
    setup_seconds: float

    @property
    def playouts_per_second(self) -> float:
        """Matches per second, without compile time."""
        return self.playouts / self.seconds if self.seconds else 0.0

    @property
    def states_per_second(self) -> float:
        """Joint moves per second, without compile time."""
        return self.states / self.seconds if self.seconds else 0.0

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the share of matches per goal, for each role.

        Args:
            ax: the axes to draw on; new axes by default.

        Raises:
            MissingExtraError: the extra ``plot`` is not installed.
        """
        ax = axes_or_new(ax)
        goals = sorted({goal for counts in self.goal_counts.values() for goal in counts})
        width = _BARS_WIDTH / max(1, len(self.goal_counts))
        for number, (role, counts) in enumerate(self.goal_counts.items()):
            shares = [100 * counts.get(goal, 0) / self.playouts for goal in goals]
            label = f"{role}: {_short(self.mean_goals[role])} on average"
            if len(goals) <= _MOST_BARS:
                left = number * width - (_BARS_WIDTH - width) / 2
                ax.bar([place + left for place in range(len(goals))], shares, width, label=label)
            else:
                ax.plot(range(len(goals)), shares, drawstyle="steps-mid", label=label)
        shown_goals = range(0, len(goals), max(1, len(goals) // _MOST_BARS))
        ax.set_xticks(list(shown_goals), [shown(str(goals[place]), 12) for place in shown_goals])
        ax.set_xlabel("goal")
        ax.set_ylabel(f"% of {self.playouts:,} random matches")
        if goals:
            ax.legend()
        return ax

    def _repr_html_(self) -> str:
        rows = [
            (role, meter(mean, _short(mean)), _short(self.goal_error[role]), dict(self.goal_counts[role]))
            for role, mean in self.mean_goals.items()
        ]
        summary = f"{self.playouts:,} random matches, {_short(self.mean_length)} joint moves on average"
        return table(("role", "mean goal", "standard error", "matches by goal"), rows) + paragraph(summary)


_DEVICES: Final = re.compile(r"cpu|cuda(?::(\d{1,3}))?")


def card_of(device: str) -> int | None:
    """Return the number of a graphics card, or None for the processor; raises DeviceError."""
    match = _DEVICES.fullmatch(device)
    if not match:
        raise DeviceError(f"the device should be cpu, cuda or cuda:NUMBER, not {shown(device, 40)}")
    return None if device == "cpu" else int(match[1] or 0)


def statistics(game: Game, machine: str, request: PlayoutRequest, tally: Tally[Stuck]) -> SimulationResult:
    """Return the summary statistics of random matches; ``machine`` is the name of the machine."""

    def by_role(values: Iterable[_Item]) -> dict[str, _Item]:
        return dict(zip(game.roles, values, strict=True))

    counts = [{value: count for value, count in sorted(goals.items()) if count} for goals in tally.goals]
    means, spreads, errors = zip(*map(_moments, counts), strict=True)
    lengths = dict(sorted(tally.lengths.items()))
    return SimulationResult(
        playouts=tally.playouts,
        mean_goals=by_role(means),
        goal_counts=by_role(counts),
        goal_spread=by_role(spreads),
        goal_error=by_role(errors),
        missing_goals=by_role(tally.missing),
        double_goals=by_role(tally.double),
        lengths=lengths,
        mean_length=_moments(lengths)[0],
        branching=by_role(options / tally.states if tally.states else nan for options in tally.options),
        states=tally.states,
        cut=tally.cut,
        stuck=tally.stuck,
        first_stuck=tally.first_stuck,
        seed=request.seed,
        threads=tally.threads,
        machine=machine,
        device="cpu" if request.card is None else f"cuda:{request.card}",
        interrupted=tally.interrupted,
        abandoned=tally.abandoned,
        seconds=tally.seconds,
        setup_seconds=game.setup_seconds,
    )


def _moments(counts: dict[int, int]) -> tuple[float, float, float]:
    """Return mean, standard deviation and standard error of numbers, given how often each number occurs.

    Sums are exact. All results are ``nan`` without numbers, or if a result exceeds the range of floats.
    """
    number = sum(counts.values())
    if not number:
        return nan, nan, nan
    total = sum(value * count for value, count in counts.items())
    squares = sum(value * value * count for value, count in counts.items())
    try:
        mean = total / number
        spread = _root(max(0, squares * number - total * total)) / number
    except OverflowError:
        return nan, nan, nan
    return mean, spread, spread / sqrt(number)


def _root(square: int) -> float | int:
    return sqrt(square) if square.bit_length() <= _FLOAT_BITS else isqrt(square)


def _short(number: float) -> str:
    return "-" if isnan(number) else f"{number:.4g}"


def simulate_on_cluster(
    game: Game, state: State | None, machine: Machine, request: PlayoutRequest, workers: Workers
) -> Tally[Stuck]:
    """Distribute random matches to workers, and return the tally, which is the same as without workers.

    After Ctrl-C, the tally counts only the matches of finished parts.
    """
    began = perf_counter()
    blocks = machine.blocks(request.playouts)
    count = min(blocks, _PARTS_A_WORKER * workers.count)
    parts = [(blocks * part // count, blocks * (part + 1) // count) for part in range(count)]
    task = _Task(game, state, machine.name, replace(request, threads=1, strict=False, progress=None))
    tallies: dict[int, Tally[Stuck]] = {}
    played, interrupted = 0, False
    try:
        for number, tally in workers.map(_Task.play, task, parts, _Task.compile):
            tallies[number] = tally
            played += tally.playouts + tally.cut + tally.stuck
            if request.progress:
                request.progress(played)
    except KeyboardInterrupt:
        interrupted = True
    total: Tally[Stuck] = Tally.empty(len(machine.roles))
    for _, tally in sorted(tallies.items()):
        total.add(tally)
    if request.strict and total.first_stuck is not None:
        raise total.first_stuck.error()
    total.interrupted, total.threads = interrupted, workers.count
    total.seconds = perf_counter() - began
    return total


@dataclass(frozen=True, slots=True)
class _Task:
    game: Game
    state: State | None
    machine: str
    request: PlayoutRequest

    def compile(self) -> None:
        """Compile the game, so that other workers find the code in the cache of this computer."""
        self._run(PlayoutRequest(1, limit=1))

    def play(self, blocks: tuple[int, int]) -> Tally[Stuck]:
        return self._run(replace(self.request, blocks=range(*blocks)))

    def _run(self, request: PlayoutRequest) -> Tally[Stuck]:
        backends = self.game.backends
        machine: Machine = backends.reasoner if self.machine == "reasoner" else backends.needed_network()
        start = machine.initial() if self.state is None else self.state.position_in(machine)
        return machine.simulate(start, request)


class Workers(Protocol):
    """Processes that call functions, on this or other machines; see ``anygame.cluster``."""

    @property
    def count(self) -> int:
        """The number of simultaneous calls."""

    def map(
        self,
        call: Callable[[_Shared, _Item], _Result],
        shared: _Shared,
        items: Sequence[_Item],
        prepare: Callable[[_Shared], object] | None = None,
    ) -> Iterator[tuple[int, _Result]]:
        """Call a function for each item; see ``anygame.cluster.Cluster.map``."""


@dataclass(frozen=True, slots=True)
class Playout:
    """One random match.

    Attributes:
        moves: the joint moves, each in the order of the roles.
        goals: the goal of each role in the last state; None if the rules give no goal, or several goals.
        is_complete: whether the match reached a terminal state within the limit.
        stuck: the state in which a role without a legal move ended the match; None otherwise.
    """

    moves: tuple[tuple[Term, ...], ...]
    goals: Mapping[str, int | None]
    is_complete: bool
    stuck: Stuck | None = None

    @property
    def length(self) -> int:
        """The number of joint moves."""
        return len(self.moves)


def play_outs(
    machine: Machine,
    roles: Sequence[Role],
    start: Position,
    count: int,
    random: Random,
    *,
    limit: int,
    strict: bool,
) -> Iterator[Playout]:
    """Yield random matches from a position of a machine; see ``Game.playouts``."""
    for _ in range(count):
        outcome = machine.play_out(start, random, limit)
        if strict and outcome.stuck:
            raise outcome.stuck.error()
        goals = dict[str, int | None](zip(roles, map(usable_goal, outcome.goals), strict=True))
        yield Playout(outcome.moves, goals, outcome.is_complete, outcome.stuck)
