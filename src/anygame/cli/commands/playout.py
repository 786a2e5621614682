"""The ``playout`` command: many random games and what they show on average."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, command_options, many, option, whole
from anygame.cli.output import complain, print_json, print_lines
from anygame.cli.positions import load_game
from anygame.cli.progress import progress
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game import Game, Playout, Role, Stuck

_SHAPE: Final = """\
{"game", "seed", "asked", "playouts", "unfinished", "stuck", "first_stuck",
   "lengths": {"mean", "min", "max"},
   "goals": {ROLE: {"mean", "min", "max", "counts": {GOAL: NUMBER}}}}
  lengths are numbers of joint moves; unfinished counts games that did not come to an end,
  stuck those of them in which a role had no legal move; first_stuck is null or
  {"role", "facts", "moves"}; both are left out of the goals"""

#: Games that take seconds one by one, and that `simulate` plays in less than one.
_MANY: Final = 10_000


@command_options
class _Options(JsonOption, MachineOption):
    count: int = option(
        "--playouts", former="--count", type=many, default=1, metavar="N", help="how many games (1)"
    )
    seed: int | None = option("--seed", type=whole, metavar="S", help="the same seed gives the same games")


@dataclass
class Summary:
    """What many playouts have in common.

    Attributes:
        roles: the roles of the game.
        unfinished: how many playouts did not come to an end: they were too long, or got stuck.
        stuck: in how many of these a role had no legal move.
        first_stuck: the first of them.
        lengths: how many playouts had how many joint moves.
        goals: for every role, how many playouts gave it which goal; None counts those where the rules give
            none.
    """

    roles: tuple[Role, ...]
    unfinished: int = 0
    stuck: int = 0
    first_stuck: Stuck | None = None
    lengths: Counter[int] = field(default_factory=Counter)
    goals: dict[Role, Counter[int | None]] = field(default_factory=dict)

    def add(self, one: Playout) -> None:
        """Count a playout."""
        self.lengths[one.length] += 1
        self.unfinished += not one.is_complete
        if one.stuck:
            self.stuck += 1
            self.first_stuck = self.first_stuck or one.stuck
            return
        for role in self.roles:
            self.goals.setdefault(role, Counter())[one.goals[role]] += 1

    @property
    def count(self) -> int:
        """The number of playouts."""
        return self.lengths.total()

    def describe(self) -> dict[str, Any]:
        """Return the summary in the shape of ``--json``."""
        return {
            "playouts": self.count,
            "unfinished": self.unfinished,
            "stuck": self.stuck,
            "first_stuck": self.first_stuck.to_dict() if self.first_stuck else None,
            "lengths": _spread(self.lengths),
            "goals": {
                role: _spread(counter) | {"counts": _counts(counter)} for role, counter in self.goals.items()
            },
        }

    def lines(self) -> Iterator[str]:
        """Yield the summary for people."""
        if not self.count:
            return
        spread = _spread(self.lengths)
        yield f"moves  {spread['mean']:.1f} on average, {spread['min']} to {spread['max']}"
        if self.unfinished > self.stuck:
            cut = self.unfinished - self.stuck
            yield f"{cut} of them were cut for their length before the game was over"
        if self.stuck:
            yield f"{self.stuck} of them could not go on, and are in no goals; the first: {self.first_stuck}"
        width = max(map(len, self.roles))
        for role, counter in self.goals.items():
            counts = ", ".join(f"{goal}: {count}" for goal, count in _counts(counter).items())
            yield f"goal of {role.ljust(width)}  {_average(counter)} ({counts})"


def run(options: _Options) -> int:
    """Play games at random and print their average. Ctrl-C ends early, with what has been done so far."""
    if options.count >= _MANY:
        complain(f"note: for many games, `simulate --playouts {options.count}` is faster by far")
    game = load_game(options)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    summary = Summary(game.roles)
    status = Status.OK
    try:
        _play(game, options.count, seed, summary)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if options.json:
        print_json({"game": game.name, "seed": seed, "asked": options.count} | summary.describe())
        return status
    done = f"{summary.count} of {options.count}" if status else str(summary.count)
    print(f"{done} random {'playout' if summary.count == 1 else 'playouts'} of {game.name}, seed {seed}")
    print_lines(summary.lines())
    return status


def _play(game: Game, count: int, seed: int, summary: Summary) -> None:
    with progress("playouts", count, counts=True) as show:
        for number, one in enumerate(game.playouts(count, seed), 1):
            summary.add(one)
            show(completed=number)


def _spread(counter: Counter[int] | Counter[int | None]) -> dict[str, Any]:
    """Return mean, least and greatest of the numbers in a counter; None of no numbers."""
    numbers = {value: count for value, count in counter.items() if value is not None}
    if not numbers:
        return {"mean": None, "min": None, "max": None}
    try:
        mean = sum(value * count for value, count in numbers.items()) / sum(numbers.values())
    except OverflowError:
        mean = None
    return {"mean": mean, "min": min(numbers), "max": max(numbers)}


def _average(goals: Counter[int | None]) -> str:
    spread = _spread(goals)
    if spread["mean"] is not None:
        return f"{spread['mean']:.1f} on average"
    return "none" if spread["min"] is None else "too large for a mean"


def _counts(goals: Counter[int | None]) -> dict[str, int]:
    """Return how often there was each goal, in ascending order, and none at the end."""
    order = sorted(goals, key=lambda goal: (goal is None, goal or 0))
    return {"none" if goal is None else str(goal): goals[goal] for goal in order}


COMMAND = Command(_Options, run, json_shape(_SHAPE))
