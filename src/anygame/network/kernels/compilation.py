"""The final machine code of a kernel, compiled by another process while a loop over its gates stands in."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import threading
from collections import deque
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, Protocol
from weakref import ref

from anygame.native.cache import cache_folder
from anygame.native.code import make_image
from anygame.processes.inside import python_command

if TYPE_CHECKING:
    from anygame.network.network import Network

#: What the process begins with. It looks for modules where this one does, and imports no more of the package
#: than it needs: the whole of it takes as long as half a second.
_BOOTSTRAP: Final = """
import json, sys, types
sys.path[:] = json.loads(sys.argv[1])
sys.modules["anygame"] = types.ModuleType("anygame")
sys.modules["anygame"].__path__ = [sys.argv[2]]
from anygame.network.kernels.kernel import make_requested
make_requested()
"""
_PACKAGE: Final = Path(__file__).parents[2]


class Unfinished(Protocol):
    """A kernel that gets its final code later."""

    @property
    def network(self) -> Network:
        """Return the game."""

    @property
    def key(self) -> str:
        """Return what the code depends on."""

    @property
    def code(self) -> str:
        """Return LLVM's text form."""

    def take_over(self, image: bytes) -> None:
        """Go on with the final code, given as machine code."""


class Compilation:
    """The final code of a kernel, on its way. It comes in its turn, if the kernel still lives then.

    One process at a time compiles for all games of this one, and ends when it is done. It is a process, not a
    thread, since that would hold the interpreter and LLVM, and could not be left when a program ends. A
    program that ends earlier leaves it to fill the cache, for the next one.

    Args:
        kernel: what the code is for; its ``take_over`` is called in another thread.
    """

    def __init__(self, kernel: Unfinished) -> None:
        self._kernel = ref(kernel)
        self._folder = str(cache_folder() or "")
        self._done = threading.Event()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._succeeded = False
        _TURNS.add(self)

    def wait(self) -> bool:
        """Wait until it is over; return whether the kernel has its final code."""
        if os.getpid() == self._owner:  # a process that was forked off has nobody to wait for
            self._done.wait()
        return self._succeeded

    def begin(self) -> None:
        """Begin the other process, where that can be."""
        kernel = self._kernel()
        if kernel is not None:
            with contextlib.suppress(Exception):  # whatever it is: then the code is made here
                self._process = _begun(pickle.dumps((kernel.key, kernel.network)), self._folder)

    def finish(self) -> None:
        """Bring the code to the kernel when it is made."""
        try:
            image = self._image()
            kernel = self._kernel()
            with _LEAVING:
                if kernel is not None and image and not _LEAVING.now:
                    kernel.take_over(image)
                    self._succeeded = True
        except Exception:
            self._succeeded = False  # the loop goes on; who waits for the code makes it, and sees the error
        finally:
            self._done.set()

    def _image(self) -> bytes | None:
        if self._process is not None:
            return _answer(self._process, useful=bool(self._folder))
        kernel = self._kernel()
        if kernel is None:
            return None
        with _LEAVING:  # where no process can be begun, a program that ends has to wait for it
            folder = Path(self._folder) if self._folder else None
            return None if _LEAVING.now else make_image(kernel.code, kernel.key, folder)


def _begun(request: bytes, folder: str) -> subprocess.Popen[bytes]:
    """Return a process that makes machine code, and caches it in a folder.

    Raises:
        OSError: none can be begun.
    """
    with TemporaryFile() as file:  # a pipe would not hold all of it, should this process end soon
        file.write(request)
        file.seek(0)
        # In a session of its own Ctrl-C does not reach it.
        return subprocess.Popen(
            python_command(_BOOTSTRAP, str(_PACKAGE)),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANYGAME_CACHE": folder},
            start_new_session=True,
        )


def _answer(process: subprocess.Popen[bytes], *, useful: bool) -> bytes | None:
    """Return the machine code that a process made, None where it failed."""
    _LEAVING.useless = None if useful else process
    image, _ = process.communicate()
    _LEAVING.useless = None
    return image if process.returncode == 0 and image else None


class _Leaving:
    """Whether this process is about to end; while it is held, it waits with that.

    Attributes:
        now: whether it is.
        useless: a process that then works for nobody, since nothing is cached.
    """

    def __init__(self) -> None:
        self.now = False
        self.useless: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def leave(self) -> None:
        with self:
            self.now = True
        process = self.useless
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()


class _Turns:
    """Compilations, one after the other in a thread that lives as long as there are some."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Compilation] = deque()
        self._is_working = False

    def add(self, compilation: Compilation) -> None:
        with self._lock:
            self._waiting.append(compilation)
            if self._is_working:
                return
            self._is_working = True
        # Here and now: a program that ends soon leaves a process that has begun, but no thread.
        compilation.begin()
        with contextlib.suppress(RuntimeError):  # a program that is ending can begin no thread
            threading.Thread(target=self._work, name="anygame-compiling", daemon=True).start()

    def _next(self) -> Compilation | None:
        with self._lock:
            self._is_working = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None

    def _work(self) -> None:
        first = True
        while (compilation := self._next()) is not None:
            if not first:
                compilation.begin()
            compilation.finish()
            first = False
            del compilation


_LEAVING: Final = _Leaving()
_TURNS: Final = _Turns()
atexit.register(_LEAVING.leave)


def _begin_anew() -> None:
    """Forget, in a process that was forked off, threads that it does not have and what they held."""
    _LEAVING.__init__()  # type: ignore[misc]
    _TURNS.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
