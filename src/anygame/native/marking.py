"""Decorators of native functions, and the conversion of their arguments.

Native code gets an array as the address of a table, which contains the address and the shape of the array.
A bundle is a named tuple of arrays that share a table.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import product
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from anygame.errors import CompilationError
from anygame.native.library import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from anygame.native.code import Library

_F = TypeVar("_F", bound="Callable[..., Any]")


@dataclass(frozen=True, slots=True)
class Elements:
    """Annotation of an array parameter: NumPy's names of the allowed element types, and the number of axes.

    The function is compiled for each element type. An array has one axis, or two axes and contiguous rows.
    """

    kinds: tuple[str, ...]
    axes: int = 1

    @property
    def kind(self) -> str:
        """NumPy's name of the only element type."""
        (only,) = self.kinds
        return only


Bools = Annotated[NDArray[np.bool_], Elements(("bool",))]
UInt8s = Annotated[NDArray[np.uint8], Elements(("uint8",))]
UInt16s = Annotated[NDArray[np.uint16], Elements(("uint16",))]
UInt64s = Annotated[NDArray[np.uint64], Elements(("uint64",))]
Int16s = Annotated[NDArray[np.int16], Elements(("int16",))]
Int32s = Annotated[NDArray[np.int32], Elements(("int32",))]
Int64s = Annotated[NDArray[np.int64], Elements(("int64",))]
Float32s = Annotated[NDArray[np.float32], Elements(("float32",))]
Float64s = Annotated[NDArray[np.float64], Elements(("float64",))]
BoolRows = Annotated[NDArray[np.bool_], Elements(("bool",), 2)]
UInt64Rows = Annotated[NDArray[np.uint64], Elements(("uint64",), 2)]
Int32Rows = Annotated[NDArray[np.int32], Elements(("int32",), 2)]
Int64Rows = Annotated[NDArray[np.int64], Elements(("int64",), 2)]
Float32Rows = Annotated[NDArray[np.float32], Elements(("float32",), 2)]
Float64Rows = Annotated[NDArray[np.float64], Elements(("float64",), 2)]

#: The marked functions, which native code can call.
COMPILED: Final[set[Callable[..., Any]]] = set()
#: The native functions that Python can call, by name.
_EXPORTED: Final[dict[str, Exported]] = {}
#: Result of a native function that raised an exception.
FAULT: Final = -(1 << 63)


def compiled(function: _F) -> _F:
    """Mark a function that native code can call.

    The function must not allocate memory, and must use only its arguments. Integers have 64 bits. A call from
    Python runs the Python code, so that tests can compare Python code and native code.
    """
    COMPILED.add(function)
    return function


def exported(function: Callable[..., Any]) -> Exported:
    """Mark a function whose native code Python can call.

    The annotation of a parameter must be ``int``, ``float`` or an array type of this module. The annotation
    of the result must be ``int``, ``bool`` or ``None``.
    """
    wrapper = _EXPORTED[f"{function.__module__}.{function.__name__}"] = Exported(function)
    return wrapper


class Exported:
    """A native function that Python calls with numbers and arrays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self._name = f"{function.__module__}.{function.__name__}"
        hints = get_type_hints(function, include_extras=True)
        self._result = hints.pop("return", NoneType)
        self._parameters: list[type | Elements] = [elements_of(hint) or hint for hint in hints.values()]

    def variants(self) -> Iterator[tuple[str, list[type | Elements]]]:
        """Yield, for each combination of element types, the name and the parameter types of the function.

        Parameters with equal annotations have the same element type.
        """
        arrays = [kind for kind in dict.fromkeys(self._parameters) if isinstance(kind, Elements)]
        for kinds in product(*(array.kinds for array in arrays)):
            chosen = {array: Elements((kind,), array.axes) for array, kind in zip(arrays, kinds, strict=True)}
            suffixes = [kind for array, kind in zip(arrays, kinds, strict=True) if len(array.kinds) > 1]
            parameters = [chosen[kind] if isinstance(kind, Elements) else kind for kind in self._parameters]
            yield ".".join([self._name, *suffixes]), parameters

    def __call__(self, *arguments: Any) -> Any:
        """Call the native code; compile it first if necessary.

        Raises:
            TypeError: an argument has the wrong type.
            CompilationError: the native code cannot be compiled, or its call failed.
        """
        native = native_code(room_of(self.function))
        words, tables, suffixes = [], [], {}
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            if isinstance(parameter, Elements):
                if str(argument.dtype) not in parameter.kinds or argument.ndim != parameter.axes:
                    raise TypeError(
                        f"{self._name}: expected {parameter}, got {argument.dtype} with {argument.ndim} axes"
                    )
                table = table_of((argument,))
                tables.append(table)  # keep the table alive until the call returns
                words.append(table.ctypes.data)
                if len(parameter.kinds) > 1:
                    suffixes[parameter] = str(argument.dtype)
            else:
                words.append(parameter(argument))
        result = native[".".join([self._name, *suffixes.values()])](*words)
        if result == FAULT:
            raise CompilationError(f"the native code of {self._name} failed")
        return None if self._result is NoneType else self._result(result)


@cache
def native_code(room: str) -> Library:
    """Return the native code of a room's exported functions. A room is a folder of ``anygame``."""
    signatures = {
        name: (ctypes.c_int64, *(ctypes.c_double if kind is float else ctypes.c_int64 for kind in parameters))
        for _, name, parameters in exports(room)
    }
    try:
        return load(room, signatures)
    except (CompilationError, RuntimeError, ImportError, OSError) as error:
        raise CompilationError(
            f"{error}; changed source files need numba: pip install 'anygame[lower]'"
        ) from error


def room_of(function: Callable[..., Any]) -> str:
    """Return the folder of ``anygame`` with a function, such as ``search`` for ``anygame.search.lanes``."""
    return function.__module__.split(".")[1]


def exports(room: str) -> Iterator[tuple[Exported, str, list[type | Elements]]]:
    """Yield each variant of a room's exported functions: the function, and the variant's name and types."""
    for module in import_module(f"anygame.{room}").NATIVE_MODULES:
        import_module(module)
    for function in _EXPORTED.values():
        if room_of(function.function) == room:
            for name, parameters in function.variants():
                yield function, name, parameters


class Bundle:
    """Maps the address of a table to a named tuple of arrays; only native code can call this function.

    ``records`` has the names of arrays that are fields of records, and therefore not contiguous. Each name
    maps to the size of a record in bytes, or to None if the table contains the size.
    """

    def __init__(
        self, fields: type[tuple[Any, ...]], records: Mapping[str, int | None] = MappingProxyType({})
    ) -> None:
        self.name = fields.__name__
        hints = get_type_hints(fields, include_extras=True)
        self.arrays = {name: elements for name, hint in hints.items() if (elements := elements_of(hint))}
        self.records = records

    def __call__(self, address: int) -> Any:
        """Raise TypeError."""
        raise TypeError(f"only native code can find a {self.name} by its address")


def elements_of(hint: Any) -> Elements | None:
    """Return the element types in an annotation; None if the annotation is not an array type."""
    return next((part for part in get_args(hint) if isinstance(part, Elements)), None)


def table_of(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the table through which native code gets arrays: int64 [arrays, 4].

    The columns are the address, the lengths of both axes, and the stride between rows in bytes. The caller
    must keep table and arrays alive while native code uses the table.
    """
    rows = []
    for array in arrays:
        columns = array.shape[1] if array.ndim > 1 else 1
        is_broken = columns > 1 and len(array) > 0 and array.strides[1] != array.itemsize
        if not 1 <= array.ndim <= 2 or is_broken:
            raise ValueError("expected arrays of one or two dimensions, with contiguous rows")
        rows.append((array.ctypes.data, array.shape[0], columns, array.strides[0]))
    return np.array(rows, np.int64)


def call(function: int, rows: int, data: int) -> None:
    """Call ``void f(ptr rows, ptr data)``, given the addresses of the function and of its arguments."""
    raise TypeError("only native code can call an address")


def call_refusing(function: int, rows: int, data: int) -> bool:
    """Call ``i1 f(ptr rows, ptr data)``, given the addresses of the function and of its arguments."""
    raise TypeError("only native code can call an address")


def prefetch(array: Any, index: int) -> None:
    """Prefetch the cache line of an array's element, or of a row's first element; do nothing in Python."""
