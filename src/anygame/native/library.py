"""The native code of a room of this package: read from the cache, or compiled once for this machine.

A room is a folder of ``anygame``. It registers its modules of marked functions as ``NATIVE_MODULES`` in its
``__init__``. The LLVM text of a room is part of an installed package, made when that was built. A checkout
has none, nor has a package whose sources have changed: there numba lowers the sources first.
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
#: Lowers a room of the sources below a path, which builds by pip leave out of the environment.
_LOWER: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
    "runpy.run_module('anygame.native.lowering', run_name='__main__')"
)


def text_of(room: str) -> Path:
    """Return where an installed package has the LLVM text of a room."""
    return _HERE / f"{room}.ll.gz"


@cache
def digest_of(room: str) -> str:
    """Return the digest of a room's sources and of this stage, as they were when it was first asked for."""
    return source_digest(_HERE, _HERE.parent / room)


def load(room: str, signatures: Mapping[str, tuple[Any, ...]]) -> Library:
    """Return the native code of a room; compile it unless it is cached.

    Args:
        room: the name of a folder of ``anygame``.
        signatures: per function the ctypes of its result and of its parameters.

    Raises:
        CompilationError: it cannot be lowered.
        RuntimeError: LLVM cannot compile it.
    """
    key = f"{room} {digest_of(room)}"
    with _compiling:
        return find_library(key, signatures) or load_library(_image(room, key), signatures)


def _image(room: str, key: str) -> bytes:
    text = _shipped(room)
    if text is not None:
        try:
            return make_image(text, key, is_straight=False)
        except RuntimeError:  # an LLVM older than that of the text does not know all its words
            pass
    return make_image(_lowered(room), key, is_straight=False)


def _shipped(room: str) -> str | None:
    """Return the text that came with the package, if it is whole and its sources have not changed."""
    try:
        digest, _, text = gzip.decompress(text_of(room).read_bytes()).decode().partition("\n")
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return text if digest == f"; {digest_of(room)}" else None


def ship(room: str) -> None:
    """Write the LLVM text of a room, as installed packages have it.

    Raises:
        CompilationError: they cannot be lowered.
    """
    text_of(room).write_bytes(gzip.compress(f"; {digest_of(room)}\n{_lowered(room)}".encode(), mtime=0))


def _lowered(room: str) -> str:
    """Return the text of a room's sources, made by another process.

    Raises:
        CompilationError: it cannot be made.
    """
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
