"""The functions of the search over lanes: compiled by a process of their own, once on a machine, then loaded.

Compiling takes long, and threads of Python beside it hardly get on. So another process does it, which gives
way to all others. Whoever comes meanwhile waits for it. It goes on although the process that began it ends,
and leaves its code in the cache. Where nothing can be cached, the code is compiled here.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from anygame.network.kernels.native import cache_folder, own_folder, source_digest, target

try:
    import fcntl
except ImportError:  # not on every system: there, two processes may compile the same
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["main", "prepare"]

#: How much all others come before the process that compiles, where they share a core.
_NICE: Final = 5
#: What the process begins with. It looks for modules where this one does.
_BOOTSTRAP: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anygame.search.preparing import main; main(sys.argv[2])"
)
_LOADING: Final = Lock()


def prepare() -> None:
    """Have the functions of the search ready; it takes long if that was not done before on this machine.

    Other threads go on meanwhile.
    """
    note = _note()
    if note is not None:
        with suppress(OSError):  # whatever hinders the other process: then the code is compiled here
            _have_compiled(note)
    with _LOADING:
        _load()


def main(note: str) -> None:
    """Compile the functions of the search into the cache, then leave a note of that, given by its path."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    _load()
    Path(note).write_bytes(b"compiled\n")


def _load() -> None:
    # Numba, which compiles the tree, is loaded for searches alone.
    from anygame.search.tree.tree import prepare

    prepare()


def _note() -> Path | None:
    """Return the file that tells whether the code of this version is cached; None where nothing is."""
    cache = cache_folder()
    if cache is None or not own_folder(cache / "prepared"):
        return None
    made_of = (
        source_digest(Path(__file__).parent),
        target(),
        version("numba"),
        version("numpy"),
        sys.version,
    )
    return cache / "prepared" / hashlib.sha256("\0".join(made_of).encode()).hexdigest()


def _have_compiled(note: Path) -> None:
    """Wait until a process has compiled the functions: another's, or else our own.

    Raises:
        OSError: no process can be begun.
    """
    if _is_compiled(note):
        return
    with note.open("ab") as file:
        locked = _lock(file)
        if _is_compiled(note):
            return
        # The lock is held by both processes. In a session of its own Ctrl-C does not reach the other.
        options: dict[str, Any] = {"pass_fds": (file.fileno(),)} if locked else {}
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, json.dumps(sys.path), str(note)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )
    process.wait()


def _is_compiled(note: Path) -> bool:
    return note.exists() and note.stat().st_size > 0


def _lock(file: BinaryIO) -> bool:
    """Wait until no other process compiles; return whether others wait from now on."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:  # not on every file system
        return False
    return True
