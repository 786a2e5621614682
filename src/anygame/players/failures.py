"""What went wrong in the code of a player: its own traceback, for whoever writes it."""

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
#: A traceback is some kilobytes; what a player puts into a message can be anything.
_LONGEST: Final = 20_000
#: Different faults of one player that are reported; what fails in more ways is not.
_MOST: Final = 10


def own_traceback(error: BaseException) -> str:
    """Return the traceback of what a player raised, without the calls that led to the player.

    >>> def move():
    ...     raise ValueError("no memory")
    >>> try:
    ...     move()
    ... except ValueError as error:
    ...     print(own_traceback(error).splitlines()[-1])
    ValueError: no memory
    """
    told = TracebackException.from_exception(error)
    frames = list(told.stack)
    while len(frames) > 1 and frames[0].filename.startswith(_PACKAGE):
        del frames[0]
    told.stack = StackSummary.from_list(frames)
    return "".join(told.format())[-_LONGEST:]


class Failures:
    """Reports each fault of each player once, on standard error, and beside the record of the match.

    Args:
        record: the file of the record; what fails is written into one beside it.
        former: what has told of the same players before; what it has told is not printed again.
    """

    def __init__(self, record: str | os.PathLike[str] | None = None, former: Failures | None = None) -> None:
        self.path = None if record is None else Path(record).with_suffix(".failures.txt")
        self._printed: set[tuple[str, str]] = set() if former is None else former._printed
        self._written: set[tuple[str, str]] = set()
        self._lock = Lock()

    def report(self, name: str, traceback: str) -> None:
        """Report a fault of a player by its traceback, as `own_traceback` returns it, unless it is known."""
        # The same line fails with another message at every turn.
        known = (name, "\n".join(line for line in traceback.splitlines() if line.startswith("  ")))
        text = f"the player {name} failed; its traceback:\n{traceback.rstrip()}\n"
        with self._lock, suppress(OSError, ValueError):
            if self._is_new(self._printed, known):
                print(f"anygame: {text}", end="", file=sys.stderr, flush=True)
            if self.path is not None and self._is_new(self._written, known):
                with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{text}\n")

    def _is_new(self, told: set[tuple[str, str]], known: tuple[str, str]) -> bool:
        if known in told or sum(name == known[0] for name, _ in told) >= _MOST:
            return False
        told.add(known)
        return True
