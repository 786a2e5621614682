"""Files of arrays with a header: numpy's ``npz`` without pickle, whole or not at all.

Each array has a checksum, and none is larger than the file: damaged and other files are refused.
"""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from anygame.errors import ModelError
from anygame.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

#: The name of the array of the header: JSON as bytes.
_HEADER: Final = "header"
#: Bytes of the largest file: weights of a million fluents, and the state of their learning.
_LARGEST: Final = 1 << 29
#: Errors of numpy and zip files for other or damaged files.
_UNREADABLE: Final = (
    BadZipFile,
    EOFError,
    ValueError,
    KeyError,
    NotImplementedError,
    MemoryError,
    zlib.error,
)


def write_arrays(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a header and arrays to a file; the earlier file stays until all is on the disk.

    Raises:
        ModelError: it cannot be written.
    """
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **{_HEADER: text, **arrays})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getbuffer())
    except OSError as error:
        raise ModelError(f"cannot write {path}: {error.strerror or error}") from error


def read_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file.

    Args:
        path: of the file.
        kind: the expected ``format`` in the header.

    Raises:
        ModelError: it cannot be read, is something else, or damaged.
    """
    try:
        arrays = _arrays(path)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    except _UNREADABLE as error:
        raise ModelError(f"{path} is no {kind!r}, or damaged: {error or 'it ends too early'}") from error
    try:
        header = json.loads(arrays.pop(_HEADER).tobytes())
    except (KeyError, ValueError, RecursionError):
        header = None
    found = header.get("format") if isinstance(header, dict) else None
    if not isinstance(header, dict) or found != kind:
        what = f"is {found[:40]!r}" if isinstance(found, str) else "has no such header"
        raise ModelError(f"{path} is no {kind!r}: it {what}")
    return header, arrays


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST >> 20} MiB")
    with ZipFile(path) as file:
        parts = file.infolist()
        if (
            any(part.compress_type != ZIP_STORED for part in parts)
            or sum(part.file_size for part in parts) > _LARGEST
        ):
            raise ValueError("its arrays are not stored as they are")
    with np.load(path, allow_pickle=False) as found:
        return dict(found)
