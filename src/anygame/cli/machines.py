"""Which machine answers, as the command line asks for it; progress of compiling, and notices."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from anygame.cli.files import read_game
from anygame.cli.output import complain
from anygame.game.machine import FallbackWarning

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

    from anygame.game.game import Game

__all__ = ["compile_game", "game_of", "notices", "progress_bar"]


def game_of(options: Namespace) -> Game:
    """Load the game that a command line names, with the machine it asks for.

    Raises:
        RuleSheetError: there is no such file, or its rules cannot be used.
    """
    game = read_game(options.file, case_sensitive=options.case_sensitive, machine=options.machine)
    if options.machine == "network":
        compile_game(game)
    return game


def compile_game(game: Game, **bounds: float | None) -> bool:
    """Compile a game, with progress on a terminal; return whether it has a network.

    Args:
        game: the game.
        bounds: as of ``Game.compile``.
    """
    given: dict[str, Any] = bounds
    with progress_bar() as bar:
        if bar is None:
            return game.compile(**given)
        task = bar.add_task("compiling", total=None)

        def tell(instances: int, atoms: int) -> None:
            bar.update(task, description=f"compiling: {instances:,} instances of rules, {atoms:,} atoms")

        return game.compile(progress=tell, **given)


@contextmanager
def notices() -> Iterator[None]:
    """Print a line on standard error where the reasoner steps in for a network."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FallbackWarning)
        warnings.showwarning = _shower(warnings.showwarning)
        yield


def _shower(others: Callable[..., None]) -> Callable[..., None]:
    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, FallbackWarning):
            complain(f"note: {message}")
        else:
            others(message, category, *rest)

    return show


@contextmanager
def progress_bar(*columns: Any) -> Iterator[Progress | None]:
    """Show progress on standard error, if that is a terminal and rich is installed."""
    bar = None
    if sys.stderr.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.progress import Progress

            chosen = columns or Progress.get_default_columns()[:2]
            bar = Progress(*chosen, console=Console(stderr=True), transient=True)
    if bar is None:
        yield None
        return
    with bar:
        yield bar
