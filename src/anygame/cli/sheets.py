"""Rule sheets from the command line: a file, a game that comes with the package, or standard input.

Where a name is mistyped, the nearest ones are named.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.rewriting import named_faults
from anygame.cli.shared_options import MachineOption
from anygame.errors import RuleSheetError
from anygame.game.loading import load, loads
from anygame.language.installed import SUFFIXES, find_installed, nearest_games, open_sheet
from anygame.language.source import Source

if TYPE_CHECKING:
    from anygame.cli.shared_options import ReadingOptions
    from anygame.game.backends import MachineName
    from anygame.game.game import Game

_INPUT_LIMIT: Final = 16 * 2**20


def read_game(name: str, options: ReadingOptions) -> Game:
    """Load the game that a command line names, as its options say; ``-`` is standard input.

    Raises:
        RuleSheetError: there is no such file, or its rules cannot be used.
    """
    machine: MachineName = options.machine if isinstance(options, MachineOption) else "auto"
    read = partial(load, name)
    if name == "-":
        read = partial(loads, _standard_input(), name="<stdin>")
    elif find_installed(name) is None:
        _check_file(name)
    return read(case_sensitive=options.case_sensitive, lenient=options.lenient, machine=machine)


def sheet_source(name: str) -> Source:
    """Read the text of the rule sheet that a command line names; ``-`` is standard input.

    Raises:
        RuleSheetError: there is no such file, or it is no text.
    """
    if name == "-":
        return Source("<stdin>", _standard_input())
    if find_installed(name) is None:
        _check_file(name)
    return open_sheet(name)


def _check_file(name: str) -> None:
    if not name:
        raise RuleSheetError("expected the name of a rule sheet, found an empty one")
    path = Path(name)
    with named_faults("read", name, RuleSheetError):
        if path.is_dir():
            raise RuleSheetError(f"{name} is a folder, not a rule sheet{_advice(_sheets_in(path, ''))}")
        if not path.exists():
            raise RuleSheetError(f"there is no file {name}{_advice(_near(path))}")


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
    """Return names of files like the one that is missing, or of games like it."""
    if path.parent.is_dir():
        stems = [str(path.with_name(path.name + suffix)) for suffix in SUFFIXES]
        near = [stem for stem in stems if Path(stem).is_file()] or _sheets_in(path.parent, path.name)
        if near:
            return near
    return nearest_games(path.name)


def _sheets_in(folder: Path, name: str) -> list[str]:
    """Return the files of a folder whose names are like this one; a few rule sheets for an empty name."""
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return []
    sheets = [other for other in names if other.endswith(SUFFIXES)]
    if not name:
        return [str(folder / sheet) for sheet in sheets[:3]]
    stems = {Path(other).stem.lower(): other for other in sheets}
    near = [stems[stem] for stem in get_close_matches(Path(name).stem.lower(), stems, n=3, cutoff=0.6)]
    return [str(folder / other) for other in near or get_close_matches(name, names, n=3, cutoff=0.7)]


def _advice(names: list[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""
