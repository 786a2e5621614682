"""Files of arrays with a header: uncompressed ``npz`` files of NumPy without pickle, written atomically.

The checksums of the format reveal damaged files. Readers never allocate more memory than the file's size.
"""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

from anygame.errors import AnygameError, ModelError
from anygame.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

#: Name of the array that holds the header, which is encoded JSON.
_HEADER: Final = "header"
#: Default maximum size in bytes of a file, enough for a checkpoint with the weights of a million fluents.
_LARGEST: Final = 1 << 29
#: Errors that ``numpy`` and ``zipfile`` raise for damaged files and files of other formats.
_UNREADABLE: Final = (
    BadZipFile,
    EOFError,
    ValueError,
    KeyError,
    RuntimeError,
    MemoryError,
    OverflowError,
    struct.error,
    zlib.error,
)


def write_arrays(
    path: Path,
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    error: type[AnygameError] = ModelError,
) -> None:
    """Write a header and arrays to a file; raise ``error`` if the file cannot be written."""
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            np.savez(file, allow_pickle=False, **{_HEADER: text, **arrays})
    except OSError as fault:
        raise error(f"cannot write {path}: {fault.strerror or fault}") from fault


def read_arrays(
    path: Path, kind: str, error: type[AnygameError] = ModelError, most: int = _LARGEST
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file.

    Args:
        path: path of the file.
        kind: the expected ``format`` in the header.
        error: the error to raise if the file cannot be read, has another format, or is damaged.
        most: maximum size of the file in bytes.
    """
    with _opened(path, kind, error, most) as (header, arrays):
        return header, {name: arrays[name] for name in arrays if name != _HEADER}


def read_header(path: Path, kind: str, error: type[AnygameError] = ModelError) -> dict[str, Any]:
    """Return the header of a file of any size; see ``read_arrays``."""
    with _opened(path, kind, error, None) as (header, _):
        return header


@contextmanager
def _opened(
    path: Path, kind: str, error: type[AnygameError], most: int | None
) -> Iterator[tuple[dict[str, Any], Mapping[str, NDArray[Any]]]]:
    """Open a file. An access to an array reads the array from the file."""
    try:
        _check_sizes(path, most)
        with np.load(path, allow_pickle=False) as file:
            yield _header(file, path, kind, error), file
    except AnygameError:
        raise
    except OSError as fault:
        raise error(f"cannot read {path}: {fault.strerror or fault}") from fault
    except _UNREADABLE as fault:
        what = fault or "the file is truncated"
        raise error(f"{path} is not a valid {kind!r} file, or it is damaged: {what}") from fault


def _check_sizes(path: Path, most: int | None) -> None:
    size = path.stat().st_size
    if most is not None and size > most:
        raise ValueError(f"the file is larger than {most >> 20} MiB")
    with ZipFile(path) as file:
        parts = file.infolist()
        if any(part.compress_type != ZIP_STORED for part in parts) or sum(p.file_size for p in parts) > size:
            raise ValueError("the arrays in the file are compressed")


def _header(
    file: Mapping[str, NDArray[Any]], path: Path, kind: str, error: type[AnygameError]
) -> dict[str, Any]:
    text = file[_HEADER].tobytes() if _HEADER in file else b""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    actual = header.get("format") if isinstance(header, dict) else None
    if not isinstance(header, dict) or actual != kind:
        what = f"the format is {actual[:40]!r}" if isinstance(actual, str) else "the header is missing"
        raise error(f"{path} is not a valid {kind!r} file: {what}")
    return header
