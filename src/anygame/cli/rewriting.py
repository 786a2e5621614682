"""What commands write: rule sheets, printed or as changes, and files, as a whole or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from anygame.errors import AnygameError, RuleSheetError
from anygame.language.installed import find_installed
from anygame.language.writing import write_parts_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.language.source import Source
    from anygame.match.record import Record


def check_writable(name: str) -> None:
    """Refuse to write what is no file of the user's.

    Raises:
        RuleSheetError: it is standard input, or a game that comes with the package.
    """
    if name == "-":
        raise RuleSheetError("standard input cannot be written; leave out --write")
    if find_installed(name) is not None:
        raise RuleSheetError(f"{name} comes with the package and is not changed; leave out --write")


def print_sheet(text: str) -> None:
    """Print a sheet as UTF-8 with plain line ends, whatever the system's habits are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def print_changes(source: Source, text: str) -> None:
    """Print what becomes of a sheet, as `diff -u` does."""
    before, after = (part.splitlines(keepends=True) for part in (source.text, text))
    for line in unified_diff(before, after, source.name, source.name):
        print(line.rstrip("\r\n"))


def replace_sheet(name: str, content: str | bytes) -> None:
    """Write a file as a whole or not at all; an existing one keeps its mode, and a link its target.

    Raises:
        RuleSheetError: it cannot be written.
    """
    path = Path(os.path.realpath(name))
    with named_faults("write", name, RuleSheetError):
        if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
            raise RuleSheetError(f"cannot write {name}: it is no file that may be changed")
        write_parts_whole(path, [content.encode() if isinstance(content, str) else content])


def make_folder(name: str) -> Path:
    """Return a folder, made if it is missing.

    Raises:
        AnygameError: it cannot be made.
    """
    path = Path(name)
    with named_faults("make the folder", path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def state_folder(name: str) -> Path:
    """Return where this program keeps what has a name. Raises RuntimeError where nobody has a home."""
    folder = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(folder) / "anygame" / name


def record_path(folder: str, record: Record) -> str:
    """Return where a record is kept in a folder, which is made if it is missing; raises as `make_folder`."""
    return str(make_folder(folder) / f"{record.match_id}.json")


def write_picture(path: Path, drawing: str) -> None:
    """Write a drawing, as a whole or not at all.

    Raises:
        AnygameError: it cannot be written.
    """
    with named_faults("write", path):
        write_parts_whole(path, [drawing.encode()])


@contextmanager
def named_faults(what: str, path: str | Path, kind: type[AnygameError] = AnygameError) -> Iterator[None]:
    """Raise what the system says of a file as an error for people: what cannot be done, and why."""
    try:
        yield
    except AnygameError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise kind(f"cannot {what} {str(path)[:200]!r}: {reason}") from error
