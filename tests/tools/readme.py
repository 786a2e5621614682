"""The examples of the README: what they are, and what they print.

A block of ``python`` is executed, in one namespace with those before it; a block of ``text`` right after it
is what it prints. A block of ``console`` has command lines after ``$ ``, with their output below; the
commands of a REPL session stand after ``> ``. Blocks of ``sh`` are not executed; ``lisp`` is a
rule sheet.

After a change that is meant, write the output anew, and read the difference::

    python -m tests.tools.readme
"""

from __future__ import annotations

import io
import os
import re
import shlex
from contextlib import redirect_stdout
from typing import Any

from tests.cli.transcripts import ROOT, run

README = ROOT / "README.md"
_BLOCK = re.compile(
    r"^```(python|console)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)


def replayed(text: str) -> str:
    """Return the README with the output that its examples have now."""
    names: dict[str, Any] = {}

    def replay(block: re.Match[str]) -> str:
        language, code, output = block.groups()
        if language == "console":
            return block[0].replace(code, console(code), 1)
        printed = python(code, names)
        if output is None:
            assert not printed, f"an example prints {printed!r}, which the README does not show:\n{code}"
            return block[0]
        return block[0].removesuffix(f"{output}```\n") + f"{printed}```\n"

    return _BLOCK.sub(replay, text)


def python(code: str, names: dict[str, Any]) -> str:
    """Return what Python code prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, README.name, "exec"), names)
    return output.getvalue()


def console(transcript: str) -> str:
    """Return a transcript of command lines with the output they have now."""
    parts = []
    for part in re.split(r"^(?=\$ )", transcript, flags=re.MULTILINE):
        command, _, rest = part.partition("\n")
        if not command:
            continue
        typed = "".join(line[2:] + "\n" for line in rest.splitlines() if line.startswith("> "))
        arguments = shlex.split(command.removeprefix("$ anygame ").partition(" <")[0])
        blank = "\n" if rest.endswith("\n\n") else ""
        parts.append(f"{command}\n{run(arguments, typed)[0]}{blank}")
    return "".join(parts)


if __name__ == "__main__":
    os.chdir(ROOT)
    README.write_text(replayed(README.read_text(encoding="utf-8")), encoding="utf-8")
