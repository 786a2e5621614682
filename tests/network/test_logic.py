"""Laws of gates, sums and rewrites, by truth table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.network.logic.circuit import Circuit, parents_first, simplified
from anygame.network.logic.factoring import Products, factored
from anygame.network.logic.gates import Gates
from anygame.network.logic.rewrites import drop_implied_conditions, merge_conjunctions
from anygame.network.network import FALSE, TRUE
from anygame.network.ragged import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_INPUTS = 6
_LITERALS = st.integers(0, 2 * _INPUTS + 1)
_PRODUCTS = st.lists(st.lists(_LITERALS, max_size=5), max_size=12)


def _holds(gates: Gates | Circuit, literal: int, inputs: tuple[bool, ...]) -> bool:
    """Evaluate a literal, the inputs being nodes 1, 2 and so on."""
    node = literal >> 1
    parts = gates.inputs_of(literal & ~1)
    if node == 0:
        value = False
    elif parts is None:
        value = inputs[node - 1]
    else:
        value = all(_holds(gates, part, inputs) for part in parts)
    return value ^ bool(literal & 1)


def _circuit(*rows: list[int], outputs: list[int], choices: Sequence[tuple[int, ...]] = ()) -> Circuit:
    """Return a circuit of gates, given by their literals."""
    literals = np.array([literal for row in rows for literal in row], np.int64)
    starts = np.cumsum([0, *map(len, rows)])
    named = {"next": np.array(outputs)}
    return Circuit(1 + _INPUTS, starts, literals, np.zeros(len(rows), np.bool_), choices, named)


def _next(circuit: Circuit) -> list[int]:
    found: list[int] = circuit.outputs["next"].tolist()
    return found


def _sums(*sums: list[list[int]]) -> Circuit:
    """Return a circuit whose outputs are sums of products."""
    found = [{frozenset(row) - {TRUE} for row in rows if _can_hold(row)} for rows in sums]
    rows = [(number, sorted(row)) for number, each in enumerate(found) for row in sorted(map(sorted, each))]
    products = Products(
        np.array([number for number, _ in rows], np.int64),
        np.repeat(np.arange(len(rows)), [len(row) for _, row in rows]),
        np.array([literal for _, row in rows for literal in row], np.int64),
    )
    starts, literals = factored(products, len(sums), 1 + _INPUTS)
    outputs = {"next": 2 * (1 + _INPUTS + np.arange(len(sums))) + 1}
    circuit = Circuit(1 + _INPUTS, starts, literals, np.zeros(len(starts) - 1, np.bool_), (), outputs)
    return parents_first(simplified(circuit))


def _can_hold(row: list[int]) -> bool:
    return FALSE not in row and not any(literal ^ 1 in row for literal in row)


def _plain(literal: int, inputs: tuple[bool, ...]) -> bool:
    return (literal >> 1 > 0 and inputs[(literal >> 1) - 1]) ^ bool(literal & 1)


def _every_input() -> list[tuple[bool, ...]]:
    return list(product([False, True], repeat=_INPUTS))


def _sum_holds(products: list[list[int]], inputs: tuple[bool, ...]) -> bool:
    return any(all(_plain(part, inputs) for part in parts) for parts in products)


@given(_PRODUCTS, _PRODUCTS)
def test_a_sum_of_products_is_what_it_says(some: list[list[int]], others: list[list[int]]) -> None:
    circuit = _sums(some, others)
    for inputs in _every_input():
        for literal, products in zip(_next(circuit), (some, others), strict=True):
            assert _holds(circuit, literal, inputs) == _sum_holds(products, inputs)


@given(_PRODUCTS, _PRODUCTS)
def test_merging_changes_nothing_and_makes_nothing_larger(
    some: list[list[int]], others: list[list[int]]
) -> None:
    circuit = _sums(some, others)
    merged = merge_conjunctions(circuit)
    assert merged.size() <= circuit.size()
    for inputs in _every_input():
        for literal, other in zip(_next(merged), _next(circuit), strict=True):
            assert _holds(merged, literal, inputs) == _holds(circuit, other, inputs)


@given(_PRODUCTS, _PRODUCTS)
def test_simplifying_changes_nothing_where_exactly_one_of_each_choice_holds(
    some: list[list[int]], others: list[list[int]]
) -> None:
    choices = [(1, 2, 3), (4, 5), (6,)]
    circuit = _sums(some, others)
    found = simplified(replace(circuit, choices=choices))
    again = simplified(found)
    assert (found.size(), found.literals.tolist()) == (again.size(), again.literals.tolist())
    for inputs in _every_input():
        if sum(inputs[:3]) == sum(inputs[3:5]) == inputs[5] == 1:
            for literal, other in zip(_next(found), _next(circuit), strict=True):
                assert _holds(found, literal, inputs) == _holds(circuit, other, inputs)


@given(st.lists(_LITERALS, max_size=7))
def test_simplifying_a_conjunction_gives_what_would_be_made_of_it_at_first(row: list[int]) -> None:
    choices = [(1, 2, 3), (4, 5), (6,)]
    gates = Gates(1 + _INPUTS)
    expected = gates.conjunction(row)
    literals = np.array(row, np.int64)
    one = Circuit(
        1 + _INPUTS,
        np.array([0, len(row)]),
        literals,
        np.array([False]),
        choices,
        {"next": np.array([2 * (1 + _INPUTS)])},
    )
    found = simplified(one)
    for inputs in _every_input():
        if sum(inputs[:3]) == sum(inputs[3:5]) == inputs[5] == 1:
            assert _holds(found, _next(found)[0], inputs) == _holds(gates, expected, inputs)


def test_gates_that_become_the_same_are_one() -> None:
    # The second gate is the first one under another name; so what reads either is the same, too.
    rows = [[2, 4], [2, 4, TRUE], [14, 6], [16, 6], [18, 20]]
    starts = np.cumsum([0, *map(len, rows)])
    literals = np.array([literal for row in rows for literal in row])
    circuit = Circuit(7, starts, literals, np.zeros(5, np.bool_), (), {"next": np.array([22])})
    found = simplified(circuit)
    assert found.size() == (2, 4)
    assert found.inputs_of(_next(found)[0]) == [6, 14]


@given(_PRODUCTS, _PRODUCTS)
def test_what_a_move_implies_is_dropped_only_where_the_move_is_legal(
    legal: list[list[int]], following: list[list[int]]
) -> None:
    move = _INPUTS
    # What makes the move legal knows nothing of the move.
    legal = [[literal for literal in parts if literal >> 1 != move] for parts in legal]
    after = [[2 * move, *parts] for parts in following]
    circuit = _sums(legal, after)
    # The move is the last of the inputs.
    outputs = {"legal": circuit.outputs["next"][:1], "next": circuit.outputs["next"][1:]}
    simpler = drop_implied_conditions(replace(circuit, outputs=outputs))
    for inputs in _every_input():
        if not inputs[move - 1] or _sum_holds(legal, inputs):
            assert _holds(simpler, _next(simpler)[0], inputs) == _sum_holds(after, inputs)


def test_shared_literals_are_taken_out() -> None:
    # ab + ac + ad is a(b + c + d): two gates instead of four.
    assert _sums([[2, 4], [2, 6], [2, 8]]).size() == (2, 5)


def _greedy(gates: Gates, products: set[frozenset[int]]) -> int:
    """Return the literal of a sum, with what most products share taken out first, one literal at a time."""
    singles = {literal for product in products if len(product) == 1 for literal in product}
    opposite = {literal ^ 1 for literal in singles}
    left = {product - opposite for product in products if product.isdisjoint(singles)}
    if frozenset() in left:
        return TRUE
    if any(len(product) < 2 for product in left):
        return _greedy(gates, left | {frozenset([literal]) for literal in singles})
    parts = [*singles]
    while left:
        counts = Counter(literal for product in left for literal in product)
        literal = min(counts, key=lambda each: (-counts[each], each))
        taken = {product for product in left if literal in product}
        left -= taken
        shared = frozenset.intersection(*taken)
        rest = _greedy(gates, {product - shared for product in taken})
        parts.append(gates.conjunction([*shared, rest]))
    return gates.disjunction(parts)


@given(_PRODUCTS)
def test_columns_take_out_what_one_literal_after_the_other_would(products: list[list[int]]) -> None:
    gates = Gates(1 + _INPUTS)
    possible = {frozenset(row) - {TRUE} for row in products if _can_hold(row)}
    literal = _greedy(gates, possible)
    expected = simplified(_circuit(*map(list, gates.gates), outputs=[literal]))
    assert _sums(products).size() == expected.size()


def test_one_gate_is_made_once() -> None:
    gates = Gates(1 + _INPUTS)
    assert gates.conjunction([2, 4]) == gates.conjunction([4, 2, TRUE, 2])
    assert gates.conjunction([2, 3]) == gates.conjunction([FALSE, 8]) == FALSE
    assert gates.conjunction([]) == gates.conjunction([TRUE]) == TRUE
    assert gates.conjunction([6]) == 6
    assert len(gates.gates) == 1


@pytest.mark.parametrize(
    ("row", "literal"),
    [([3, 5, 7, 9, 11], 12), ([2, 4], FALSE), ([2, 5], 2)],
    ids=["most do not hold", "two hold", "one holds"],
)
def test_of_a_choice_exactly_one_holds(row: list[int], literal: int) -> None:
    circuit = _circuit(row, outputs=[2 * (1 + _INPUTS)], choices=[tuple(range(1, 7))])
    assert _next(simplified(circuit)) == [literal]


def test_gates_of_the_rest_of_a_choice_stand_before_those_that_read_them() -> None:
    # The first reads what is left of the choice, which the second one is.
    circuit = _circuit([3, 5, 7, 12], [9, 11], outputs=[14, 16], choices=[tuple(range(1, 6))])
    found = simplified(circuit)
    assert found.size() == (2, 4)
    for gate in range(len(found.opened)):
        inputs = found.inputs_of(2 * (found.inputs + gate)) or []
        assert all(literal >> 1 < found.inputs + gate for literal in inputs)


@pytest.mark.parametrize("count", [0, 1, 2_999, 3_000, 20_000])
@pytest.mark.parametrize("bits", [1, 15, 16, 17, 31, 32, 33, 48, 63, 64])
def test_numbers_are_put_in_order_as_by_a_stable_sort(bits: int, count: int) -> None:
    numbers = np.random.default_rng(bits).integers(0, 1 << bits, count, np.uint64)
    numbers[: count // 2] = numbers[count - count // 2 :]  # half of them twice
    kinds = [np.uint64, *[np.int64] * (bits < 64), *[np.int32] * (bits < 32)]
    for kind in kinds:
        found = order_of(numbers.astype(kind))
        assert np.array_equal(found, np.argsort(numbers, kind="stable"))
