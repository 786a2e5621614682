"""Reading and writing the files that a command line names.

Errors about mistyped names suggest the nearest names. Files are written atomically.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches, unified_diff
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.shared_options import MachineOption
from anygame.errors import RuleSheetError
from anygame.files import file_faults, write_whole
from anygame.game.loading import load, loads
from anygame.language.diagnostics import did_you_mean
from anygame.language.source import Source
from anygame.sheets.installed import SUFFIXES, find_installed, nearest_games, open_sheet

if TYPE_CHECKING:
    from anygame.cli.shared_options import ReadingOptions
    from anygame.game.backends import MachineName
    from anygame.game.game import Game
    from anygame.match.record import Record


def check_writable(name: str) -> None:
    """Raise RuleSheetError for standard input and installed games, which cannot be written."""
    if name == "-":
        raise RuleSheetError("standard input cannot be overwritten: leave out --write")
    if find_installed(name) is not None:
        raise RuleSheetError(f"{name} is an installed game, which cannot be overwritten: leave out --write")


def print_sheet(text: str) -> None:
    """Print a sheet as UTF-8 without converting line ends, on every system."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def print_changes(source: Source, text: str) -> None:
    """Print the changes of a sheet in the format of `diff -u`."""
    before, after = (part.splitlines(keepends=True) for part in (source.text, text))
    for line in unified_diff(before, after, source.name, source.name):
        print(line.rstrip("\r\n"))


def replace_sheet(name: str, content: str | bytes) -> None:
    """Write a file atomically, keeping the mode and links of the file. Raises RuleSheetError."""
    path = Path(os.path.realpath(name))
    with file_faults("write", name, RuleSheetError):
        if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
            raise RuleSheetError(f"cannot write {name}: it is not a writable file")
        write_whole(path, content)


def make_folder(name: str) -> Path:
    """Create a folder unless it exists, and return its path. Raises AnygameError."""
    path = Path(name)
    with file_faults("make the folder", path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def state_folder(name: str) -> Path:
    """Return the path of a file in the user's state folder. Raises RuntimeError without a home folder."""
    folder = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(folder) / "anygame" / name


def record_path(folder: str, record: Record) -> str:
    """Create a folder unless it exists, and return the path of a record in it. Raises AnygameError."""
    return str(make_folder(folder) / f"{record.match_id}.json")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file. Raises AnygameError."""
    with file_faults("write", path):
        write_whole(Path(path), text)


#: Maximum size in bytes of a sheet from standard input.
_INPUT_LIMIT: Final = 16 * 2**20


def read_game(name: str, options: ReadingOptions) -> Game:
    """Load the game of a command line; ``-`` is standard input. Raises RuleSheetError."""
    machine: MachineName = options.machine if isinstance(options, MachineOption) else "auto"
    read = partial(load, name)
    if name == "-":
        read = partial(loads, _standard_input(), name="<stdin>")
    elif find_installed(name) is None:
        _check_file(name)
    return read(case_sensitive=options.case_sensitive, lenient=options.lenient, machine=machine)


def sheet_source(name: str) -> Source:
    """Read the text of a sheet; ``-`` is standard input. Raises RuleSheetError."""
    if name == "-":
        return Source("<stdin>", _standard_input())
    if find_installed(name) is None:
        _check_file(name)
    return open_sheet(name)


def _check_file(name: str) -> None:
    if not name:
        raise RuleSheetError("expected the name of a rule sheet, found an empty one")
    path = Path(name)
    with file_faults("read", name, RuleSheetError):
        if path.is_dir():
            raise RuleSheetError(f"{name} is a folder, not a rule sheet{did_you_mean(_sheets_in(path, ''))}")
        if not path.exists():
            raise RuleSheetError(f"there is no file {name}{did_you_mean(_near(path))}")


def _standard_input() -> str:
    data = sys.stdin.buffer.read(_INPUT_LIMIT + 1)
    if len(data) > _INPUT_LIMIT:
        raise RuleSheetError(
            f"standard input has more than {_INPUT_LIMIT:,} bytes, the limit for a rule sheet"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RuleSheetError(
            f"standard input is not UTF-8 text: byte {error.start} cannot be read"
        ) from error


def _near(path: Path) -> list[str]:
    """Return the names of similar files or, if no file is similar, of similar installed games."""
    if path.parent.is_dir():
        stems = [str(path.with_name(path.name + suffix)) for suffix in SUFFIXES]
        near = [stem for stem in stems if Path(stem).is_file()] or _sheets_in(path.parent, path.name)
        if near:
            return near
    return nearest_games(path.name)


def _sheets_in(folder: Path, name: str) -> list[str]:
    """Return the files in a folder with a name like ``name``; for an empty name, up to three rule sheets."""
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return []
    sheets = [file for file in names if file.endswith(SUFFIXES)]
    if not name:
        return [str(folder / sheet) for sheet in sheets[:3]]
    stems = {Path(sheet).stem.lower(): sheet for sheet in sheets}
    near = [stems[stem] for stem in get_close_matches(Path(name).stem.lower(), stems, n=3, cutoff=0.6)]
    return [str(folder / file) for file in near or get_close_matches(name, names, n=3, cutoff=0.7)]
