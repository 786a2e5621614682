"""Progress bars on standard error, for slow operations."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.cli.output import Screen
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.search import Analysis, PracticeReport, Search


#: Interval in seconds between two checks whether a search has been compiled.
_SLICE: Final = 0.2


@contextmanager
def progress(what: str, total: float | None = None, *, counts: bool = False) -> Iterator[Callable[..., None]]:
    """Show progress if standard error is a terminal and rich is installed.

    Yields a function with the keyword arguments ``completed``, ``total`` and ``description``, which updates
    the progress. With ``counts``, the bar also shows the counts, the rate and the remaining time.
    """
    bar = None
    if sys.stderr.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.progress import Progress

            columns = _counting_columns() if counts else Progress.get_default_columns()[:2]
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
    if bar is None:
        yield lambda **_: None
        return
    with bar:
        yield partial(bar.update, bar.add_task(what, total=total))


def _counting_columns() -> list[Any]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """The number of steps per second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    return [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]


def compile_game(game: Game, **bounds: float | None) -> bool:
    """Compile a game, with progress on a terminal; return whether it could be compiled."""
    settings: dict[str, Any] = bounds
    with progress("compiling") as show:
        return game.compile(
            progress=lambda instances, atoms: show(
                description=f"compiling: {instances:,} instances of rules, {atoms:,} atoms"
            ),
            **settings,
        )


def compile_needed(game: Game) -> None:
    """Compile a game, with progress on a terminal. Raises LimitError if it cannot be compiled."""
    if not compile_game(game):
        raise LimitError(f"this needs a compiled game, and {game.name} cannot be compiled: {game.fallback}")


def compile_search(search: Search) -> None:
    """Compile the code of a search, with progress on a terminal."""
    with progress("compiling the search"):
        while search.is_compiling:
            search.compile(_SLICE)


def practise(search: Search, seconds: float) -> PracticeReport | None:
    """Let a search practise, with progress on a terminal."""
    with progress("practising", seconds) as show:
        begin = perf_counter()

        def stop() -> bool:
            show(completed=perf_counter() - begin)
            return False

        return search.practise(seconds=seconds, stop=stop)


def analyse(
    search: Search,
    state: State,
    screen: Screen,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
) -> Analysis:
    """Search a state, show the analysis during the search, and return it. Ctrl-C ends the search early."""
    live: Any = nullcontext()
    show = None
    if screen.is_terminal:
        with suppress(ImportError):
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text

            live = Live(console=Console(file=screen.stream), auto_refresh=False, transient=True)
            show = lambda analysis: live.update(  # noqa: E731
                Text("\n".join(_lines(analysis, screen)), no_wrap=True), refresh=True
            )
    with live:
        analysis = search.run(state, seconds=seconds, iterations=iterations, progress=show)
    for line in _lines(analysis, screen):
        screen.say(line)
    return analysis


def _lines(analysis: Analysis, screen: Screen) -> Iterator[str]:
    width = screen.width if screen.is_terminal else None
    for line in analysis.lines():
        yield line if width is None or len(line) <= width else f"{line[: width - 4]} ..."
