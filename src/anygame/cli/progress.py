"""Progress on a terminal: bars on standard error while something takes long."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress

    from anygame.game.game import Game
    from anygame.search import PracticeReport, Search

#: Seconds between two looks at whether something is ready.
_LOOK: Final = 0.2


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


def counting_columns() -> list[Any]:
    """Return a bar with the number of what is done, the rate, and the time left; nothing without rich."""
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
        """How many a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    return [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    ]


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


def compile_search(search: Search) -> None:
    """Let a search compile what it needs, with progress on a terminal: its first use here takes a while."""
    with progress_bar() as bar:
        if bar is not None:
            bar.add_task("compiling the search", total=None)
        while search.is_compiling:
            search.compile(_LOOK)


def practise(search: Search, seconds: float) -> PracticeReport | None:
    """Let a search practise for so many seconds, with progress on a terminal."""
    with progress_bar() as bar:
        if bar is None:
            return search.practise(seconds=seconds)
        task = bar.add_task("practising", total=seconds)
        begin = perf_counter()

        def look() -> bool:
            bar.update(task, completed=perf_counter() - begin)
            return False

        return search.practise(seconds=seconds, stop=look)
