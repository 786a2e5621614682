"""Progress bars in notebooks, shown below the cell during long calls and removed at the end.

Long-running functions take a function ``progress``, which receives the progress so far. If a caller in a
notebook passes no function, a progress bar appears. The command line passes a function for terminals.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Report = TypeVar("_Report", bound="Callable[..., object]")

#: Seconds before the first display of progress.
_PATIENCE: Final = 0.5
#: Minimum number of seconds between two updates.
_BETWEEN: Final = 0.2


def in_notebook() -> bool:
    """Return whether this is the main thread of a notebook, whose output appears below the cell."""
    ipython = sys.modules.get("IPython")
    if ipython is None or threading.current_thread() is not threading.main_thread():
        return False
    return getattr(ipython.get_ipython(), "kernel", None) is not None


@contextmanager
def reporting(given: _Report | None, html: Callable[..., str]) -> Iterator[_Report | None]:
    """Yield the function that receives progress: the caller's function, a function for a notebook, or None.

    In a notebook, ``html`` converts progress to HTML.
    """
    if given is not None or not in_notebook():
        yield given
        return
    output = _Output()
    try:
        yield cast("_Report", lambda *known: output.show(lambda: html(*known)))
    finally:
        output.clear()


class _Output:
    """An output below the cell, which appears after `_PATIENCE` seconds."""

    def __init__(self) -> None:
        self._next = monotonic() + _PATIENCE
        self._handle: Any = None

    def show(self, html: Callable[[], str]) -> None:
        if monotonic() < self._next:
            return
        self._next = monotonic() + _BETWEEN
        shown = {"text/html": html(), "text/plain": ""}
        if self._handle is None:
            from IPython import display

            self._handle = display.display(shown, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(shown, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)


def progress_bar(what: str) -> Callable[[int, int], str]:
    """Return a function that formats progress as HTML: a bar with the rate and the remaining time.

    >>> progress_bar("playouts")(0, 2000)
    '<progress max="2000" value="0"></progress> playouts: 0 of 2,000'
    """
    began = monotonic()

    def bar(done: int, total: int) -> str:
        counts = f'<progress max="{total}" value="{done}"></progress> {what}: {done:,} of {total:,}'
        seconds = monotonic() - began
        if not done or not seconds:
            return counts
        return f"{counts}, {done / seconds:,.0f} a second, {(total - done) * seconds / done:,.0f} s left"

    return bar
