"""An analysis that is shown while it grows: a table on a terminal, the last one elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.cli.output import Screen
    from anygame.game.state import State
    from anygame.search import Analysis, Search, Table


def analyse(
    search: Search,
    state: State,
    screen: Screen,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    table: Table | None = None,
) -> Analysis:
    """Search a state, show what is known as it grows, and return it; Ctrl-C ends it early.

    Args:
        search: of the game.
        state: the state.
        screen: where the table stands.
        seconds: how long at most; None for as long as it takes.
        iterations: leaves to evaluate at most; None for any number.
        table: exact values that are known.
    """

    def known(analysis: Analysis) -> Analysis:
        return analysis if table is None else table.annotate(analysis, state)

    with _live(screen) as show:
        found = search.run(
            state,
            seconds=seconds,
            iterations=iterations,
            progress=None if show is None else lambda analysis: show(known(analysis)),
        )
    found = known(found)
    for line in analysis_lines(found, screen):
        screen.say(line)
    return found


def analysis_lines(analysis: Analysis, screen: Screen) -> Iterator[str]:
    """Yield the table, as wide as a terminal is."""
    width = screen.width if screen.is_terminal else None
    for line in analysis.lines():
        yield line if width is None or len(line) <= width else f"{line[: width - 4]} ..."


@contextmanager
def _live(screen: Screen) -> Iterator[Callable[[Analysis], None] | None]:
    """Yield what shows an analysis in place of the last one; None where nobody looks, or without rich."""
    live = None
    if screen.is_terminal:
        try:
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text
        except ImportError:
            pass
        else:
            live = Live(console=Console(file=screen.stream), auto_refresh=False, transient=True)
    if live is None:
        yield None
        return
    with live as shown:
        yield lambda analysis: shown.update(
            Text("\n".join(analysis_lines(analysis, screen)), no_wrap=True), refresh=True
        )
