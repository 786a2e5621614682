"""Machine code from LLVM's text form, made here or by another process, and cached across processes.

The only module that knows llvmlite, which it imports when code is first needed.

A cached file is named by its key, a digest of the code and of all that it is compiled for. It holds a digest
of key and image, and the image: what is damaged, or lies under another one's name, is not loaded.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import threading
from collections import deque
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import ref

from anygame.processes.inside import python_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.network.network import Network


#: What the cached machine code of all games may take together; the oldest goes first. A usual game has
#: 10 to 300 kB, the largest ones a few MB.
CACHE_BYTES = 256 << 20
_MAGIC = b"anygame machine code 2\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_SUFFIX = ".code"
#: What LLVM does by default for code that is straight, as that of games: faster to compile, no slower to run.
_EFFORT = 1
#: What graphics cards are to LLVM; redux.sync is in them from compute capability 8.0 on.
_CARD: Final = "nvptx64-nvidia-cuda"
#: For loops and calls.
_FULL_EFFORT = 3


class Library:
    """Compiled functions. They hold no Python object and release the interpreter lock while they run.

    Attributes:
        cached: whether the machine code was found, not made.
        functions: by name; they may be replaced, after which all that call them look for them anew.
        addresses: the same as numbers.
    """

    def __init__(self, engine: Any, signatures: Mapping[str, tuple[Any, ...]], cached: bool) -> None:
        self._engines = [engine]
        self.cached = cached
        self.addresses: dict[str, int] = {name: engine.get_function_address(name) for name in signatures}
        self.functions = {
            name: ctypes.CFUNCTYPE(result, *parameters)(self.addresses[name])
            for name, (result, *parameters) in signatures.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self.functions[name]

    def replace(self, other: Library) -> None:
        """Have the functions of another library from now on; calls of the old ones may be under way."""
        self._engines += other._engines
        self.addresses.update(other.addresses)
        self.functions.update(other.functions)


def compile_library(
    code: str, signatures: Mapping[str, tuple[Any, ...]], cache: Path | None = None
) -> Library:
    """Compile LLVM's text form for this machine, or find what was compiled before.

    Args:
        code: definitions of functions, without target lines.
        signatures: per function to be called the ctypes of its result and of its parameters.
        cache: the folder of cached machine code; None for :func:`cache_folder`.
    """
    found = find_library(code, signatures, cache)
    return found or load_library(make_image(code, code, cache), signatures)


def link_library(
    code: str,
    shared: Iterable[str],
    signatures: Mapping[str, tuple[Any, ...]],
    cache: Path | None = None,
    *,
    keep: bool = True,
) -> Library:
    """Return a library of code that calls other code, which is compiled once.

    Args:
        code: definitions of functions, without target lines, and declarations of what they call.
        shared: modules of what is called: each is cached on its own.
        signatures: per function to be called the ctypes of its result and of its parameters.
        cache: the folder of cached machine code; None for :func:`cache_folder`.
        keep: whether the machine code of the first is cached, too.
    """
    found = _cached_image(code, cache) if keep else None
    image = make_image(code, code if keep else "", cache) if found is None else found
    called = [_shared_image(each, cache) for each in shared]
    return load_library(image, signatures, found is not None, called)


@functools.lru_cache(maxsize=1024)
def _shared_image(code: str, cache: Path | None) -> bytes:
    return _cached_image(code, cache) or make_image(code, code, cache)


def _cached_image(key: str, cache: Path | None) -> bytes | None:
    path = _path(key, cache)
    return read_cached(path) if path else None


def find_library(
    key: str, signatures: Mapping[str, tuple[Any, ...]], cache: Path | None = None
) -> Library | None:
    """Return a cached library, None without one; the key is that of `make_image`."""
    image = _cached_image(key, cache)
    return None if image is None else load_library(image, signatures, cached=True)


def make_image(code: str, key: str = "", cache: Path | None = None, *, is_straight: bool = True) -> bytes:
    """Compile LLVM's text form for this machine, cache what comes out, and return it.

    Args:
        code: definitions of functions, without target lines.
        key: what it is found by, the code itself or a text that decides what that is; where there is none,
            nothing is cached.
        cache: the folder of cached machine code; None for :func:`cache_folder`.
        is_straight: whether it has no loops and calls that are worth the time of all of LLVM's passes.

    Raises:
        RuntimeError: LLVM cannot read it.
    """
    llvm = _llvm()[0]
    machine = _machine(llvm, _EFFORT if is_straight else _FULL_EFFORT)
    image = bytes(machine.emit_object(_optimise(llvm, machine, code, is_straight)))
    path = _path(key, cache) if key else None
    if path:
        write_cached(path, image)
    return image


def make_ptx(code: str) -> str:
    """Compile LLVM's text form to PTX, for graphics cards from the generation of 2020 on, or find it cached.

    Raises:
        RuntimeError: LLVM cannot read it, or was built without what writes PTX.
    """
    llvm = _llvm()[0]
    key = "ptx\0" + code
    found = _cached_image(key, None)
    if found is not None:
        return found.decode()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_CARD).create_target_machine(
        cpu="sm_80", features="+ptx70", opt=_FULL_EFFORT
    )
    module = llvm.parse_assembly(f'target triple = "{_CARD}"\n{code}')
    module.data_layout = str(machine.target_data)
    passes = llvm.create_new_module_pass_manager()
    for add in (
        passes.add_always_inliner_pass,
        passes.add_sroa_pass,
        passes.add_simplify_cfg_pass,
        passes.add_global_dead_code_eliminate_pass,
    ):
        add()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(_EFFORT)))
    ptx = str(machine.emit_assembly(module))
    path = _path(key, None)
    if path:
        write_cached(path, ptx.encode())
    return ptx


def load_library(
    image: bytes,
    signatures: Mapping[str, tuple[Any, ...]],
    cached: bool = False,
    called: Iterable[bytes] = (),
) -> Library:
    """Return the functions of machine code, given that of what it calls besides."""
    llvm = _llvm()[0]
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
    for each in (*called, image):
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(each))
    engine.finalize_object()
    return Library(engine, signatures, cached)


def source_digest(folder: Path, *others: Path) -> str:
    """Return a digest of the Python sources in a folder, in the order of their names, and of other files."""
    found = hashlib.sha256()
    for path in [*sorted(folder.rglob("*.py")), *others]:
        found.update(path.read_bytes())
    return found.hexdigest()


def cache_folder() -> Path | None:
    """Return the folder of cached machine code, or None where nothing shall be cached.

    ``ANYGAME_CACHE`` names another one; empty, it switches the cache off.
    """
    chosen = os.environ.get("ANYGAME_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # A home that cannot be found stays "~": no place to write to.
    return Path(base) / "anygame" if base and os.path.isabs(base) else None


def _path(key: str, cache: Path | None) -> Path | None:
    """Return where machine code is cached, None where nothing is."""
    folder = cache_folder() if cache is None else cache
    name = hashlib.sha256("\0".join((_llvm()[1], str(_EFFORT), key)).encode()).hexdigest()
    return folder / (name + _SUFFIX) if folder else None


@functools.cache
def _llvm() -> tuple[Any, str]:
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = "\0".join(
        (llvmlite.__version__, llvm.get_process_triple(), llvm.get_host_cpu_name(), _features(llvm))
    )
    return llvm, target


def _features(llvm: Any) -> str:
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # not known on every system; the name of the processor has to do
        return ""


def _machine(llvm: Any, effort: int = _EFFORT) -> Any:
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(llvm), opt=effort, jit=True
    )


def _optimise(llvm: Any, machine: Any, code: str, is_straight: bool = True) -> Any:
    module = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"\n{code}')
    module.data_layout = str(machine.target_data)
    effort = _EFFORT if is_straight else _FULL_EFFORT
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(effort))
    if is_straight:
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    return module


def read_cached(path: Path) -> bytes | None:
    """Return what was cached, if it is whole, belongs to its key, and nobody else can have written it."""
    try:
        if not _is_ours(path.parent.lstat()):
            return None
        # Whatever lies there, opening it neither follows a link nor waits for somebody to write.
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
        os.utime(path)  # the oldest is the longest unused
    return image


def _digest(path: Path, image: bytes) -> bytes:
    return hashlib.sha256(path.stem.encode() + b"\0" + image).digest()


def _is_ours(status: os.stat_result) -> bool:
    if sys.platform == "win32":  # the folder lies in the profile of the user
        return True
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not shared and not stat.S_ISLNK(status.st_mode)


def write_cached(path: Path, image: bytes, most: int | None = None) -> None:
    """Cache something; a folder that cannot be written to is no harm.

    Args:
        path: of the file. Those in its folder with the same ending make room for it, the oldest first.
        image: what is cached.
        most: bytes of all these files; None for those of machine code.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(path.parent.lstat()):
            return
        if path.is_dir() and not path.is_symlink():
            path.rmdir()  # unless something is in it; nothing else is in the way of a file
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
