"""The ``simulate`` command: random games by the million, and what they have in common."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.commands import position
from anygame.cli.machines import compile_game, progress_bar
from anygame.cli.output import print_json

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from anygame.game.game import Game
    from anygame.game.simulation import SimulationResult
    from anygame.game.state import State

__all__ = ["describe", "simulate"]

_OK: Final = 0
_GOALS_SHOWN: Final = 12


def simulate(options: Namespace) -> int:
    """Play games at random and print what they have in common. Ctrl-C ends it, with what was done."""
    game, state = position(options)
    if options.machine != "reasoner" and not game.is_settled:
        compile_game(game, seconds=options.compile_seconds)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    result = _played(game, state, seed, options)
    if options.json:
        print_json(describe(game, result, options.playouts))
        return _OK
    for line in _lines(game, result, options.playouts):
        print(line)
    return _OK


def _played(game: Game, state: State, seed: int, options: Namespace) -> SimulationResult:
    with progress_bar(*_columns()) as bar:
        tell = None
        if bar is not None:
            task = bar.add_task("playouts", total=options.playouts)

            def tell(done: int) -> None:
                bar.update(task, completed=done)

        return game.simulate(
            options.playouts, seed, options.threads, state=state, limit=options.limit, progress=tell
        )


def _columns() -> list[Any]:
    """Return a bar with the number of playouts so far, the rate, and the time left; nothing without rich."""
    try:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            ProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text
    except ImportError:
        return []

    class Rate(ProgressColumn):
        """Playouts a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    return [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    ]


def describe(game: Game, result: SimulationResult, asked: int) -> dict[str, Any]:
    """Return a result in the shape of ``--json``."""
    return {
        "game": game.name,
        "seed": result.seed,
        "threads": result.threads,
        "machine": result.machine,
        "asked": asked,
        "playouts": result.playouts,
        "cut": result.cut,
        "interrupted": result.interrupted,
        "states": result.states,
        "seconds": result.seconds,
        "setup_seconds": result.setup_seconds,
        "playouts_per_second": result.playouts_per_second,
        "states_per_second": result.states_per_second,
        "lengths": {
            "mean": result.mean_length,
            "min": min(result.lengths, default=None),
            "max": max(result.lengths, default=None),
            "counts": {str(length): count for length, count in result.lengths.items()},
        },
        "roles": {
            role: {
                "mean": result.mean_goals[role],
                "spread": result.goal_spread[role],
                "error": result.goal_error[role],
                "counts": {str(value): count for value, count in result.goal_counts[role].items()},
                "missing": result.missing_goals[role],
                "double": result.double_goals[role],
                "branching": result.branching[role],
            }
            for role in game.roles
        },
    }


def _lines(game: Game, result: SimulationResult, asked: int) -> Iterator[str]:
    done = f"{result.playouts:,}" + (f" of {asked:,}" if result.playouts != asked else "")
    yield f"{done} random playouts of {game.name}, seed {result.seed}"
    if result.interrupted:
        yield "interrupted: these are all that were played"
    if result.cut:
        yield f"{result.cut:,} more were given up for their length"
    width = max(map(len, game.roles))
    for role in game.roles:
        yield f"goal of {role.ljust(width)}  {_goals(game, result, role)}"
    if result.mean_length is not None:
        least, most = min(result.lengths), max(result.lengths)
        yield f"moves  {result.mean_length:.1f} on average, {least} to {most}"
    widths = [f"{mean:.1f} of {role}" for role, mean in result.branching.items() if mean is not None]
    if widths:
        yield f"legal moves  {', '.join(widths)} on average"
    threads = f", {result.threads} threads" if result.threads > 1 else ""
    yield (
        f"{result.seconds:.2f} s by the {result.machine}{threads}: {result.playouts_per_second:,.0f} "
        f"playouts and {result.states_per_second:,.0f} states a second; set-up {result.setup_seconds:.2f} s"
        f"{_kept(game, result)}"
    )


def _goals(game: Game, result: SimulationResult, role: Any) -> str:
    counts = result.goal_counts[role]
    parts = [f"{value}: {_share(count, result)}" for value, count in counts.items()]
    if len(parts) > _GOALS_SHOWN:
        parts[_GOALS_SHOWN // 2 : -_GOALS_SHOWN // 2] = ["..."]
    if result.missing_goals[role]:
        parts.append(f"none: {_share(result.missing_goals[role], result)}")
    if result.double_goals[role]:
        parts.append(f"several at once: {_share(result.double_goals[role], result)}")
    mean = result.mean_goals[role]
    if mean is None:
        return ", ".join(parts) or "unknown"
    spread, error = result.goal_spread[role], result.goal_error[role]
    return f"{mean:.2f} on average, give or take {error:.2f}; spread {spread:.1f} ({', '.join(parts)})"


def _share(count: int, result: SimulationResult) -> str:
    return f"{100 * count / result.playouts:.1f} %"


def _kept(game: Game, result: SimulationResult) -> str:
    if result.machine != "network":
        return ""
    return ", with machine code kept from before" if game.has_kept_code else ", machine code made now"
