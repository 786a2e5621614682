"""The examples of the README and of the chapters in docs/: what they are, and what they print.

A block of ``python`` is executed, in one namespace with those before it in the same file; a block of ``text``
right after it is what it prints. A block of ``console`` has command lines after ``$ ``, with their output
below; the commands of a REPL session stand after ``> ``. Blocks of ``lisp title="NAME.kif"`` are pieces of
a sheet, which grows in the folder in which the examples of its file are executed. Blocks of ``sh`` are not.

A line "The examples need `pip install 'anygame[EXTRA,...]'`." names the extras of a chapter. Its examples run
in a process of their own, in which the libraries of all other extras cannot be imported. They are skipped
where a library of its extras is not installed.

After a change that is meant, write the output anew, and read the difference::

    python -m tests.tools.chapters [CHAPTER...]
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stdout
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from tests.cli.transcripts import ROOT, run
from tools.chapter_index import DOCS, pages

if TYPE_CHECKING:
    from collections.abc import Iterable


README = ROOT / "README.md"
_NAVIGATION: Final = tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
_PAGES: Final = tuple(DOCS / page for page in pages(_NAVIGATION))
#: Records of ideas that were tried.
EXPERIMENTS = tuple(page for page in _PAGES if page.parent.name == "experiments")
#: The README, and all other pages of the site.
CHAPTERS = (README, *(page for page in _PAGES if page not in EXPERIMENTS))
_BLOCK = re.compile(
    r"^```(python|console)\n(.*?)^```\n(?:\n?^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
_NEED = re.compile(r"^The examples need `pip install 'anygame\[([a-z,-]+)\]'`\.$", re.MULTILINE)
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?")
#: Extras of developers: everybody who runs the tests has them, and no chapter is about them.
_TOOLS: Final = {"dev", "docs", "heavy", "lower", "test"}
#: What a process imports first: it hides some libraries from itself and from the processes that it starts.
_HIDING: Final = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {hidden} else find(name, path, target)

PathFinder.find_spec = find_spec
"""
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
    """Return the extras that the examples of a chapter need."""
    return [extra for extras in _NEED.findall(text) for extra in extras.split(",")]


@cache
def libraries() -> dict[str, frozenset[str]]:
    """Return the requirements of each extra, without those of other extras of ours."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]

    def named(extra: str) -> set[str]:
        found: set[str] = set()
        for requirement in extras[extra]:
            name, of_ours = _parts(requirement)
            found |= set().union(*map(named, of_ours)) if name == "anygame" else {requirement}
        return found

    return {extra: frozenset(named(extra)) for extra in extras}


def _parts(requirement: str) -> tuple[str, list[str]]:
    """Return the normalised name of a required distribution, and its extras."""
    found = _REQUIREMENT.match(requirement)
    assert found, requirement
    return _normalised(found[1]), found[2].split(",") if found[2] else []


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _with_requirements(wanted: Iterable[str]) -> set[str]:
    """Return the distributions of requirements with all that these require, as far as they are installed."""
    waiting = [(name, extra) for name, extras in map(_parts, wanted) for extra in ("", *extras)]
    found: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        try:
            of_name = requires(name) or []
        except PackageNotFoundError:
            continue
        for requirement in of_name:
            _, _, condition = requirement.partition(";")
            asked = re.search(r"extra == ['\"]([\w.-]+)['\"]", condition)
            if (asked[1] if asked else "") == extra:
                other, extras = _parts(requirement)
                waiting += [(other, each) for each in ("", *extras)]
    return {name for name, _ in found}


def absent(text: str) -> list[str]:
    """Return the extras of a chapter of which a distribution is not installed."""
    installed = {_normalised(name) for names in packages_distributions().values() for name in names}
    return [
        extra for extra in needed(text) if not {_parts(each)[0] for each in libraries()[extra]} <= installed
    ]


def hidden(text: str) -> set[str]:
    """Return the modules of the extras that a chapter does not name: its examples must do without."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        own = tomllib.load(file)["project"]["dependencies"]
    extras = libraries()
    named = needed(text)
    allowed = _with_requirements([*own, *(name for extra in named for name in extras[extra])])
    all_named = {_parts(each)[0] for extra in extras.keys() - _TOOLS for each in extras[extra]}
    others = all_named - allowed
    return {
        module
        for module, names in packages_distributions().items()
        if all(_normalised(name) in others for name in names)
    }


def replayed_apart(path: Path) -> str:
    """Return a chapter with the output that its examples have in a process without other extras."""
    text = path.read_text(encoding="utf-8")
    if not _STEP.search(text):
        return text
    with TemporaryDirectory() as folder:
        start = Path(folder) / "sitecustomize.py"
        start.write_text(_HIDING.format(hidden=sorted(hidden(text))), encoding="utf-8")
        paths = os.pathsep.join([folder, *filter(None, sys.path), str(ROOT)])
        # The libraries that a chapter is about may warn.
        warnings = ["-W", "ignore" if needed(text) else "error"]
        command = [sys.executable, *warnings, "-m", "tests.tools.chapters", "--print", str(path)]
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{path.name} with the extras {needed(text)} alone:\n{done.stderr}"
    return done.stdout


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
    if sys.argv[1:2] == ["--print"]:
        sys.stdout.write(replayed(Path(sys.argv[2]).read_text(encoding="utf-8")))
    else:
        for chapter in map(Path, sys.argv[1:] or CHAPTERS):
            if not absent(chapter.read_text(encoding="utf-8")):
                chapter.write_text(replayed_apart(chapter), encoding="utf-8")
