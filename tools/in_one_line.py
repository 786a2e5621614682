"""Run a command that takes minutes, and show only the last line of its output on the terminal.

    python tools/in_one_line.py COMMAND [ARGUMENT]...

Each new line replaces the line before, and is cut to the width of the terminal. Without a terminal, nothing
is shown. If the command fails, its whole output follows. The exit status is the exit status of the command.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WRITE_ANEW = "\r\033[K"


def run(command: Sequence[str]) -> int:
    """Run a command; return its exit status."""
    printed: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if line.strip():
                _show(line.strip())
    _show("")
    if process.returncode:
        sys.stderr.writelines(printed)
    return process.returncode


def _show(line: str) -> None:
    """Replace the line on the terminal by a new line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"{_WRITE_ANEW}{line[:width]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
