"""Bit-sliced numbers: plane ``k`` of a number is a row that holds bit ``k`` of it in every lane.

Bits are counted by carry-save adders, three planes of one weight to two, as by Harley and Seal (Warren,
"Hacker's Delight", 2nd edition, 2012, section 5-1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.kernels.function import ONES, ZERO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.network.kernels.function import FunctionBuilder


def add_up(code: FunctionBuilder, numbers: Sequence[Sequence[str]]) -> list[str]:
    """Return the sum of numbers, by carry-save adders that take three planes of one weight to two."""
    columns: list[list[str]] = []
    for number in numbers:
        for weight, plane in enumerate(number):
            _put(columns, weight, plane)
    weight = 0
    while weight < len(columns):
        column = columns[weight]
        while len(column) > 2:
            a, b, c = column[:3]
            del column[:3]
            column.append(code.parity(a, b, c))
            _put(columns, weight + 1, code.majority(a, b, c))
        if len(column) == 2:
            a, b = column
            column[:] = [code.xor(a, b)]
            _put(columns, weight + 1, code.and_(a, b))
        weight += 1
    return [column[0] if column else ZERO for column in columns]


def _put(columns: list[list[str]], weight: int, plane: str) -> None:
    if plane == ZERO:
        return
    while len(columns) <= weight:
        columns.append([])
    columns[weight].append(plane)


def subtract(code: FunctionBuilder, a: Sequence[str], b: Sequence[str]) -> tuple[list[str], str]:
    """Return ``a - b`` in the planes of ``a``, and where it fell below zero."""
    difference = []
    borrow = ZERO
    for weight in range(max(len(a), len(b))):
        x = a[weight] if weight < len(a) else ZERO
        y = b[weight] if weight < len(b) else ZERO
        if weight < len(a):
            difference.append(code.parity(x, y, borrow))
        borrow = code.majority(code.not_(x), y, borrow)
    return difference, borrow


def less(code: FunctionBuilder, a: Sequence[str], b: Sequence[str]) -> str:
    """Return where ``a < b``."""
    borrow = ZERO
    for weight in range(max(len(a), len(b))):
        x = a[weight] if weight < len(a) else ZERO
        y = b[weight] if weight < len(b) else ZERO
        borrow = code.majority(code.not_(x), y, borrow)
    return borrow


def decrease(code: FunctionBuilder, number: Sequence[str], by: str = ONES) -> tuple[list[str], str]:
    """Return the number less one where ``by`` holds, and where it fell below zero."""
    return subtract(code, number, [by])


def masks(code: FunctionBuilder, number: Sequence[str]) -> list[str]:
    """Return planes that hold at and below the highest bit of a number."""
    planes = list(number)
    for weight in reversed(range(len(planes) - 1)):
        planes[weight] = code.or_(planes[weight], planes[weight + 1])
    return planes
