"""Where the records of matches are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anygame.errors import RecordError

if TYPE_CHECKING:
    from anygame.match.record import Record


def record_path(folder: str, record: Record) -> str:
    """Return where a record is kept in a folder; make the folder.

    Raises:
        RecordError: the folder cannot be made.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"cannot make the folder {folder}: {reason}") from error
    return str(Path(folder) / f"{record.match_id}.json")
