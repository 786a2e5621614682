"""Compilation of a kernel's final code in another process, while the kernel uses a loop over its gates."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import threading
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final
from weakref import ref

from anygame.native.cache import cache_folder
from anygame.native.code import make_image
from anygame.processes.inside import python_command

if TYPE_CHECKING:
    from anygame.network.kernels.kernel import Kernel

#: Program of the compiling process, with the import path of this process. It imports only a part of the
#: package, since importing the whole package takes up to 0.5 s.
_BOOTSTRAP: Final = """
import json, sys, types
sys.path[:] = json.loads(sys.argv[1])
sys.modules["anygame"] = types.ModuleType("anygame")
sys.modules["anygame"].__path__ = [sys.argv[2]]
from anygame.network.kernels.kernel import make_requested
make_requested()
"""


class Compilation:
    """Compiles a kernel's final code in another process; then a thread calls ``kernel.take_over``.

    One process at a time compiles for all games of this program. Compiling in a thread would block the
    interpreter and LLVM, and delay the end of the program. If the program ends first, the process still fills
    the cache for the next program. No process starts for a kernel that was deleted in the meantime.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = ref(kernel)
        self._folder = str(cache_folder() or "")
        self._done = threading.Event()
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._succeeded = False
        has_turn = _PROGRAM.turn.acquire(blocking=False)
        if has_turn:  # start the process here, since it can outlive the program; the thread cannot
            self._start()
        with contextlib.suppress(RuntimeError):  # while the interpreter shuts down, no thread can be started
            threading.Thread(target=self._run, args=[has_turn], name="anygame-compiling", daemon=True).start()

    def wait(self) -> bool:
        """Wait for the end of the compilation; return whether the kernel has its final code."""
        if os.getpid() == self._owner:  # in a forked process, the compiling thread does not exist
            self._done.wait()
        return self._succeeded

    def _start(self) -> None:
        kernel = self._kernel()
        if kernel is not None:
            with contextlib.suppress(Exception):  # if no process can be started, the thread compiles the code
                self._process = _begun(pickle.dumps((kernel.key, kernel.network)), self._folder)

    def _run(self, has_turn: bool) -> None:
        if not has_turn:
            _PROGRAM.turn.acquire()
            self._start()
        try:
            image = self._image()
            kernel = self._kernel()
            with _PROGRAM.lock:
                if kernel is not None and image and not _PROGRAM.ends:
                    kernel.take_over(image)
                    self._succeeded = True
        except Exception:
            # The kernel keeps its loop. ``Kernel.finish`` compiles the code again, and raises the error.
            self._succeeded = False
        finally:
            self._done.set()
            _PROGRAM.turn.release()

    def _image(self) -> bytes | None:
        if self._process is not None:
            _PROGRAM.useless = None if self._folder else self._process
            image, _ = self._process.communicate()
            _PROGRAM.useless = None
            return image if self._process.returncode == 0 and image else None
        kernel = self._kernel()
        if kernel is None:
            return None
        with _PROGRAM.lock:  # the program must not end during this compilation
            folder = Path(self._folder) if self._folder else None
            return None if _PROGRAM.ends else make_image(kernel.code, kernel.key, folder)


def _begun(request: bytes, folder: str) -> subprocess.Popen[bytes]:
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


class _Program:
    """The state that all compilations of this program share.

    Attributes:
        turn: lock that the running compilation holds.
        useless: the running process if its code is not cached; the program kills this process at its end.
        lock: while a thread holds this lock, the program does not end.
        ends: whether the program is ending.
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.useless: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.ends = False

    def end(self) -> None:
        with self.lock:
            self.ends = True
        process = self.useless
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()


_PROGRAM: Final = _Program()
atexit.register(_PROGRAM.end)
if hasattr(os, "register_at_fork"):
    # A forked process lacks the threads of its parent, but a thread may hold a lock at the fork.
    os.register_at_fork(after_in_child=_PROGRAM.__init__)  # type: ignore[misc]
