"""Errors in the code of players: their tracebacks, for the authors of the players."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from traceback import StackSummary, TracebackException
from typing import TYPE_CHECKING, Final

import anygame.errors

if TYPE_CHECKING:
    import os

_PACKAGE: Final = str(Path(anygame.errors.__file__).parent)
#: Maximum number of characters of a traceback, as error messages can have any length.
_LONGEST: Final = 20_000
#: Maximum number of different errors reported for one player.
_MOST: Final = 10


def own_traceback(error: BaseException) -> str:
    """Return the traceback of an exception of a player, without the frames that called the player.

    >>> def move():
    ...     raise ValueError("no memory")
    >>> try:
    ...     move()
    ... except ValueError as error:
    ...     print(own_traceback(error).splitlines()[-1])
    ValueError: no memory
    """
    traceback = TracebackException.from_exception(error)
    frames = list(traceback.stack)
    while len(frames) > 1 and frames[0].filename.startswith(_PACKAGE):
        del frames[0]
    traceback.stack = StackSummary.from_list(frames)
    return "".join(traceback.format())[-_LONGEST:]


class Failures:
    """Reports each error of each player once, on standard error and in a file beside the record.

    Args:
        record: file of the match record; None to write no file beside it.
        former: reporter of earlier matches, whose printed errors are not printed again.
    """

    def __init__(self, record: str | os.PathLike[str] | None = None, former: Failures | None = None) -> None:
        self.path = None if record is None else Path(record).with_suffix(".failures.txt")
        self._printed: set[tuple[str, str]] = set() if former is None else former._printed
        self._written: set[tuple[str, str]] = set()
        self._lock = Lock()

    def report(self, name: str, traceback: str) -> None:
        """Report the traceback of an error of a player (see `own_traceback`), unless it is a repetition."""
        # The error message is left out, as the same line can fail with another message at every turn.
        key = (name, "\n".join(line for line in traceback.splitlines() if line.startswith("  ")))
        text = f"the player {name} failed; its traceback:\n{traceback.rstrip()}\n"
        with self._lock, suppress(OSError, ValueError):
            if self._is_new(self._printed, key):
                print(f"anygame: {text}", end="", file=sys.stderr, flush=True)
            if self.path is not None and self._is_new(self._written, key):
                with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{text}\n")

    def _is_new(self, reported: set[tuple[str, str]], key: tuple[str, str]) -> bool:
        if key in reported or sum(name == key[0] for name, _ in reported) >= _MOST:
            return False
        reported.add(key)
        return True
