"""A graphics card that is not there: its driver, and warps as threads of this processor.

32 of them wait for each other wherever a warp votes or adds up.
"""
# ruff: noqa: N802 - the names are those of the driver

from __future__ import annotations

import ctypes
import re
import threading
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numpy as np

from anygame.cards.code import COLLECTIVES
from anygame.native.code import load_library, make_image

if TYPE_CHECKING:
    from collections.abc import Callable

_THREADS = 32
_DECLARED = """
declare i64 @thread_number()
declare i1 @any_thread(i1)
declare i64 @sum_over_threads(i64)
declare i64 @least_of_threads(i64)
declare i64 @sum_before(i64)
"""


class Warp:
    """What 32 threads do together."""

    def __init__(self) -> None:
        self.own = threading.local()
        self._barrier = threading.Barrier(_THREADS)
        self._values = [0] * _THREADS
        kinds: dict[str, tuple[Any, Callable[..., int]]] = {
            "thread_number": (ctypes.CFUNCTYPE(ctypes.c_int64), lambda: self.own.number),
            "any_thread": (
                ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_bool),
                lambda own: any(self._of_all(own)),
            ),
            "sum_over_threads": (_WORDS, lambda own: sum(self._of_all(own))),
            "least_of_threads": (_WORDS, lambda own: min(self._of_all(own))),
            "sum_before": (_WORDS, lambda own: sum(self._of_all(own)[: self.own.number % _THREADS])),
        }
        self._kept = [kind(function) for kind, function in kinds.values()]
        for name, function in zip(kinds, self._kept, strict=True):
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)

    def _of_all(self, own: int) -> list[int]:
        self._values[self.own.number % _THREADS] = own
        self._barrier.wait(60)
        found = list(self._values)
        self._barrier.wait(60)
        return found


_WORDS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class EmulatedDriver:
    """The functions of the driver that are called, over the memory of this process.

    Attributes:
        free: bytes of memory that it says are free.
        cards: how many it says there are.
        taken: what was allocated and not freed, by address.
        launches: how often a function was started.
    """

    def __init__(self) -> None:
        self.free, self.cards, self.capability = 1 << 30, 1, (9, 0)
        self.taken: dict[int, Any] = {}
        self.launches = 0
        self.on_launch: Callable[[], None] = lambda: None
        self._warp = Warp()
        self._modules: list[Any] = []
        self._functions: list[Any] = []

    def cuInit(self, _flags: int) -> int:
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = self.cards
        return 0

    def cuDeviceGet(self, device: Any, number: int) -> int:
        device._obj.value = number
        return 0

    def cuDeviceGetName(self, name: Any, _size: int, _device: Any) -> int:
        name.value = b"an emulated card"
        return 0

    def cuDeviceGetAttribute(self, value: Any, what: int, _device: Any) -> int:
        value._obj.value = {75: self.capability[0], 76: self.capability[1], 16: 2}[what]
        return 0

    def cuDevicePrimaryCtxRetain(self, _context: Any, _device: Any) -> int:
        return 0

    def cuCtxSetCurrent(self, _context: Any) -> int:
        return 0

    def cuCtxSynchronize(self) -> int:
        return 0

    def cuGetErrorString(self, result: int, text: Any) -> int:
        text._obj.value = f"error {result}".encode()
        return 0

    def cuMemGetInfo_v2(self, free: Any, every: Any) -> int:
        free._obj.value, every._obj.value = self.free, self.free
        return 0

    def cuMemAlloc_v2(self, place: Any, size: Any) -> int:
        words = np.full(size.value // 8 + 1, 0xDEADBEEF, np.uint64)  # memory is not zero when it is taken
        place._obj.value = words.ctypes.data
        self.taken[words.ctypes.data] = words
        return 0

    def cuMemFree_v2(self, place: Any) -> int:
        del self.taken[place.value]
        return 0

    def cuMemsetD8_v2(self, place: Any, byte: Any, count: Any) -> int:
        ctypes.memset(place.value, byte.value, count.value)
        return 0

    def cuMemsetD2D32_v2(self, place: Any, pitch: Any, word: Any, width: Any, height: Any) -> int:
        line = np.full(width.value, word.value, np.uint32)
        for row in range(height.value):
            ctypes.memmove(place.value + row * pitch.value, line.ctypes.data, line.nbytes)
        return 0

    def cuMemcpy2D_v2(self, described: Any) -> int:
        copy = described._obj
        source, target = (
            (
                copy.__getattribute__(f"{side}_host")
                if copy.__getattribute__(f"{side}_kind") == 1
                else copy.__getattribute__(f"{side}_device")
            )
            for side in ("from", "to")
        )
        for row in range(copy.height):
            ctypes.memmove(target + row * copy.to_pitch, source + row * copy.from_pitch, copy.width)
        return 0

    def cuMemcpyDtoH_v2(self, target: Any, place: Any, count: Any) -> int:
        ctypes.memmove(target, place.value, count.value)
        return 0

    def cuModuleLoadDataEx(self, module: Any, code: bytes, *_options: Any) -> int:
        """Compile the code for this processor; it is LLVM's text here, not PTX."""
        text = code.rstrip(b"\0").decode().replace(COLLECTIVES, _DECLARED)
        signatures = {
            name: (None, *[ctypes.c_uint64] * (given.count(",") + 1))
            for name, given in re.findall(r"define ptx_kernel void @(\w+)\(([^)]*)\)", text)
        }
        self._modules.append(load_library(make_image(text.replace("ptx_kernel ", "")), signatures))
        module._obj.value = len(self._modules)
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        self._functions.append(self._modules[module.value - 1][name.decode()])
        function._obj.value = len(self._functions)
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        groups, threads, pointers = rest[0].value, rest[3].value, rest[8]
        given = [ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint64))[0] for pointer in pointers]
        entry = self._functions[function.value - 1]
        self.launches += 1
        for first in range(0, groups * threads, _THREADS):
            if first // _THREADS < given[2]:
                self._run(entry, given, first)
        self.on_launch()
        return 0

    def _run(self, entry: Any, given: list[int], first: int) -> None:
        def work(number: int) -> None:
            self._warp.own.number = number
            entry(*given)

        threads = [threading.Thread(target=work, args=[first + each]) for each in range(_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
