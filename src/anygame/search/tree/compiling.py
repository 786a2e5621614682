"""How the functions of the search are compiled, and how they reach their arrays.

A bundle is a named tuple of arrays. Compiled functions get it as one address, that of a table with the
addresses and lengths of the arrays: a function takes three or four numbers instead of hundreds, and is
compiled many times as fast.
"""

from __future__ import annotations

import contextlib
import shutil
from functools import cache
from operator import getitem, setitem
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import caching, cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_builtin, lower_getattr, models, register_model
from numba.np.arrayobj import getitem_array_tuple, getitem_arraynd_intp, populate_array, setitem_array
from numba.np.numpy_support import from_dtype

from anygame.network.kernels.native import cache_folder, own_folder, source_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["bundle", "compiled", "element_of", "table_of"]

#: Words of the table for each array: its address, its lengths along two axes, and from row to row.
_WORDS = 4
#: Versions of the search whose code stays cached.
_VERSIONS = 4


def compiled(function: Callable[..., Any]) -> Any:
    """Have a function compiled when it is first called, or found where code was cached before.

    It owns no memory: everything it touches is given to it, so references need not be counted. Whole numbers
    come as 64 bits, whatever those of a caller are: for each combination it would be compiled anew.
    """
    dispatcher = njit(nogil=True, _nrt=False, error_model="numpy")(function)
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, names: template(tuple(map(_widened, args)), names)
    if cache_folder() is not None:
        with contextlib.suppress(RuntimeError):  # nowhere to write to: it is compiled once a process
            dispatcher._cache = _Cache(function)
    return dispatcher


def _widened(kind: types.Type) -> types.Type:
    whole = types.unliteral(kind)
    return types.int64 if isinstance(whole, types.Integer) and whole.signed else kind


class _Locator(caching._CacheLocator):
    """Where code is cached: beside that of games, in a folder for the digest of all that it is made of.

    Functions here call one another across files; by default a change is seen only in a function's own one.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(_folder())

    def get_source_stamp(self) -> str:
        return _DIGEST

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Callable[..., Any], _file: str) -> _Locator | None:
        return None if _folder() is None else cls(function)


class _Code(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Cache(caching.FunctionCache):
    _impl_class = _Code

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled before; nothing if there is none, or if it cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever it is that reading says of broken files
            self.flush()
            return None


@cache
def _folder() -> Path | None:
    """Return the folder for what is compiled of these sources, ours alone to write to, or None."""
    base = cache_folder()
    if base is None or not own_folder(base / "search"):
        return None
    folder = base / "search" / _DIGEST[:16]
    is_new = not folder.exists()
    if not own_folder(folder):
        return None
    if is_new:
        _forget_others(folder)
    return folder


def _forget_others(folder: Path) -> None:
    """Remove the code of other versions, but for those that were made last."""
    with contextlib.suppress(OSError):
        others = sorted(folder.parent.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
        for path in others[_VERSIONS:]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


#: Taken at once: sources that change while a program runs are not those that it compiles.
_DIGEST: Final = source_digest(Path(__file__).parents[1])


def table_of(arrays: tuple[NDArray[Any], ...]) -> NDArray[np.int64]:
    """Return the table of a bundle: int64 [arrays, 4]. Both must live as long as it is used."""
    rows = []
    for array in arrays:
        if not 1 <= array.ndim <= 2 or (array.ndim == 2 and array.strides[1] != array.itemsize):
            raise ValueError("expected arrays of one or two dimensions, with rows in one piece")
        columns = array.shape[1] if array.ndim > 1 else 1
        rows.append((array.ctypes.data, array.shape[0], columns, array.strides[0]))
    return np.array(rows, np.int64)


def bundle(
    fields: type[tuple[Any, ...]], *tables: str, records: Mapping[str, int | None] = MappingProxyType({})
) -> Callable[[Any], Any]:
    """Return a compiled function from the address of a table to a bundle.

    Args:
        fields: a named tuple of arrays, with their types in its annotations.
        tables: the names of those that have two dimensions.
        records: those that are fields of records, and so do not lie in one piece, with the bytes of a record;
            None where these are known by the table alone.
    """
    name = fields.__name__
    kind = type(name, (types.Type,), {"__init__": lambda self: types.Type.__init__(self, name=name)})
    register_model(kind)(_AddressModel)
    arrays = {
        field: _Counted(from_dtype(element_of(hint)), 1 + (field in tables), "A" if field in records else "C")
        for field, hint in get_type_hints(fields).items()
    }
    _type_attributes(kind, arrays)
    for number, (field, array) in enumerate(arrays.items()):
        _lower_attribute(kind, field, array, number, records.get(field))

    @intrinsic
    def at(_context: Any, _address: Any) -> Any:
        def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return kind()(types.int64), generate

    return at


def element_of(hint: Any) -> np.dtype[Any]:
    """Return the type of element of an annotation ``NDArray[...]``."""
    return np.dtype(get_args(get_args(hint)[1])[0])


class _Counted(types.Array):
    """An array that is never indexed from its end, so that no index need be looked at for that."""


register_model(_Counted)(models.ArrayModel)


def _from_start(context: Any, builder: Any, kind: Any, index: Any) -> tuple[Any, Any]:
    """Return an index, or a tuple of some, as what cannot be negative, with its type."""
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind.types, cgutils.unpack_tuple(builder, index), strict=True)
        found = [_from_start(context, builder, *part) for part in parts]
        whole = types.Tuple([part for part, _ in found])
        return whole, context.make_tuple(builder, whole, [value for _, value in found])
    if isinstance(kind, types.Integer) and kind.signed:
        return types.uintp, context.cast(builder, index, kind, types.uintp)
    return kind, index


def _lower_items(operation: Any, lowered: Any, index: Any, *values: Any) -> None:
    """Have items of such arrays got, or set, as those of others, but for signs."""

    @lower_builtin(operation, _Counted, index, *values)
    def item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, kind, *rest = signature.args
        kind, place = _from_start(context, builder, kind, arguments[1])
        return lowered(
            context,
            builder,
            signature.replace(args=(array, kind, *rest)),
            (arguments[0], place, *arguments[2:]),
        )


_lower_items(getitem, getitem_arraynd_intp, types.Integer)
_lower_items(getitem, getitem_array_tuple, types.BaseTuple)
_lower_items(setitem, setitem_array, types.Integer, types.Any)
_lower_items(setitem, setitem_array, types.BaseTuple, types.Any)


class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


def _type_attributes(kind: Any, arrays: dict[str, Any]) -> None:
    class Attributes(AttributeTemplate):
        key = kind

        def generic_resolve(self, _value: Any, attribute: str) -> Any:
            return arrays.get(attribute)

    infer_getattr(Attributes)


def _lower_attribute(kind: Any, field: str, array: Any, number: int, record: int | None) -> None:
    @lower_getattr(kind, field)
    def load(context: Any, builder: Any, _kind: Any, address: Any) -> Any:
        word = ir.IntType(64)
        table = builder.inttoptr(address, word.as_pointer())

        def entry(column: int) -> Any:
            place = builder.gep(table, [ir.Constant(word, _WORDS * number + column)])
            found = builder.load(place)
            # Nothing that is written changes a table: what has been read need not be read again.
            found.set_metadata("invariant.load", builder.module.add_metadata([]))
            return found

        made = context.make_array(array)(context, builder)
        item = context.get_abi_sizeof(context.get_data_type(array.dtype))
        shape = [entry(1 + axis) for axis in range(array.ndim)]
        strides = [ir.Constant(word, item)] * array.ndim
        if record is not None:
            strides[0] = ir.Constant(word, record)
        elif array.ndim > 1 or array.layout != "C":
            strides[0] = entry(3)
        populate_array(
            made,
            data=builder.inttoptr(entry(0), context.get_data_type(array.dtype).as_pointer()),
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=ir.Constant(word, item),
            meminfo=None,
        )
        return made._getvalue()
