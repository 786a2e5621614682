"""NVIDIA graphics cards through the driver API (NVIDIA, "CUDA Driver API").

Only this module calls the driver's library, and loads the library when a card is first used.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from contextlib import suppress
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import TYPE_CHECKING, Any, Final
from weakref import finalize

import numpy as np

from anygame.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

#: Minimum compute capability: earlier cards lack sums over a warp (``redux.sync``).
_LEAST_CAPABILITY: Final = (8, 0)
#: The driver's numbers of device attributes.
_MAJOR, _MINOR, _PROCESSORS = 75, 76, 16
#: The driver's numbers of the loader's options.
_REGISTERS, _ERROR_LOG, _ERROR_LOG_BYTES = 0, 5, 6
#: Size in bytes of the buffer for the loader's error messages.
_LOG_BYTES: Final = 1 << 14
#: The driver's error number if memory is insufficient.
_OUT_OF_MEMORY: Final = 2
#: The driver's numbers of the kinds of memory.
_HOST, _DEVICE = 1, 2


class _Copy2D(ctypes.Structure):
    """``CUDA_MEMCPY2D``: a copy of rows of bytes. A pitch is the distance in bytes between two rows."""

    _fields_ = [
        *(
            (f"{side}_{name}", kind)
            for side in ("from", "to")
            for name, kind in (
                ("x", c_size_t),
                ("y", c_size_t),
                ("kind", c_int),
                ("host", c_void_p),
                ("device", c_void_p),
                ("array", c_void_p),
                ("pitch", c_size_t),
            )
        ),
        ("width", c_size_t),
        ("height", c_size_t),
    ]


class Card:
    """A graphics card. Raises DeviceError if the card does not exist, or is too old."""

    def __init__(self, number: int = 0) -> None:
        self._library = _library()
        self.number = number
        self._call("cuInit", 0)
        count = c_int()
        self._call("cuDeviceGetCount", byref(count))
        if number >= count.value:
            raise DeviceError(_there_are(count.value, number))
        device = c_int()
        self._call("cuDeviceGet", byref(device), number)
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode(errors="replace")
        major, minor, self.processors = (self._ask(what, device) for what in (_MAJOR, _MINOR, _PROCESSORS))
        if (major, minor) < _LEAST_CAPABILITY:
            needed = ".".join(map(str, _LEAST_CAPABILITY))
            raise DeviceError(
                f"{self.name} has compute capability {major}.{minor}; at least {needed} is needed"
            )
        self._context = c_void_p()
        self._call("cuDevicePrimaryCtxRetain", byref(self._context), device)

    def _ask(self, what: int, device: c_int) -> int:
        value = c_int()
        self._call("cuDeviceGetAttribute", byref(value), what, device)
        return value.value

    def _call(self, name: str, *arguments: Any) -> None:
        result = getattr(self._library, name)(*arguments)
        if result:
            text = c_char_p()
            self._library.cuGetErrorString(result, byref(text))
            reason = (text.value or b"unknown error").decode(errors="replace")
            if result == _OUT_OF_MEMORY:
                reason = "out of memory: another program may use the card"
            raise DeviceError(f"{name} of the graphics card's driver failed: {reason}")

    def use(self) -> None:
        """Make this card the current card of this thread."""
        self._call("cuCtxSetCurrent", self._context)

    @property
    def free_bytes(self) -> int:
        """Size in bytes of the free memory."""
        free, every = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(every))
        return free.value

    def load(self, ptx: str, names: Iterable[str], registers: int) -> dict[str, c_void_p]:
        """Compile PTX and return the named functions.

        ``registers`` is the maximum number of registers per thread. With fewer registers, more threads run
        simultaneously. Raises DeviceError with the driver's log if the driver cannot compile the code.
        """
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (c_int * 3)(_REGISTERS, _ERROR_LOG, _ERROR_LOG_BYTES)
        values = (c_void_p * 3)(registers, ctypes.addressof(log), _LOG_BYTES)
        module = c_void_p()
        try:
            self._call("cuModuleLoadDataEx", byref(module), ptx.encode() + b"\0", 3, options, values)
        except DeviceError as error:
            raise DeviceError("\n".join([str(error), log.value.decode(errors="replace")]).strip()) from None
        functions = {name: c_void_p() for name in names}
        for name, function in functions.items():
            self._call("cuModuleGetFunction", byref(function), module, name.encode())
        return functions

    def read(self, address: int, count: int) -> bytes:
        """Return ``count`` bytes of the card's memory."""
        buffer = ctypes.create_string_buffer(count)
        self._call("cuMemcpyDtoH_v2", buffer, c_size_t(address), c_size_t(count))
        return buffer.raw

    def launch(self, function: c_void_p, arguments: Sequence[int], groups: int, threads: int) -> None:
        """Launch a function with 64-bit arguments in groups of threads, and wait until all threads end."""
        values = (ctypes.c_uint64 * len(arguments))(*arguments)
        size, first = ctypes.sizeof(ctypes.c_uint64), ctypes.addressof(values)
        pointers = (c_void_p * len(arguments))(*range(first, first + size * len(arguments), size))
        shape = [c_uint(part) for part in (groups, 1, 1, threads, 1, 1, 0)]
        self._call("cuLaunchKernel", function, *shape, None, pointers, None)
        self._call("cuCtxSynchronize")


class CardMemory:
    """Rows of memory on a card, initially zero, each of ``width`` bytes.

    The memory is freed with the object. Copies are synchronous, and start after all earlier launches have
    ended.
    """

    def __init__(self, card: Card, rows: int, width: int) -> None:
        self.card = card
        self._rows = rows
        self.width = width
        address = c_size_t()
        card._call("cuMemAlloc_v2", byref(address), c_size_t(max(1, rows * width)))
        self.address = address.value
        finalize(self, _free, card, address.value)
        card._call("cuMemsetD8_v2", c_size_t(self.address), ctypes.c_ubyte(0), c_size_t(max(1, rows * width)))

    @classmethod
    def of(cls, card: Card, values: NDArray[Any]) -> CardMemory:
        """Return a single row of memory with a copy of the bytes of an array."""
        memory = cls(card, 1, values.nbytes)
        memory.write(values.reshape(1, -1))
        return memory

    def fill(self, offset: int, width: int, word: int) -> None:
        """Fill ``width`` bytes of every row, starting at byte ``offset``, with a 32-bit word."""
        place, pitch = c_size_t(self.address + offset), c_size_t(self.width)
        self.card._call(
            "cuMemsetD2D32_v2", place, pitch, c_uint(word), c_size_t(width // 4), c_size_t(self._rows)
        )

    def write(self, values: NDArray[Any], offset: int = 0) -> None:
        """Write each item of an array's first axis to a row, from byte ``offset`` of the row on."""
        values = np.ascontiguousarray(values)
        self._copy(values, offset, is_read=False)

    def read(self, shape: tuple[int, ...], kind: type, offset: int = 0) -> NDArray[Any]:
        """Return an array whose first axis has an item for each row, read from byte ``offset`` on."""
        values: NDArray[Any] = np.empty(shape, kind)
        self._copy(values, offset, is_read=True)
        return values

    def _copy(self, values: NDArray[Any], offset: int, *, is_read: bool) -> None:
        if not values.size:
            return
        width = values.nbytes // len(values)
        copy = _Copy2D(width=width, height=len(values))
        card, host = ("from", "to") if is_read else ("to", "from")
        for side, kind, pitch in ((card, _DEVICE, max(width, self.width)), (host, _HOST, width)):
            setattr(copy, f"{side}_kind", kind)
            setattr(copy, f"{side}_pitch", pitch)
        setattr(copy, f"{card}_device", self.address + offset)
        setattr(copy, f"{host}_host", values.ctypes.data)
        self.card._call("cuMemcpy2D_v2", byref(copy))


def _free(card: Card, address: int) -> None:
    with suppress(DeviceError):  # the driver refuses calls in forked processes and at exit
        card.use()
        card._call("cuMemFree_v2", c_size_t(address))


@functools.cache
def card(number: int = 0) -> Card:
    """Return the card with this number; repeated calls return the same object."""
    return Card(number)


def _library() -> Any:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise DeviceError(
            f"the driver of NVIDIA graphics cards is not installed (no {name}): use the device cpu"
        ) from None


def _there_are(count: int, number: int) -> str:
    if not count:
        return "the driver of NVIDIA graphics cards is installed, but finds no card: use the device cpu"
    cards = "1 graphics card, cuda:0" if count == 1 else f"{count} graphics cards, cuda:0 to cuda:{count - 1}"
    return f"there is no cuda:{number}: this machine has {cards}"
