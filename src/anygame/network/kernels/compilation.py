"""Compilation of a kernel's final code in another process, while the kernel uses a loop over its gates."""

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
from typing import TYPE_CHECKING, Final
from weakref import ref

from anygame.native.cache import cache_folder
from anygame.native.code import make_image
from anygame.processes.inside import python_command

if TYPE_CHECKING:
    from anygame.network.kernels.kernel import Kernel

#: Program of the other process, with the import path of this process. It imports only a part of the package,
#: since importing the whole package takes up to 0.5 s.
_BOOTSTRAP: Final = """
import json, sys, types
sys.path[:] = json.loads(sys.argv[1])
sys.modules["anygame"] = types.ModuleType("anygame")
sys.modules["anygame"].__path__ = [sys.argv[2]]
from anygame.network.kernels.kernel import make_requested
make_requested()
"""


class Compilation:
    """A queued compilation of a kernel's final code, which then calls ``kernel.take_over`` in a thread.

    One process at a time compiles for all games of this program. A thread would block the interpreter and
    LLVM, and the program could not end before the thread. If the program ends first, the process still fills
    the cache for the next program. The queue drops the compilations of deleted kernels.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = ref(kernel)
        self._folder = str(cache_folder() or "")
        self._done = threading.Event()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._succeeded = False
        _TURNS.add(self)

    def wait(self) -> bool:
        """Wait for the end of the compilation; return whether the kernel has its final code."""
        if os.getpid() == self._owner:  # a forked process has no compiling thread
            self._done.wait()
        return self._succeeded

    def begin(self) -> None:
        """Try to start the other process."""
        kernel = self._kernel()
        if kernel is not None:
            with contextlib.suppress(Exception):  # without the process, ``finish`` compiles the code
                self._process = _begun(pickle.dumps((kernel.key, kernel.network)), self._folder)

    def finish(self) -> None:
        """Wait for the code, and switch the kernel to it."""
        try:
            image = self._image()
            kernel = self._kernel()
            with _LEAVING.lock:
                if kernel is not None and image and not _LEAVING.now:
                    kernel.take_over(image)
                    self._succeeded = True
        except Exception:
            # The kernel keeps its loop. ``Kernel.finish`` compiles the code again, and raises the error.
            self._succeeded = False
        finally:
            self._done.set()

    def _image(self) -> bytes | None:
        if self._process is not None:
            _LEAVING.useless = None if self._folder else self._process
            image, _ = self._process.communicate()
            _LEAVING.useless = None
            return image if self._process.returncode == 0 and image else None
        kernel = self._kernel()
        if kernel is None:
            return None
        with _LEAVING.lock:  # the program must not end while this thread compiles
            folder = Path(self._folder) if self._folder else None
            return None if _LEAVING.now else make_image(kernel.code, kernel.key, folder)


def _begun(request: bytes, folder: str) -> subprocess.Popen[bytes]:
    """Start a process that compiles a requested kernel, and caches the code in a folder."""
    with TemporaryFile() as file:  # a pipe may be too small for the request, and breaks if this process ends
        file.write(request)
        file.seek(0)
        # In its own session, the process does not receive Ctrl-C.
        return subprocess.Popen(
            python_command(_BOOTSTRAP, str(Path(__file__).parents[2])),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ANYGAME_CACHE": folder},
            start_new_session=True,
        )


class _Leaving:
    """The end of this program, which waits for ``lock``, and kills the process whose code is ``useless``."""

    def __init__(self) -> None:
        self.now = False
        self.useless: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def leave(self) -> None:
        with self.lock:
            self.now = True
        process = self.useless
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()


class _Turns:
    """A queue of compilations, with a thread that processes them until the queue is empty."""

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
        # The process starts here, not in the thread: it outlives the program, and the thread does not.
        compilation.begin()
        with contextlib.suppress(RuntimeError):  # no thread can be started while the interpreter shuts down
            threading.Thread(target=self._work, name="anygame-compiling", daemon=True).start()

    def _next(self) -> Compilation | None:
        with self._lock:
            self._is_working = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None

    def _work(self) -> None:
        is_begun = True  # ``add`` has started the process of the first compilation
        while (compilation := self._next()) is not None:
            if not is_begun:
                compilation.begin()
            compilation.finish()
            is_begun = False
            del compilation


_LEAVING: Final = _Leaving()
_TURNS: Final = _Turns()
atexit.register(_LEAVING.leave)


def _begin_anew() -> None:
    # A forked process does not have the threads of its parent.
    _LEAVING.__init__()  # type: ignore[misc]
    _TURNS.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
