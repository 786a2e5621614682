"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

#: Names have a limit on every system, and the temporary one is longer.
_PREFIX: Final = 100


def write_whole(path: Path, *parts: str | bytes | memoryview) -> None:
    """Write a file's parts beside it and move them there: whoever looks finds the old file or the new one.

    It is on the disk before it is moved. A file that is there keeps its mode. Raises OSError.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_PREFIX]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part.encode() if isinstance(part, str) else part)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
