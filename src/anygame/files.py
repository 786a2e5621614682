"""Files: atomic writes, bounded reads, and readable messages for errors of the operating system."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from anygame.errors import AnygameError
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Maximum number of characters that the name of a temporary file takes from the name of the file.
_PREFIX: Final = 100


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for an atomic write: readers see either the old file or the complete new file.

    The new file is flushed to disk, gets the mode of the old file, and replaces it. Raises OSError.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_PREFIX]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def write_whole(path: Path, *parts: str | bytes) -> None:
    """Write the parts of a file atomically; see ``whole_file``."""
    with whole_file(path) as file:
        for part in parts:
            file.write(part.encode() if isinstance(part, str) else part)


@contextmanager
def file_faults(
    what: str, path: str | os.PathLike[str], kind: type[AnygameError] = AnygameError
) -> Iterator[None]:
    """Convert an operating-system error about a file into an error of class ``kind``, with the reason."""
    try:
        yield
    except AnygameError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, UnicodeDecodeError):
            reason = f"it is not UTF-8 text: byte {error.start} cannot be decoded"
        raise kind(f"cannot {what} {shown(str(path), 200)}: {reason}") from error


def read_bounded(path: str | os.PathLike[str], most: int, meant: str, kind: type[AnygameError]) -> bytes:
    """Return the bytes of a file; raise ``kind`` if the file is unreadable or has more than ``most`` bytes.

    ``meant`` describes the expected content, for the message about a file with more bytes.
    """
    with file_faults("read", path, kind), Path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise kind(f"{path} has more than {most:,} bytes: not {meant}")
    return data


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
