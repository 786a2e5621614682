"""Draw a session at the prompt as SVG, for the chapter about the prompt.

    python tools/terminal_picture.py docs/guide/session.svg

Runs ``anygame repl`` with the commands below on a new pseudo-terminal. The package rich draws the output.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

GAME: Final = "copolymer"
COMMANDS: Final = (
    "random 6",
    "query (legal ?who (move a ?n))",
    "why (legal player2 (move d 1))",
    "why not (legal player2 noop)",
)
WIDTH: Final = 100
FONTS: Final = "Menlo, Consolas, DejaVu Sans Mono, monospace"


def session() -> str:
    """Return the coloured output of the session on a terminal; commands follow ``> ``."""
    command = [sys.executable, "-m", "anygame", "repl", GAME, "--seed", "1", "--echo"]
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "60", "PYTHONUTF8": "1"}
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=follower, env=environment) as process:
        os.close(follower)
        assert process.stdin
        process.stdin.write("\n".join(COMMANDS).encode())
        process.stdin.close()
        shown = b""
        # At the end of a terminal, reading raises an error on Linux.
        with suppress(OSError):
            while part := os.read(leader, 65536):
                shown += part
    os.close(leader)
    if process.returncode:
        raise SystemExit(f"terminal_picture: the session ended with status {process.returncode}")
    return shown.decode().replace("\r\n", "\n")


def picture(shown: str) -> str:
    """Return a terminal's output as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ anygame repl {GAME}", style="bold"))
    for line in shown.rstrip().splitlines():
        console.print(Text.from_ansi(line), style="bold" if line.startswith("> ") else "", highlight=False)
    drawn = console.export_svg(title="anygame", unique_id="session")
    # The font of rich is on a remote server, so use any font of fixed width.
    return re.sub(
        "Fira Code, ?monospace", FONTS, re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the session into a file; return the exit status."""
    parser = argparse.ArgumentParser(description="Draw a session at the prompt as SVG.")
    parser.add_argument("out", metavar="OUT", type=Path, help="the file to write")
    options = parser.parse_args(arguments)
    options.out.write_text(picture(session()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
