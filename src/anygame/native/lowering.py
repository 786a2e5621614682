"""Lowering of marked functions to LLVM's text form for all machines, with numba.

A separate process runs this module as a program that writes the text. So only this process imports numba. The
process has ``NUMBA_OPT=0``, since LLVM optimises all functions together later.
"""

from __future__ import annotations

import sys
from operator import getitem, setitem
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_builtin, lower_getattr, models, register_model
from numba.np.arrayobj import (
    getitem_array_tuple,
    getitem_arraynd_intp,
    make_array,
    populate_array,
    setitem_array,
)
from numba.np.numpy_support import from_dtype

from anygame.native import marking
from anygame.native.marking import COMPILED, FAULT, Bundle, Elements, Exported, exports

if TYPE_CHECKING:
    from collections.abc import Callable

#: Number of words per array in a table; see ``marking.table_of``.
_WORDS: Final = 4


def lowered(room: str) -> str:
    """Return a module, in LLVM's text form, of the exported functions of a room and their callees."""
    lowering = _Lowering()
    whole = llvm.parse_assembly("")
    names, entries = [], []
    for each, name, parameters in exports(room):
        text, symbol = lowering.module_of(each, parameters)
        whole.link_in(llvm.parse_assembly(text))
        names.append(name)
        entries.append(_entry(name, symbol, parameters))
    whole.link_in(llvm.parse_assembly("\n".join(entries)))
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in names:
            value.linkage = llvm.Linkage.internal  # LLVM can remove unused internal values
    return _simplified(whole)


def _simplified(module: Any) -> str:
    """Return the text of a module after machine-independent optimisation, which makes the text 7x shorter."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(1)
    options.loop_vectorization = options.slp_vectorization = False  # the vector width depends on the machine
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    layout, triple = f'target datalayout = "{module.data_layout}"', f'target triple = "{module.triple}"'
    return str(module).replace(layout, "").replace(triple, "")


class _Lowering:
    """Lowers marked functions, each of which gets a numba dispatcher."""

    def __init__(self) -> None:
        self._dispatchers: dict[Callable[..., Any], Any] = {}
        self._bundles: dict[str, Any] = {}
        self._primitives: dict[Callable[..., Any], Any] = {
            marking.call: _calling(types.void, ir.VoidType()),
            marking.call_refusing: _calling(types.boolean, ir.IntType(1)),
            marking.prefetch: _prefetch,
        }

    def module_of(self, function: Exported, parameters: list[type | Elements]) -> tuple[str, str]:
        """Return a module that defines a function for given types, and the function's name in the module."""
        entry = njit(**_OPTIONS)(self._unpacking(function.function, parameters))
        kinds = tuple(types.float64 if kind is float else types.int64 for kind in parameters)
        entry.compile(kinds)
        return entry.inspect_llvm(kinds), entry.overloads[kinds].fndesc.llvm_func_name

    def _unpacking(self, function: Callable[..., Any], parameters: list[type | Elements]) -> FunctionType:
        """Return a function that calls ``function``, and takes the address of a table for each array."""
        names = [f"a{number}" for number in range(len(parameters))]
        namespace: dict[str, Any] = {"function": self.dispatcher_of(function)}
        arguments = []
        for name, parameter in zip(names, parameters, strict=True):
            if isinstance(parameter, Elements):
                namespace[f"at_{name}"] = _array_at(parameter)
                arguments.append(f"at_{name}({name})")
            else:
                arguments.append(name)
        exec(f"def entry({', '.join(names)}):\n    return function({', '.join(arguments)})", namespace)
        return namespace["entry"]

    def dispatcher_of(self, function: Callable[..., Any]) -> Any:
        """Return the numba dispatcher of a marked function; it compiles a copy with replaced globals."""
        dispatcher = self._dispatchers.get(function)
        if dispatcher is None:
            assert isinstance(function, FunctionType)
            own_globals: dict[str, Any] = {}
            copy = FunctionType(function.__code__, own_globals, function.__name__, function.__defaults__)
            copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
            dispatcher = self._dispatchers[function] = njit(**_OPTIONS)(copy)
            # Register the dispatcher before replacing the globals, since a function can call itself.
            values = function.__globals__
            named = {name: values[name] for name in function.__code__.co_names if name in values}
            own_globals |= {name: self.replacement_of(value) for name, value in named.items()}
            own_globals |= {name: values[name] for name in ("__builtins__", "__name__")}
            template = dispatcher.get_call_template
            dispatcher.get_call_template = lambda args, names: template(tuple(map(_widened, args)), names)
        return dispatcher

    def replacement_of(self, value: Any) -> Any:
        """Return the object that replaces a global of a marked function in the copy for numba."""
        if isinstance(value, Exported):
            return self.dispatcher_of(value.function)
        if isinstance(value, Bundle):
            if value.name not in self._bundles:
                self._bundles[value.name] = _bundle_at(value)
            return self._bundles[value.name]
        if isinstance(value, FunctionType):
            if value in COMPILED:
                return self.dispatcher_of(value)
            return self._primitives.get(value, value)
        return value


#: Options of numba. Compiled functions allocate no memory, so they need no reference counts (``_nrt``).
_OPTIONS: Final[dict[str, Any]] = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def _widened(kind: types.Type) -> types.Type:
    """Return int64 for any signed integer type, so that numba compiles each function for only one width."""
    whole = types.unliteral(kind)
    return types.int64 if isinstance(whole, types.Integer) and whole.signed else kind


def _entry(name: str, symbol: str, parameters: list[type | Elements]) -> str:
    """Return the text of a C function that calls a function that numba compiled.

    Functions of numba take pointers to the result and to the exception. They return a status: 0 for a result,
    -2 for the result None, or another number for an exception.
    """
    kinds = ["double" if each is float else "i64" for each in parameters]
    given = "".join(f", {kind} %a{number}" for number, kind in enumerate(kinds))
    return f"""
declare i32 @"{symbol}"(ptr, ptr{"".join(f", {kind}" for kind in kinds)})

define i64 @"{name}"({given[2:]}) {{
  %result = alloca i64
  %fault = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @"{symbol}"(ptr %result, ptr %fault{given})
  %is_whole = icmp eq i32 %status, 0
  %is_none = icmp eq i32 %status, -2
  %is_well = or i1 %is_whole, %is_none
  %value = load i64, ptr %result
  %answer = select i1 %is_well, i64 %value, i64 {FAULT}
  ret i64 %answer
}}"""


class _Counted(types.Array):
    """An array type without negative indices, so that the code does not check the sign of an index."""


register_model(_Counted)(models.ArrayModel)


def _from_start(context: Any, builder: Any, kind: Any, index: Any) -> tuple[Any, Any]:
    """Convert an index or a tuple of indices to unsigned integers; return type and value."""
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind.types, cgutils.unpack_tuple(builder, index), strict=True)
        converted = [_from_start(context, builder, *part) for part in parts]
        whole = types.Tuple([part for part, _ in converted])
        return whole, context.make_tuple(builder, whole, [value for _, value in converted])
    if isinstance(kind, types.Integer) and kind.signed:
        return types.uintp, context.cast(builder, index, kind, types.uintp)
    return kind, index


def _lower_items(operation: Any, lowered: Any, index: Any, *values: Any) -> None:
    """Register an operation on items of ``_Counted`` arrays; the operation first converts the indices."""

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


def _array_of(elements: Elements, *, in_one_piece: bool = True) -> Any:
    return _Counted(from_dtype(np.dtype(elements.kind)), elements.axes, "C" if in_one_piece else "A")


def _read_array(
    context: Any, builder: Any, array: Any, address: Any, number: int = 0, record: int | None = None
) -> Any:
    """Generate code that makes an array from row ``number`` of a table.

    ``record`` is the stride in bytes. If ``record`` is None, the code reads the stride from the table.
    """
    word = ir.IntType(64)
    table = builder.inttoptr(address, word.as_pointer())

    def entry(column: int) -> Any:
        value = builder.load(builder.gep(table, [ir.Constant(word, _WORDS * number + column)]))
        # Tables never change, so LLVM can load each word only once.
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    made = context.make_array(array)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(array.dtype))
    strides = [ir.Constant(word, item)] * array.ndim
    if record is not None:
        strides[0] = ir.Constant(word, record)
    elif array.ndim > 1 or array.layout != "C":
        strides[0] = entry(3)
    populate_array(
        made,
        data=builder.inttoptr(entry(0), context.get_data_type(array.dtype).as_pointer()),
        shape=cgutils.pack_array(builder, [entry(1 + axis) for axis in range(array.ndim)]),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(word, item),
        meminfo=None,
    )
    return made._getvalue()


def _array_at(elements: Elements) -> Any:
    """Return a function from the address of a table to the table's only array."""
    array = _array_of(elements)

    @intrinsic
    def at(_context: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return _read_array(context, builder, array, arguments[0])

        return array(types.int64), generate

    return at


class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


def _bundle_at(bundle: Bundle) -> Any:
    """Return a function from the address of a table to an object whose attributes are the table's arrays."""
    kind = type(
        bundle.name, (types.Type,), {"__init__": lambda self: types.Type.__init__(self, name=bundle.name)}
    )
    register_model(kind)(_AddressModel)
    arrays = {
        field: _array_of(elements, in_one_piece=field not in bundle.records)
        for field, elements in bundle.arrays.items()
    }

    class Attributes(AttributeTemplate):
        key = kind

        def generic_resolve(self, _value: Any, attribute: str) -> Any:
            return arrays.get(attribute)

    infer_getattr(Attributes)
    for number, (field, array) in enumerate(arrays.items()):
        _lower_attribute(kind, field, array, number, bundle.records.get(field))

    @intrinsic
    def at(_context: Any, _address: Any) -> Any:
        def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
            return arguments[0]

        return kind()(types.int64), generate

    return at


def _lower_attribute(kind: Any, field: str, array: Any, number: int, record: int | None) -> None:
    @lower_getattr(kind, field)
    def load(context: Any, builder: Any, _kind: Any, address: Any) -> Any:
        return _read_array(context, builder, array, address, number, record)


def _calling(result: Any, result_in_code: Any) -> Any:
    """Return a function of three addresses; it calls the first address with the other two as pointers."""

    @intrinsic
    def call(_context: Any, _function: Any, _rows: Any, _data: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            address, *pointers = arguments
            pointer = cgutils.voidptr_t
            function = ir.FunctionType(result_in_code, [pointer, pointer])
            target = builder.inttoptr(address, function.as_pointer())
            value = builder.call(target, [builder.inttoptr(word, pointer) for word in pointers])
            return context.get_dummy_value() if result is types.void else value

        return result(types.int64, types.int64, types.int64), generate

    return call


@intrinsic
def _prefetch(_context: Any, array: Any, _index: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        view = make_array(array)(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        byte, number = cgutils.voidptr_t, ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        start = builder.bitcast(view.data, byte)
        place = builder.gep(start, [builder.mul(arguments[1], stride)])
        # The constants mean: read access, all cache levels, data cache.
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


if __name__ == "__main__":
    sys.stdout.write(lowered(sys.argv[2]))
