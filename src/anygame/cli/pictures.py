"""Writing pictures: the faults of files are those of the command line."""

from __future__ import annotations

from pathlib import Path

from anygame.errors import AnygameError
from anygame.language.writing import write_whole


def make_folder(name: str) -> Path:
    """Return a folder, made if it is missing.

    Raises:
        AnygameError: it cannot be made.
    """
    path = Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _fault("make the folder", path, error) from error
    return path


def write_picture(path: Path, drawing: str) -> None:
    """Write a drawing, as a whole or not at all.

    Raises:
        AnygameError: it cannot be written.
    """
    try:
        write_whole(path, drawing)
    except (OSError, ValueError) as error:
        raise _fault("write", path, error) from error


def _fault(what: str, path: Path, error: Exception) -> AnygameError:
    return AnygameError(f"cannot {what} {str(path)[:200]!r}: {getattr(error, 'strerror', None) or error}")
