"""Arrays in the memory of a graphics card, which machine learning libraries read without a copy.

The arrays support DLPack (https://dmlc.github.io/dlpack/), for ``torch.from_dlpack``,
``jax.dlpack.from_dlpack`` and ``cupy.from_dlpack``, and version 3 of the CUDA array interface (Numba, "CUDA
Array Interface").
"""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.cards.card import CardMemory

#: DLPack's code of CUDA devices.
_CUDA: Final = 2
#: DLPack's codes of element types, by NumPy's ``dtype.kind``.
_KINDS: Final = {"i": 0, "u": 1, "f": 2, "b": 6}
_NAME: Final = b"dltensor"


class _Tensor(ctypes.Structure):
    """``DLManagedTensor``."""

    _fields_ = (
        ("data", c_void_p),
        ("device_kind", c_int32),
        ("device", c_int32),
        ("dimensions", c_int32),
        ("kind", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("offset", c_uint64),
        ("manager", c_void_p),
        ("deleter", c_void_p),
    )


@dataclass(frozen=True, eq=False)
class CardArray:
    """A view of memory on a card. The view keeps the memory alive; ``strides`` and ``offset`` are bytes."""

    memory: CardMemory
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def address(self) -> int:
        """Address of the first element on the card."""
        return self.memory.address + self.offset

    def __repr__(self) -> str:
        return f"<CardArray {self.dtype} {list(self.shape)} on {self.memory.card.name}>"

    def __len__(self) -> int:
        return self.shape[0]

    def numpy(self) -> NDArray[Any]:
        """Return a copy of the array in main memory."""
        self.memory.card.use()
        size = sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))
        count = size + self.dtype.itemsize if self.shape[0] else 0
        read = self.memory.read((1, count), np.uint8, self.offset)
        return np.ndarray(self.shape, self.dtype, read, 0, self.strides).copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("copy=False is impossible: the array is in the memory of a graphics card")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "strides": self.strides,
            "stream": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self.memory.card.number

    def __dlpack__(self, **_options: Any) -> Any:
        """Return a DLPack capsule. Launches are synchronous, so all elements have their final values."""
        count = len(self.shape)
        items = [stride // self.dtype.itemsize for stride in self.strides]
        lengths = (c_int64 * (2 * count))(*self.shape, *items)
        tensor = _Tensor(
            data=self.address,
            device_kind=_CUDA,
            device=self.memory.card.number,
            dimensions=count,
            kind=_KINDS[self.dtype.kind],
            bits=8 * self.dtype.itemsize,
            lanes=1,
            shape=ctypes.addressof(lengths),
            strides=ctypes.addressof(lengths) + ctypes.sizeof(c_int64) * count,
            deleter=ctypes.cast(_delete, c_void_p),
        )
        address = ctypes.addressof(tensor)
        _HANDED_OUT[address] = (self, tensor, lengths)
        return _new_capsule(address, _NAME, _destroy)


#: Exported tensors by address. A consumer calls the deleter of a tensor when it no longer needs the tensor.
_HANDED_OUT: Final[dict[int, object]] = {}

# A destructor's parameter must not be an object: Python would make a new reference to the dying capsule.
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)
_Destructor = ctypes.PYFUNCTYPE(None, c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_address_in = ctypes.PYFUNCTYPE(c_void_p, c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _give_back(address: int, handed_out: dict[int, object] = _HANDED_OUT) -> None:
    # At exit, Python may delete globals before it calls this function, so the table is a default argument.
    handed_out.pop(address, None)


def _give_back_unused(capsule: int) -> None:
    """Release the tensor of a capsule, unless a consumer has taken the tensor and renamed the capsule."""
    if _is_capsule(capsule, _NAME):
        _give_back(_address_in(capsule, _NAME))


_delete, _destroy = _Deleter(_give_back), _Destructor(_give_back_unused)


def lies_on_card(value: object) -> dict[str, Any] | None:
    """Return the CUDA array interface of an array; None if the array does not support this interface."""
    interface = getattr(value, "__cuda_array_interface__", None)
    return interface if isinstance(interface, dict) else None
