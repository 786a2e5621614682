"""What compiled functions can do beyond Python: call a game's machine code, and ask for memory ahead."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

__all__ = ["call", "call_refusing", "call_step", "prefetch"]


def _called(builder: Any, arguments: Any, result: Any) -> Any:
    address, *pointers = arguments
    pointer = cgutils.voidptr_t
    function = ir.FunctionType(result, [pointer, pointer])
    target = builder.inttoptr(address, function.as_pointer())
    return builder.call(target, [builder.inttoptr(value, pointer) for value in pointers])


@intrinsic
def call(_context: Any, _function: Any, _rows: Any, _data: Any) -> Any:
    """Call ``void f(ptr rows, ptr data)``, all three given as addresses."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        _called(builder, arguments, ir.VoidType())
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def call_refusing(_context: Any, _function: Any, _rows: Any, _data: Any) -> Any:
    """Call ``i1 f(ptr rows, ptr data)``, all three given as addresses."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _called(builder, arguments, ir.IntType(1))

    return types.boolean(types.int64, types.int64, types.int64), generate


@intrinsic
def call_step(_context: Any, _function: Any, _store: Any, _worker: Any, _game: Any) -> Any:
    """Call a compiled function of three addresses by its own one; return a boolean that it returns, or zero.

    One that calls others in the usual way contains all of them, and takes as long to compile as they do.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, *given = arguments
        byte, word = cgutils.voidptr_t, ir.IntType(64)
        # As numba calls: where to put the result, and what went wrong; none of them raises anything.
        function = ir.FunctionType(ir.IntType(32), [byte, byte, word, word, word])
        told, trouble = cgutils.alloca_once(builder, word), cgutils.alloca_once(builder, word)
        builder.store(word(0), told)
        places = [builder.bitcast(place, byte) for place in (told, trouble)]
        builder.call(builder.inttoptr(address, function.as_pointer()), [*places, *given])
        return builder.load(told)

    return types.int64(*[types.int64] * 4), generate


@intrinsic
def prefetch(_context: Any, array: Any, _index: Any) -> Any:
    """Ask for the cache line of an element of an array, or of the first one of a row, without waiting.

    What is not in the caches may take as long to come as hundreds of steps.
    """

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        view = make_array(array)(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        byte, number = cgutils.voidptr_t, ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        start = builder.bitcast(view.data, byte)
        place = builder.gep(start, [builder.mul(arguments[1], stride)])
        # To be read, kept in all caches, data.
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
