"""Machine code from LLVM's text form, cached across processes.

The only module that knows llvmlite, which it imports when code is first needed.

A cached file is named by its key, a digest of the code and of all that it is compiled for. It holds a digest
of key and image, and the image: what is damaged, or lies under another one's name, is not loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What the cached machine code of all games may take together; the oldest goes first. A usual game has
#: 10 to 300 kB, the largest ones a few MB.
CACHE_BYTES = 256 << 20
_MAGIC = b"anygame machine code 2\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_SUFFIX = ".code"
#: What LLVM does by default for code that is straight, as that of games: faster to compile, no slower to run.
_EFFORT = 1
#: For loops and calls.
_FULL_EFFORT = 3


class Library:
    """Compiled functions. They hold no Python object and release the interpreter lock while they run.

    Attributes:
        cached: whether the machine code was found, not made.
        size: bytes of machine code.
        functions: by name; they may be replaced, after which all that call them look for them anew.
        addresses: the same as numbers.
    """

    def __init__(
        self, engine: Any, signatures: Mapping[str, tuple[Any, ...]], cached: bool, size: int
    ) -> None:
        self._engines = [engine]
        self.cached = cached
        self.size = size
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
        self.size = other.size
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


def find_library(
    key: str, signatures: Mapping[str, tuple[Any, ...]], cache: Path | None = None
) -> Library | None:
    """Return what was compiled before, None where nothing was; the key is that of `make_image`."""
    path = _path(key, cache)
    image = _read(path) if path else None
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
        _write(path, image)
    return image


def load_library(image: bytes, signatures: Mapping[str, tuple[Any, ...]], cached: bool = False) -> Library:
    """Return the functions of machine code."""
    llvm = _llvm()[0]
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(image))
    engine.finalize_object()
    return Library(engine, signatures, cached, len(image))


def source_digest(folder: Path) -> str:
    """Return a digest of the Python sources in a folder, in the order of their names."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
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


def _read(path: Path) -> bytes | None:
    """Return cached machine code, if it is whole, belongs to its key, and nobody else can have written it."""
    try:
        if not _is_ours(path.parent.lstat()):
            return None
        # Whatever lies there, opening it neither follows a link nor waits for somebody to write.
        with os.fdopen(
            os.open(path, os.O_RDONLY | _flags("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")), "rb"
        ) as file:
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


def _flags(*names: str) -> int:
    """Return the flags for opening a file that this system knows."""
    return sum(getattr(os, name, 0) for name in names)


def _is_ours(status: os.stat_result) -> bool:
    if sys.platform == "win32":  # the folder lies in the profile of the user
        return True
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not shared and not stat.S_ISLNK(status.st_mode)


def _write(path: Path, image: bytes) -> None:
    """Cache machine code; a folder that cannot be written to is no harm."""
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
        _make_room(path.parent)


def _make_room(folder: Path) -> None:
    total = 0
    for _, size, path in sorted(_files(folder), reverse=True):
        if total + size > CACHE_BYTES:
            path.unlink(missing_ok=True)
        else:
            total += size


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in folder.iterdir():
        if path.suffix == _SUFFIX:
            with contextlib.suppress(FileNotFoundError):
                status = path.lstat()
                if not stat.S_ISDIR(status.st_mode):
                    yield status.st_mtime, status.st_size, path
