"""Machine code for this machine, compiled from LLVM's text form or read from the cache.

Only this module and ``lowering`` import llvmlite. This module imports llvmlite at the first use.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import TYPE_CHECKING, Any, Final

from anygame.native.cache import cache_folder, read_cached, write_cached

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_SUFFIX = ".code"
#: LLVM's optimisation level for straight-line code, such as games. A higher level does not help.
_EFFORT = 1
#: LLVM's optimisation level for code with loops and calls.
_FULL_EFFORT = 3
#: LLVM's target triple of NVIDIA graphics cards.
_CARD: Final = "nvptx64-nvidia-cuda"


class Library:
    """Compiled functions, which release the interpreter lock while they run.

    ``cached`` says whether the machine code came from the cache.
    """

    def __init__(self, engine: Any, signatures: Mapping[str, tuple[Any, ...]], cached: bool) -> None:
        self._engine = engine
        self.cached = cached
        self.addresses: dict[str, int] = {name: engine.get_function_address(name) for name in signatures}
        self.functions = {
            name: ctypes.CFUNCTYPE(result, *parameters)(self.addresses[name])
            for name, (result, *parameters) in signatures.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self.functions[name]


def compile_library(
    code: str,
    signatures: Mapping[str, tuple[Any, ...]],
    cache: Path | None = None,
    *,
    shared: Iterable[str] = (),
    keep: bool = True,
) -> Library:
    """Return the functions of LLVM's text form, from the cache or compiled for this machine.

    Args:
        code: LLVM's text form.
        signatures: for each function, the ctypes of the result and of the parameters.
        cache: the folder of the cache, by default :func:`cache_folder`.
        shared: modules that the code calls. Each shared module is compiled and cached once.
        keep: whether to cache the machine code of ``code``.
    """
    key = code if keep else ""
    cached = _cached_image(key, cache)
    image = make_image(code, key, cache) if cached is None else cached
    called = [_shared_image(module, cache) for module in shared]
    return load_library(image, signatures, cached is not None, called)


@functools.lru_cache(maxsize=1024)
def _shared_image(code: str, cache: Path | None) -> bytes:
    return _cached_image(code, cache) or make_image(code, code, cache)


def _cached_image(key: str, cache: Path | None) -> bytes | None:
    path = _path(key, cache)
    return read_cached(path) if path else None


def find_library(
    key: str, signatures: Mapping[str, tuple[Any, ...]], cache: Path | None = None
) -> Library | None:
    """Return a library from the cache; None if the library is missing. For ``key`` see `make_image`."""
    image = _cached_image(key, cache)
    return None if image is None else load_library(image, signatures, cached=True)


def make_image(code: str, key: str = "", cache: Path | None = None, *, is_straight: bool = True) -> bytes:
    """Compile LLVM's text form for this machine; cache and return the machine code.

    ``key`` identifies the machine code in the cache: the code, or a string that determines the code. An empty
    ``key`` disables the cache. With ``is_straight``, LLVM runs only the passes that help straight-line code.
    Raises RuntimeError if LLVM cannot read the code.
    """
    llvm = _llvm()[0]
    effort = _EFFORT if is_straight else _FULL_EFFORT
    machine = _machine(llvm, effort)
    module = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"\n{code}')
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(effort))
    if is_straight:
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    image = bytes(machine.emit_object(module))
    path = _path(key, cache)
    if path:
        write_cached(path, image)
    return image


def make_ptx(code: str) -> str:
    """Compile LLVM's text form to PTX for compute capability 8.0 or later, or read PTX from the cache.

    Raises RuntimeError if LLVM cannot read the code, or has no backend for PTX.
    """
    llvm = _llvm()[0]
    key = "ptx\0" + code
    cached = _cached_image(key, None)
    if cached is not None:
        return cached.decode()
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
    """Return the functions of the machine code ``image``, linked with the machine code in ``called``."""
    llvm = _llvm()[0]
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(llvm))
    for part in (*called, image):
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(part))
    engine.finalize_object()
    return Library(engine, signatures, cached)


def source_digest(*folders: Path) -> str:
    """Return a digest of the Python sources in the given folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _path(key: str, cache: Path | None) -> Path | None:
    folder = cache_folder() if cache is None else cache
    if not folder or not key:
        return None
    name = hashlib.sha256("\0".join((_llvm()[1], str(_EFFORT), key)).encode()).hexdigest()
    return folder / (name + _SUFFIX)


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
    except RuntimeError:  # on some systems, LLVM cannot detect features, and assumes those of the CPU model
        return ""


def _machine(llvm: Any, effort: int = _EFFORT) -> Any:
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(llvm), opt=effort, jit=True
    )
