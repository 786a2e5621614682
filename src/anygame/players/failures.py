"""Reports of errors in the code of players, with tracebacks for the authors of the players."""

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
#: Maximum number of characters of a traceback, because error messages can have any length.
_LONGEST: Final = 20_000
#: Maximum number of different errors that are reported for a player.
_MOST: Final = 10


def own_traceback(error: BaseException) -> str:
    """Return the traceback of a player's exception, without the frames of anygame that called the player.

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
    """Reports each error of each player once, on standard error and in a file beside the match record.

    Without ``record``, no file is written. Errors that ``former`` has printed are not printed again.
    """

    def __init__(self, record: str | os.PathLike[str] | None = None, former: Failures | None = None) -> None:
        self.path = None if record is None else Path(record).with_suffix(".failures.txt")
        self._printed: set[tuple[str, str]] = set() if former is None else former._printed
        self._written: set[tuple[str, str]] = set()
        self._lock = Lock()

    def report(self, name: str, traceback: str) -> None:
        """Report a traceback (see `own_traceback`), unless the same error was reported before."""
        # The key has no error message, because the same line can fail with another message in every turn.
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
