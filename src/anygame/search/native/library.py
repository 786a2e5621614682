"""The native code of the search for this machine: found in the cache, or compiled once.

Its LLVM text is part of the package, made when that was built. A checkout has none, nor has one whose sources
have changed: there numba lowers the sources first.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import CompilationError
from anygame.network.kernels import native

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOURCES: Final = Path(__file__).parents[1]
#: What is native code and stands elsewhere.
_OTHERS: Final = (_SOURCES.parent / "proving" / "propagation.py",)
#: Where a package has the text of its sources.
TEXT: Final = Path(__file__).with_name("search.ll.gz")
#: Taken at once: sources that change while a program runs are not those that it has imported.
_DIGEST: Final = native.source_digest(_SOURCES, *_OTHERS)
_compiling: Final = Lock()
#: Lowers the sources below a path, whatever the environment leaves out of it, as that of a build by pip does.
_LOWER: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
    "runpy.run_module('anygame.search.native.lowering', run_name='__main__')"
)


def load(signatures: Mapping[str, tuple[Any, ...]]) -> native.Library:
    """Return the native code of these sources; it is compiled if nobody has done that before.

    Args:
        signatures: per function the ctypes of its result and of its parameters.

    Raises:
        CompilationError: it cannot be lowered.
        RuntimeError: LLVM cannot compile it.
    """
    key = f"search {_DIGEST}"
    with _compiling:
        found = native.find_library(key, signatures)
        return found or native.load_library(_image(key), signatures)


def _image(key: str) -> bytes:
    text = _shipped()
    if text is not None:
        try:
            return native.make_image(text, key, is_straight=False)
        except RuntimeError:  # an LLVM older than that of the text does not know all its words
            pass
    return native.make_image(_lowered(), key, is_straight=False)


def _shipped() -> str | None:
    """Return the text that came with the package, if it is that of these sources and whole."""
    try:
        digest, _, text = gzip.decompress(TEXT.read_bytes()).decode().partition("\n")
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return text if digest == f"; {_DIGEST}" else None


def ship(path: str) -> None:
    """Write the text of these sources, as packages have it.

    Raises:
        CompilationError: they cannot be lowered.
    """
    Path(path).write_bytes(gzip.compress(f"; {_DIGEST}\n{_lowered()}".encode(), mtime=0))


def _lowered() -> str:
    """Return the text of these sources, made by another process.

    Raises:
        CompilationError: it cannot be made.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment["NUMBA_OPT"] = "0"
    command = [sys.executable, "-c", _LOWER, str(_SOURCES.parents[1])]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise CompilationError(f"the search cannot be compiled: {error}") from error
    if done.returncode:
        last = next(reversed(done.stderr.strip().splitlines()), f"status {done.returncode}")
        raise CompilationError(f"the search cannot be compiled: {last}")
    return done.stdout
