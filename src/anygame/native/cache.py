"""Files that cache machine code and certificates of proofs for all processes of a user.

The name of a file of machine code is a digest of the code's text and of the target machine. Each file begins
with a digest of its name and content, so that the cache can ignore damaged and renamed files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Maximum size in bytes of all cached machine code. The code of a typical game has 10 to 300 kB, and the
#: code of the largest games a few MB.
CACHE_BYTES = 256 << 20
_MAGIC = b"anygame machine code 2\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size


def cache_folder() -> Path | None:
    """Return the folder of cached machine code; None if ``ANYGAME_CACHE`` is empty."""
    return user_folder("ANYGAME_CACHE", "XDG_CACHE_HOME", "~/.cache")


def user_folder(variable: str, standard: str, default: str, *parts: str) -> Path | None:
    """Return the folder that an environment variable names; None if the variable is empty.

    If the variable is not set, the folder is ``anygame`` in the folder that the XDG variable ``standard``
    names, or else in ``default``. On Windows, ``anygame`` is in the folder for local application data.
    """
    chosen = os.environ.get(variable)
    if chosen is not None:
        return Path(chosen) if chosen else None
    is_windows = sys.platform == "win32"
    base = os.environ.get("LOCALAPPDATA" if is_windows else standard)
    base = base or ("" if is_windows else os.path.expanduser(default))
    # If the home folder is unknown, ``expanduser`` leaves "~" in the path, which is then not absolute.
    return Path(base, "anygame", *parts) if os.path.isabs(base) else None


def read_cached(path: Path) -> bytes | None:
    """Return the content of a cached file; None if the file is damaged or other users can write the file."""
    try:
        if not _is_ours(path.parent.lstat()):
            return None
        # Do not follow the file if it is a link, and do not block if it is a pipe.
        safely = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        with os.fdopen(os.open(path, os.O_RDONLY | safely), "rb") as file:
            status = os.fstat(file.fileno())
            if not (stat.S_ISREG(status.st_mode) and _is_ours(status)):
                return None
            if not _HEAD < status.st_size <= CACHE_BYTES:
                return None
            content = file.read(status.st_size)
    except OSError:
        return None
    image = content[_HEAD:]
    if content[:_HEAD] != _MAGIC + _digest(path, image):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # mark the file as recently used: the cache removes the oldest first
    return image


def _digest(path: Path, image: bytes) -> bytes:
    return hashlib.sha256(path.stem.encode() + b"\0" + image).digest()


def _is_ours(status: os.stat_result) -> bool:
    if sys.platform == "win32":  # other users cannot write to the folder in the user's profile
        return True
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not shared and not stat.S_ISLNK(status.st_mode)


def write_cached(path: Path, image: bytes, most: int | None = None) -> None:
    """Cache content in a file, and ignore errors of the file system.

    Then remove the oldest files with the same suffix in the folder, until the remaining files have at most
    ``most`` bytes together, by default ``CACHE_BYTES``.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(path.parent.lstat()):
            return
        if path.is_dir() and not path.is_symlink():
            path.rmdir()  # this fails if the folder is not empty; ``replace`` overwrites a file or link
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + _digest(path, image) + image)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
        _make_room(path.parent, path.suffix, CACHE_BYTES if most is None else most)


def _make_room(folder: Path, suffix: str, most: int) -> None:
    total = 0
    for _, size, path in sorted(_files(folder, suffix), reverse=True):
        if total + size > most:
            path.unlink(missing_ok=True)
        else:
            total += size


def _files(folder: Path, suffix: str) -> Iterator[tuple[float, int, Path]]:
    for path in folder.iterdir():
        if path.suffix == suffix:
            with contextlib.suppress(FileNotFoundError):
                status = path.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    yield status.st_mtime, status.st_size, path
