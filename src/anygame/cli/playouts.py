"""The ``playout`` command: many random games and what they show on average."""

from __future__ import annotations

import random
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.machines import game_of
from anygame.cli.output import print_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from anygame.game.playouts import Playout
    from anygame.game.roles import Role

__all__ = ["Summary", "playout"]

_OK: Final = 0
_INTERRUPTED: Final = 130


@dataclass
class Summary:
    """What many playouts have in common.

    Attributes:
        roles: the roles of the game.
        unfinished: how many playouts were cut because they were too long.
        lengths: how many playouts had how many joint moves.
        goals: for every role, how many playouts gave it which goal; None counts those where the rules give
            none.
    """

    roles: tuple[Role, ...]
    unfinished: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    goals: dict[Role, Counter[int | None]] = field(default_factory=dict)

    def add(self, one: Playout) -> None:
        """Count a playout."""
        self.lengths[one.length] += 1
        self.unfinished += not one.is_complete
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
            "lengths": _spread(self.lengths),
            "goals": {
                role: _spread(counter)
                | {"counts": {_text(goal): counter[goal] for goal in sorted(counter, key=_order)}}
                for role, counter in self.goals.items()
            },
        }

    def lines(self) -> Iterator[str]:
        """Yield the summary for people."""
        if not self.count:
            return
        spread = _spread(self.lengths)
        yield f"moves  {spread['mean']:.1f} on average, {spread['min']} to {spread['max']}"
        if self.unfinished:
            yield f"{self.unfinished} of them were cut for their length before the game was over"
        width = max(map(len, self.roles))
        for role, counter in self.goals.items():
            mean = _spread(counter)["mean"]
            counts = ", ".join(f"{_text(goal)}: {counter[goal]}" for goal in sorted(counter, key=_order))
            average = "none" if mean is None else f"{mean:.1f} on average"
            yield f"goal of {role.ljust(width)}  {average} ({counts})"


def playout(options: Namespace) -> int:
    """Play games at random and print their average. Ctrl-C ends early, with what has been done so far."""
    game = game_of(options)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    summary = Summary(game.roles)
    status = _OK
    try:
        with _progress(options.count) as advance:
            for one in game.playouts(options.count, seed):
                summary.add(one)
                advance()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if options.json:
        print_json({"game": game.name, "seed": seed, "asked": options.count} | summary.describe())
        return status
    done = f"{summary.count} of {options.count}" if status else str(summary.count)
    print(f"{done} random {'playout' if summary.count == 1 else 'playouts'} of {game.name}, seed {seed}")
    for line in summary.lines():
        print(line)
    return status


def _spread(counter: Counter[int] | Counter[int | None]) -> dict[str, Any]:
    """Return mean, least and greatest of the numbers in a counter; None of no numbers."""
    numbers = {value: count for value, count in counter.items() if value is not None}
    if not numbers:
        return {"mean": None, "min": None, "max": None}
    mean = sum(value * count for value, count in numbers.items()) / sum(numbers.values())
    return {"mean": mean, "min": min(numbers), "max": max(numbers)}


def _text(goal: int | None) -> str:
    return "none" if goal is None else str(goal)


def _order(goal: int | None) -> tuple[bool, int]:
    return goal is None, goal or 0


@contextmanager
def _progress(count: int) -> Iterator[Callable[[], object]]:
    """Show progress on standard error, if that is a terminal and rich is installed."""
    bar = None
    if sys.stderr.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
    if bar is None:
        yield lambda: None
        return
    with bar:
        task = bar.add_task("playouts", total=count)
        yield lambda: bar.advance(task)
