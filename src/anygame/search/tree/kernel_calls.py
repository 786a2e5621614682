"""Calls of a game's machine code from compiled functions: by address, as every game has code of its own."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["call", "call_refusing"]


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
