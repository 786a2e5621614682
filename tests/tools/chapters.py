"""The examples of the README and of the chapters in docs/: what they are, and what they print.

A block of ``python`` is executed, in one namespace with those before it in the same file; a block of ``text``
right after it is what it prints. A block of ``console`` has command lines after ``$ ``, with their output
below; the commands of a REPL session stand after ``> ``. Blocks of ``lisp title="NAME.kif"`` are pieces of
a sheet, which grows in the folder in which the examples of its file are executed. Blocks of ``sh`` are not.
A line ``<!-- examples need MODULE -->`` names a library without which the chapter's examples are skipped.

After a change that is meant, write the output anew, and read the difference::

    python -m tests.tools.chapters
"""

from __future__ import annotations

import io
import re
import shlex
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.cli.transcripts import ROOT, run

README = ROOT / "README.md"
#: The README, the index of the chapters, and the chapters.
CHAPTERS = (README, *sorted((ROOT / "docs").glob("*.md")))
#: What was tried and left out; only the index of the chapters names it.
EXPERIMENTS = (*sorted((ROOT / "docs" / "experiments").glob("*.md")),)
_BLOCK = re.compile(
    r"^```(python|console)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
_NEED = re.compile(r"^<!-- examples need (\w+) -->$", re.MULTILINE)
_PIECE = re.compile(r'^```lisp title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
#: How long something took is printed where it was a second and more: on a busy machine now and then.
_TOOK = re.compile(r" \(\d+ s\)$", re.MULTILINE)
_STEP = re.compile(f"{_PIECE.pattern}|{_BLOCK.pattern}", re.MULTILINE | re.DOTALL)


def told() -> str:
    """Return the text of all chapters."""
    return "\n".join(path.read_text(encoding="utf-8") for path in CHAPTERS)


def shown(command: str) -> str:
    """Return the output that a chapter shows below a command of the shell."""
    pattern = rf"^```sh\n{re.escape(command)}[^\n]*\n```\n\n```text\n(.*?)^```$"
    found = re.search(pattern, told(), re.MULTILINE | re.DOTALL)
    assert found, f"no chapter shows what {command} prints"
    return found[1]


def sheets(text: str) -> dict[str, str]:
    """Return the sheets that stand in a chapter, by name."""
    found: dict[str, str] = {}
    for name, piece in _PIECE.findall(text):
        found[name] = f"{found[name]}\n{piece}" if name in found else piece
    return found


def needed(text: str) -> list[str]:
    """Return the libraries without which the examples of a chapter are skipped."""
    return list(_NEED.findall(text))


def absent(text: str) -> list[str]:
    """Return those of them that are not installed."""
    return [name for name in needed(text) if find_spec(name) is None]


def replayed(text: str) -> str:
    """Return a chapter with the output that its examples have now."""
    names: dict[str, Any] = {}
    written: dict[str, str] = {}

    def replay(block: re.Match[str]) -> str:
        sheet, piece, language, code, output = block.groups()
        if sheet:
            written[sheet] = f"{written[sheet]}\n{piece}" if sheet in written else piece
            Path(sheet).write_text(written[sheet], encoding="utf-8")
            return block[0]
        if language == "console":
            return block[0].replace(code, console(code), 1)
        printed = python(code, names)
        if output is None:
            assert not printed, f"an example prints {printed!r}, which is not shown:\n{code}"
            return block[0]
        return block[0].removesuffix(f"{output}```\n") + f"{printed}```\n"

    with TemporaryDirectory() as folder, chdir(folder):
        return _STEP.sub(replay, text)


def python(code: str, names: dict[str, Any]) -> str:
    """Return what Python code prints."""
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, "<example>", "exec"), names)
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
        printed = _TOOK.sub("", run(arguments, typed)[0])
        parts.append(f"{command}\n{printed}{blank}")
    return "".join(parts)


if __name__ == "__main__":
    for chapter in CHAPTERS:
        found = chapter.read_text(encoding="utf-8")
        if not absent(found):
            chapter.write_text(replayed(found), encoding="utf-8")
