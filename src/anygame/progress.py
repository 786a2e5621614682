"""Progress in notebooks: it stands below the cell while something takes long, and is gone at the end.

Functions that take long have an argument ``progress``, which is called with what is known. Where it is not
given, and the code runs in a notebook, what is known is shown there. The command line gives its own, for
terminals. No library is needed: what a notebook runs in can show HTML, and replace it.
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

#: Seconds after which it is worth looking at, and between two changes.
_PATIENCE: Final = 0.5
_BETWEEN: Final = 0.2


def in_notebook() -> bool:
    """Return whether what is displayed now stands below a cell of a notebook.

    A thread has no cell: players and servers think beside the one that is run.
    """
    ipython = sys.modules.get("IPython")
    if ipython is None or threading.current_thread() is not threading.main_thread():
        return False
    return getattr(ipython.get_ipython(), "kernel", None) is not None


@contextmanager
def reporting(given: _Report | None, html: Callable[..., str]) -> Iterator[_Report | None]:
    """Yield the function that takes progress: the one given, or one for a notebook; else None.

    Args:
        given: by who calls what takes long.
        html: returns what a notebook shows, of what is reported.
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
    """A place below the cell, made when something was at work for a while."""

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


def counted(what: str) -> Callable[[int, int], str]:
    """Return what makes a bar of how much of all is done: HTML with the rate, and the time that is left.

    >>> counted("playouts")(0, 2000)
    '<progress max="2000" value="0"></progress> playouts: 0 of 2,000'
    """
    began = monotonic()

    def bar(done: int, total: int) -> str:
        told = f'<progress max="{total}" value="{done}"></progress> {what}: {done:,} of {total:,}'
        seconds = monotonic() - began
        if not done or not seconds:
            return told
        return f"{told}, {done / seconds:,.0f} a second, {(total - done) * seconds / done:,.0f} s left"

    return bar
