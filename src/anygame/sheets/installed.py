"""The rule sheets in the package, found by name: ``copolymer`` for ``gdl/copolymer.kif``."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from itertools import dropwhile, groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.errors import RuleSheetError
from anygame.language.diagnostics import did_you_mean
from anygame.language.source import Source
from anygame.language.text import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language.limits import ReadingLimits

_PACKAGE: Final = Path(__file__).parents[1]
#: Possible folders of the sheets: inside the package after a build, or at the root of a checkout.
_FOLDERS: Final = (_PACKAGE / "gdl", _PACKAGE.parents[1] / "gdl")
_SUFFIX: Final = ".kif"
#: Minimum length of a summary; shorter summaries, such as "Two players take turns.", are not informative.
_TELLING: Final = 30
_SENTENCE: Final = re.compile(r"(?<=[.!?]) (?=[A-Z])")
#: Characters of frames around comments.
_FRAME: Final = ";*=#~+|_- \t"
#: The mark of comment lines for editors, as in ``-*-Lisp-*-``.
_EDITOR: Final = "-*-"
#: Suffixes of the files of rule sheets.
SUFFIXES: Final = (_SUFFIX, ".gdl", ".hrf")


def games() -> tuple[str, ...]:
    """Return the names of the games in the package; ``load`` accepts each of them.

    >>> import anygame
    >>> "copolymer" in anygame.games()
    True
    >>> anygame.load("copolymer").roles
    ('player1', 'player2')
    """
    return tuple(sorted(path.stem for path in _folder().glob(f"*{_SUFFIX}")))


def find_installed(name: str | os.PathLike[str]) -> Path | None:
    """Return the path of the installed sheet with this name, unless a file with this name exists."""
    text = os.fspath(name)
    # The names of installed sheets are identifiers, so other names need no access to the disk.
    if not text.isidentifier() or os.path.lexists(text):
        return None
    path = installed_path(text)
    return path if path.is_file() else None


def installed_path(name: str) -> Path:
    """Return the path of the sheet of one of `games`."""
    return _folder() / f"{name}{_SUFFIX}"


def open_sheet(name: str | os.PathLike[str], limits: ReadingLimits | None = None) -> Source:
    """Read a file, or the installed sheet with this name if no such file exists.

    Raises:
        RuleSheetError: the sheet cannot be read; the message suggests similar names of installed sheets.
        SheetSyntaxError: the sheet is too large, or is not UTF-8 text.
    """
    path = find_installed(name)
    if path is not None:
        return Source(os.fspath(name), read_source(path, limits).text)
    try:
        return read_source(name, limits)
    except RuleSheetError as error:
        near = [] if os.path.lexists(name) else nearest_games(os.fspath(name))
        if error.diagnostics or not near:
            raise
        raise RuleSheetError(f"{error}{did_you_mean(near)}") from error


def nearest_games(name: str) -> list[str]:
    """Return the installed games with a similar name, or a similar word in the name, nearest first.

    >>> nearest_games("kuhn"), nearest_games("conect_four.kif")
    (['kuhn_poker'], ['connect_four'])
    """
    stem = Path(name).stem.lower()
    if stem in games():
        return [stem]
    words = get_close_matches(stem, {word for game in games() for word in game.split("_")}, n=3, cutoff=0.75)
    parts = [game for game in games() if any(word in game.split("_") for word in words)]
    return list(dict.fromkeys([*get_close_matches(stem, games(), n=3, cutoff=0.6), *parts]))[:3]


def describe_sheet(text: str) -> tuple[str, str]:
    r"""Return title and description of a sheet: the first two paragraphs of its head comment.

    Frames, lines of punctuation and lines for editors, such as ``-*-Lisp-*-``, count as blank.

    >>> describe_sheet(";;; Nim\n;;;\n;;; Take matches.\n;;; Who takes the last one wins.\n\n(role x)")
    ('Nim', 'Take matches. Who takes the last one wins.')
    >>> describe_sheet("; -*-Lisp-*-\n;******\n;* Nim *\n;*     *\n;* By Ada *\n;******")
    ('Nim', 'By Ada')
    """
    lines = (line.strip(_FRAME) for line in _heading_lines(text))
    paragraphs = (" ".join(group) for words, group in groupby(lines, bool) if words)
    return next(paragraphs, ""), next(paragraphs, "")


def summary_of(description: str) -> str:
    """Return the first sentence of a description, or the first sentences if the first sentence is short.

    >>> summary_of("A puzzle for one. A knight leaps over a board. It never returns.")
    'A puzzle for one. A knight leaps over a board.'
    """
    summary = ""
    for sentence in _SENTENCE.split(description):
        summary = f"{summary} {sentence}".strip()
        if len(summary) >= _TELLING:
            break
    return summary


def sheet_heading(text: str) -> str:
    r"""Return the head comment of a sheet as text: the author's description of the game.

    >>> print(sheet_heading(";;; Nim\n;;;\n;;; Moves  (take N)\n;; board: none\n\n(role x) ; not this"))
    Nim
    <BLANKLINE>
    Moves  (take N)
    >>> print(sheet_heading(";;;;;;;;;\n;; Nim ;;\n;;;;;;;;;\n\n(role x)"))
    Nim
    """
    return "\n".join(_heading_lines(text)).strip("\n")


def _heading_lines(text: str) -> Iterator[str]:
    """Yield the lines of the head comment without comment marks and frames."""
    lines = dropwhile(lambda line: not line, (line.lstrip("\ufeff") for line in text.splitlines()))
    marks = ""
    for line in takewhile(lambda line: line.startswith(";"), lines):
        if _EDITOR in line:
            continue
        if not marks and line.strip(_FRAME):
            marks = ";" * (len(line) - len(line.lstrip(";")))
        # Lines with fewer semicolons than the first line do not describe the game.
        if not line.startswith(marks):
            return
        yield _unframed(line)


def _unframed(line: str) -> str:
    """Return a comment line without its marks and frame, but with its indentation."""
    line = line.strip(";")
    line = line.strip("*") if line.startswith("*") else line
    return line.removeprefix(" ").rstrip() if line.strip(_FRAME) else ""


def _folder() -> Path:
    return next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
