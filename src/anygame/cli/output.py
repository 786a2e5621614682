"""Output of commands: plain text or JSON, with styles and pages on a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from anygame.errors import RuleSheetError
from anygame.game.loading import LenientReadingWarning
from anygame.game.machine import FallbackWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO

    from rich.console import Console

    from anygame.boards import Line, Picture
    from anygame.cli.shared_options import JsonOption


class Answer(Protocol):
    """Interface of the answers in `anygame.answers`."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data for programs."""

    def lines(self) -> Iterator[str]:
        """Yield lines for people."""


def print_json(value: object) -> None:
    """Print one JSON object."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_answer(answer: Answer, options: JsonOption) -> None:
    """Print an answer as JSON or as lines."""
    if options.json:
        print_json(answer.to_json())
    else:
        print_lines(answer.lines())


def print_event(value: object) -> None:
    """Print one JSON object on a line of its own, and flush."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Print lines on a stream, by default on standard output."""
    for line in lines:
        print(line, file=stream)


def complain(message: object) -> None:
    """Print a message on standard error, with the prefix ``anygame:`` if it has no diagnostics."""
    sys.stdout.flush()
    name = "" if isinstance(message, RuleSheetError) and message.diagnostics else "anygame: "
    # If standard error is closed, only the exit status reports the error.
    with suppress(OSError):
        print(f"{name}{message}", file=sys.stderr, flush=True)


@contextmanager
def fallback_notices() -> Iterator[None]:
    """Print FallbackWarning and LenientReadingWarning as notes on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FallbackWarning)
        warnings.simplefilter("always", LenientReadingWarning)
        show_other = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            if issubclass(category, FallbackWarning | LenientReadingWarning):
                complain(f"note: {message}")
            else:
                show_other(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def columns_of(cells: Sequence[str], width: int) -> Iterator[str]:
    """Yield lines with the cells in columns, each filled from top to bottom."""
    widest = max(map(len, cells), default=0) + 2
    height = -(-len(cells) // max(1, width // widest)) or 1
    for start in range(min(height, len(cells))):
        yield "".join(cell.ljust(widest) for cell in cells[start::height]).rstrip()


def table_lines(rows: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    """Yield lines with the rows of a table; ``sides`` aligns each column to the left (`<`) or right (`>`)."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


class Screen:
    """Stream for people, which shows styles if it is a terminal and rich is installed."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.is_terminal = self.stream.isatty()
        self._console = _console(self.stream) if self.is_terminal else None
        self.colours = self._console is not None and not os.environ.get("NO_COLOR")

    @property
    def width(self) -> int:
        return shutil.get_terminal_size((80, 24)).columns if self.is_terminal else 80

    def show(self, lines: Iterable[Line]) -> None:
        lines = list(lines)
        if not lines:
            return
        if self._console is None:
            for line in lines:
                self.say("".join(piece.text for piece in line).rstrip())
            return
        from rich.text import Text

        for line in lines:
            pieces: list[Any] = [(piece.text, piece.style) for piece in line]
            self._console.print(Text.assemble(*pieces), soft_wrap=True, highlight=False)

    def draw(self, picture: Picture) -> None:
        # Most commands draw nothing, and this import is slow.
        from anygame.boards import draw

        self.show(draw(picture, width=self.width, colours=self.colours))

    def page(self, lines: Iterable[str]) -> None:
        """Show lines; on a terminal, wait for Enter after each page."""
        lines = list(lines)
        height = shutil.get_terminal_size((80, 24)).lines - 2
        if not self.is_terminal or not sys.stdin.isatty() or len(lines) <= height:
            height = max(1, len(lines))
        for start in range(0, len(lines), height):
            if start:
                self.stream.write(f"-- {start} of {len(lines)} lines; Enter for more, q to stop --")
                self.stream.flush()
                answer = sys.stdin.readline()
                if not answer or answer.strip().lower().startswith("q"):
                    return
            for line in lines[start : start + height]:
                self.say(line)

    def say(self, message: object = "", style: str = "") -> None:
        if self._console is not None and style:
            self._console.print(str(message), style=style, markup=False, highlight=False, soft_wrap=True)
        else:
            print(message, file=self.stream, flush=self.is_terminal)


def _console(stream: TextIO) -> Console | None:
    """Return a rich console if rich is installed and the terminal can show more than ASCII."""
    try:
        "●○".encode(stream.encoding or "ascii")
        from rich.console import Console
    except (ImportError, UnicodeError):
        return None
    return Console(file=stream)
