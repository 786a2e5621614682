"""Transcripts: what people type and all that they get, kept as text and compared whole.

``transcripts/NAME.txt`` is a session of the REPL on ``gdl/NAME.kif``: commands after ``> ``, the output below
each. ``commands/NAME.txt`` has command lines after ``$ ``, what they print on both streams, and their exit
status unless it is 0.

After a change that is meant, write them anew, and read the difference::

    python tests/cli/transcripts.py
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from anygame.cli.main import main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run(arguments: list[str], given: str = "") -> tuple[str, int]:
    """Return what a command prints on both streams, and its exit status."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    source = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with (
        redirect_stdout(output),
        redirect_stderr(output),
        mock.patch.object(sys, "stdin", source),
        mock.patch.dict(os.environ, environment | {"COLUMNS": "80"}, clear=True),
    ):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
    return output.buffer.getvalue().decode(), status


def session(path: Path) -> str:
    """Return the transcript of a REPL session with the commands of a file."""
    commands = [line[2:] for line in path.read_text().splitlines() if line.startswith("> ")]
    return run(["repl", f"gdl/{path.stem}.kif", "--seed", "1", "--echo"], "\n".join(commands))[0]


def commands(path: Path) -> str:
    """Return the transcript of the command lines of a file."""
    parts = []
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            parts.append(f"{line}\n")
        elif line.startswith("$ "):
            output, status = run(shlex.split(line.removeprefix("$ anygame ")))
            ending = f"[exit status {status}]\n" if status else ""
            parts.append(f"{line}\n{output}{ending}\n")
    return "".join(parts)


def rewrite() -> None:
    """Write all transcripts anew."""
    os.chdir(ROOT)
    for path in sorted((HERE / "transcripts").glob("*.txt")):
        path.write_text(session(path))
    for path in sorted((HERE / "commands").glob("*.txt")):
        path.write_text(commands(path))


if __name__ == "__main__":
    rewrite()
