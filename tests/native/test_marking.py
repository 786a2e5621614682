"""Marks say of arrays what native code has to know, whatever a library's own annotations look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import pytest

import anygame
from anygame.native.marking import (
    Bundle,
    Elements,
    Exported,
    Int32s,
    UInt64Rows,
    table_of,
)
from anygame.search import lanes, retrograde
from anygame.search.lanes import describe, game_at
from anygame.search.learning.self_play import make_practice, practice_at
from anygame.search.tree.searcher import DEFAULT_SETTINGS
from anygame.search.tree.store import make_store, store_at
from anygame.search.tree.worker import make_worker, worker_at

if TYPE_CHECKING:
    from collections.abc import Iterator


def _bundles() -> Iterator[tuple[Bundle, Any]]:
    kernel = anygame.load("tic_tac_toe").backends.needed_network().kernel
    yield game_at, describe(kernel, [False, False])[0]
    yield store_at, make_store(1, 2, 1 << 20)
    yield worker_at, make_worker(kernel, 1, 100, DEFAULT_SETTINGS)
    yield (
        practice_at,
        make_practice(
            np.zeros(1, np.uint64),
            np.zeros((66, 32), np.float32),
            np.zeros((1, 64), np.int32),
            np.zeros((1, 1), np.int32),
        ),
    )


def test_arrays_have_the_types_of_their_bundle() -> None:
    for bundle, arrays in _bundles():
        told = {name: (each.kind, each.axes) for name, each in bundle.arrays.items()}
        assert told == {name: (str(each.dtype), each.ndim) for name, each in arrays._asdict().items()}


def test_a_bundle_reads_marks_alone() -> None:
    class Pair(NamedTuple):
        numbers: Annotated[object, Elements(("int32",))]
        rows: Annotated[list[int], Elements(("uint64",), 2)]

    assert Bundle(Pair).arrays == {"numbers": Elements(("int32",)), "rows": Elements(("uint64",), 2)}


def _added(numbers: Int32s, rows: UInt64Rows, share: float, most: int) -> int:
    return 0


def test_a_function_has_a_variant_for_each_choice_of_kinds() -> None:
    assert [name.rpartition(".")[2] for name, _ in Exported(_added).variants()] == ["_added"]
    names = [name.split(".")[-2:] for name, _ in retrograde._sweep.variants()]
    assert names == [
        ["uint8", "uint8"], ["uint8", "uint32"], ["uint32", "uint8"], ["uint32", "uint32"],
    ]  # fmt: skip


def test_arguments_of_another_type_are_refused() -> None:
    rows, numbers, moves = np.zeros((70, 8), np.uint64), np.zeros((3, 1), np.int32), np.zeros(3, np.int32)
    with pytest.raises(TypeError, match="put_moves: expected Elements"):
        lanes.put_moves(rows, 0, numbers, numbers, np.zeros(3, np.int64), 0)
    with pytest.raises(TypeError, match="with 2 axes"):
        lanes.put_moves(rows, 0, numbers, numbers, numbers, 0)
    with pytest.raises(ValueError, match="with contiguous rows"):
        lanes.put_moves(np.zeros((4, 3), np.uint64).T, 0, numbers, numbers, moves, 0)
    with pytest.raises(ValueError, match="shorter"):
        lanes.put_moves(rows, 0)


def test_a_table_contains_addresses_and_shapes_of_arrays() -> None:
    row, rows = np.zeros(5, np.int64), np.zeros((3, 4), np.float32)
    assert table_of((row, rows)).tolist() == [
        [row.ctypes.data, 5, 1, 8],
        [rows.ctypes.data, 3, 4, 16],
    ]
    assert table_of((np.zeros((0, 3), np.bool_).T.T,))[0, 1] == 0


@pytest.mark.parametrize("count", [1, 63, 64, 512])
def test_native_code_agrees_with_python(count: int) -> None:
    random = np.random.default_rng(count)
    options = random.integers(1, 4, (count, 2), np.int32)
    firsts = np.arange(0, 6 * count, 3, dtype=np.int32).reshape(count, 2)
    moves = random.integers(0, 50, 6 * count, np.int32)
    native, python = (np.zeros((130, 8), np.uint64) for _ in range(2))
    for number in range(10):
        found = lanes.put_moves(native, 70, options, firsts, moves, number)
        assert lanes.put_moves.function(python, 70, options, firsts, moves, number) == found
        assert (native == python).all()
    assert not found
    assert native.any()


def test_primitives_are_for_native_code() -> None:
    with pytest.raises(TypeError, match="a Store by its address"):
        store_at(0)
