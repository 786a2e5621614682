"""Marks for native code: on functions, on functions that Python calls, and on named tuples of arrays.

A bundle is a named tuple of arrays. Native code gets the address of a table with the addresses and lengths of
the arrays. Single arrays are passed in the same way.
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
    """The element types and axes of an array, for native code; an annotation beside the type for people.

    Attributes:
        kinds: numpy's names of the types of elements. Code is compiled for each of them.
        axes: 1, or 2 for rows that are each contiguous.
    """

    kinds: tuple[str, ...]
    axes: int = 1

    @property
    def kind(self) -> str:
        """The name of the only type of elements."""
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

#: Functions that native code may call.
COMPILED: Final[set[Callable[..., Any]]] = set()
#: Functions that Python calls, by name.
_EXPORTED: Final[dict[str, Exported]] = {}
#: The result of native code where Python would have raised an exception.
FAULT: Final = -(1 << 63)


def compiled(function: _F) -> _F:
    """Mark a function as native code.

    The function allocates no memory, and uses only its arguments. Integers have 64 bits. Python calls run the
    Python code, so that tests can compare it with the native code.
    """
    COMPILED.add(function)
    return function


def exported(function: Callable[..., Any]) -> Exported:
    """Mark a function as native code that Python calls.

    Its parameters are annotated as ``int``, ``float`` or one of the arrays above, and its result as ``int``,
    ``bool`` or ``None``.
    """
    made = _EXPORTED[f"{function.__module__}.{function.__name__}"] = Exported(function)
    return made


class Exported:
    """A function of native code that Python calls with numbers and arrays."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self._name = f"{function.__module__}.{function.__name__}"
        hints = get_type_hints(function, include_extras=True)
        self._result = hints.pop("return", NoneType)
        self._parameters: list[type | Elements] = [elements_of(hint) or hint for hint in hints.values()]

    def variants(self) -> Iterator[tuple[str, list[type | Elements]]]:
        """Yield the native functions for all kinds of arrays: a name, and the types of the parameters.

        Parameters with equal annotations have the same kind.
        """
        choices = [each for each in dict.fromkeys(self._parameters) if isinstance(each, Elements)]
        for kinds in product(*(each.kinds for each in choices)):
            chosen = {each: Elements((kind,), each.axes) for each, kind in zip(choices, kinds, strict=True)}
            told = [kind for each, kind in zip(choices, kinds, strict=True) if len(each.kinds) > 1]
            parameters = [chosen[each] if isinstance(each, Elements) else each for each in self._parameters]
            yield ".".join([self._name, *told]), parameters

    def __call__(self, *arguments: Any) -> Any:
        """Call the native code; compile it first if necessary.

        Raises:
            TypeError: an argument has the wrong type.
            CompilationError: the native code cannot be compiled, or its call failed.
        """
        native = native_code(room_of(self.function))
        words, tables, told = [], [], {}
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            if isinstance(parameter, Elements):
                if str(argument.dtype) not in parameter.kinds or argument.ndim != parameter.axes:
                    raise TypeError(
                        f"{self._name}: expected {parameter}, got {argument.dtype} with {argument.ndim} axes"
                    )
                table = table_of((argument,))
                tables.append(table)  # the table must live until the call returns
                words.append(table.ctypes.data)
                if len(parameter.kinds) > 1:
                    told[parameter] = str(argument.dtype)
            else:
                words.append(parameter(argument))
        found = native[".".join([self._name, *told.values()])](*words)
        if found == FAULT:
            raise CompilationError(f"the native code of {self._name} failed")
        return None if self._result is NoneType else self._result(found)


@cache
def native_code(room: str) -> Library:
    """Return the native code of all exported functions of a room; compile it first unless it is cached.

    Raises:
        CompilationError: the code cannot be compiled.
    """
    signatures = {
        name: (ctypes.c_int64, *(ctypes.c_double if kind is float else ctypes.c_int64 for kind in parameters))
        for _, name, parameters in exports(room)
    }
    try:
        return load(room, signatures)
    except (CompilationError, RuntimeError, ImportError, OSError) as error:
        raise CompilationError(
            f"{error}; where its sources were changed it needs numba: pip install 'anygame[lower]'"
        ) from error


def room_of(function: Callable[..., Any]) -> str:
    """Return the room of a function: ``search`` for a function of ``anygame.search.lanes``."""
    return function.__module__.split(".")[1]


def exports(room: str) -> Iterator[tuple[Exported, str, list[type | Elements]]]:
    """Yield the exported functions of a room, each with a name and the types of its parameters."""
    for module in import_module(f"anygame.{room}").NATIVE_MODULES:
        import_module(module)
    for function in _EXPORTED.values():
        if room_of(function.function) == room:
            for name, parameters in function.variants():
                yield function, name, parameters


class Bundle:
    """A function for native code, which returns a named tuple of arrays given the address of its table.

    Args:
        fields: the named tuple.
        records: arrays that are fields of records, and so are not contiguous, with the bytes of a record;
            None if only the table has these.

    Attributes:
        name: name of the named tuple.
        arrays: the types of its arrays, by field.
        records: see above.
    """

    def __init__(
        self,
        fields: type[tuple[Any, ...]],
        records: Mapping[str, int | None] = MappingProxyType({}),
    ) -> None:
        self.name = fields.__name__
        hints = get_type_hints(fields, include_extras=True)
        self.arrays = {name: elements for name, hint in hints.items() if (elements := elements_of(hint))}
        self.records = records

    def __call__(self, address: int) -> Any:
        """Raise an error; only native code can call a bundle."""
        raise TypeError(f"only native code can find a {self.name} by its address")


def elements_of(hint: Any) -> Elements | None:
    """Return the element types in an annotation; None if it is not one of the array types above."""
    return next((each for each in get_args(hint) if isinstance(each, Elements)), None)


def table_of(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the table of a bundle: int64 [arrays, 4]. Table and arrays must live while the table is used.

    Its columns are the address, the lengths along two axes, and the bytes from row to row.

    Raises:
        ValueError: the rows of an array are not contiguous.
    """
    rows = []
    for array in arrays:
        columns = array.shape[1] if array.ndim > 1 else 1
        is_broken = columns > 1 and len(array) > 0 and array.strides[1] != array.itemsize
        if not 1 <= array.ndim <= 2 or is_broken:
            raise ValueError("expected arrays of one or two dimensions, with rows in one piece")
        rows.append((array.ctypes.data, array.shape[0], columns, array.strides[0]))
    return np.array(rows, np.int64)


# -- operations that only native code has -----------------------------------------------------------------


def call(function: int, rows: int, data: int) -> None:
    """Call ``void f(ptr rows, ptr data)``, all three given as addresses."""
    raise TypeError("only native code can call an address")


def call_refusing(function: int, rows: int, data: int) -> bool:
    """Call ``i1 f(ptr rows, ptr data)``, all three given as addresses."""
    raise TypeError("only native code can call an address")


def prefetch(array: Any, index: int) -> None:
    """Prefetch the cache line of an element of an array, or of the first element of a row.

    Access to memory outside of the caches may take as long as hundreds of steps.
    """
