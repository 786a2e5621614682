"""The native code of a room of this package: read from the cache, or compiled once for this machine.

A room is a folder of ``anygame`` whose ``NATIVE_MODULES`` name its modules of marked functions. The build of
a package stores the LLVM text of each room. In a checkout, or if the sources have changed since the build,
numba lowers the sources first.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import CompilationError
from anygame.native.code import Library, find_library, load_library, make_image, source_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE: Final = Path(__file__).parent
_compiling: Final = Lock()
#: Program that lowers the functions of a folder. For builds by pip, the program adds the sources to the path.
_LOWER: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
    "runpy.run_module('anygame.native.lowering', run_name='__main__')"
)


def text_of(room: str) -> Path:
    """Return the path of the LLVM text of a room in an installed package."""
    return _HERE / f"{room}.ll.gz"


@cache
def digest_of(room: str) -> str:
    """Return a digest of the sources of a room and of ``anygame.native`` at the time of the first call."""
    return source_digest(_HERE, _HERE.parent / room)


def load(room: str, signatures: Mapping[str, tuple[Any, ...]]) -> Library:
    """Return the native code of a room; compile it unless it is cached.

    Raises CompilationError if numba cannot lower the sources, and RuntimeError if LLVM fails.
    """
    key = f"{room} {digest_of(room)}"
    with _compiling:
        return find_library(key, signatures) or load_library(_image(room, key), signatures)


def _image(room: str, key: str) -> bytes:
    text = _shipped(room)
    if text is not None:
        try:
            return make_image(text, key, is_straight=False)
        except RuntimeError:  # an older LLVM may not know instructions of the text
            pass
    return make_image(_lowered(room), key, is_straight=False)


def _shipped(room: str) -> str | None:
    """Return the packaged text of a room; None if it is missing, damaged or from different sources."""
    try:
        digest, _, text = gzip.decompress(text_of(room).read_bytes()).decode().partition("\n")
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return text if digest == f"; {digest_of(room)}" else None


def ship(room: str) -> None:
    """Write the LLVM text of a room, for the build of a package."""
    text_of(room).write_bytes(gzip.compress(f"; {digest_of(room)}\n{_lowered(room)}".encode(), mtime=0))


def _lowered(room: str) -> str:
    """Return the LLVM text of a room, which numba produces in another process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment["NUMBA_OPT"] = "0"
    command = [sys.executable, "-c", _LOWER, str(_HERE.parents[1]), room]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise CompilationError(f"the native code of {room} cannot be compiled: {error}") from error
    if done.returncode:
        last = next(reversed(done.stderr.strip().splitlines()), f"status {done.returncode}")
        raise CompilationError(f"the native code of {room} cannot be compiled: {last}")
    return done.stdout
