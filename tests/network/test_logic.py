"""Laws of gates, sums and rewrites, by truth table."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.network.logic.building import sum_of_products
from anygame.network.logic.circuit import Circuit, simplified
from anygame.network.logic.gates import Gates
from anygame.network.logic.rewrites import drop_implied_conditions, merge_conjunctions
from anygame.network.network import FALSE, TRUE

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


def _plain(literal: int, inputs: tuple[bool, ...]) -> bool:
    return (literal >> 1 > 0 and inputs[(literal >> 1) - 1]) ^ bool(literal & 1)


def _every_input() -> list[tuple[bool, ...]]:
    return list(product([False, True], repeat=_INPUTS))


@given(_PRODUCTS)
def test_a_sum_of_products_is_what_it_says(products: list[list[int]]) -> None:
    gates = Gates(1 + _INPUTS)
    literal = sum_of_products(gates, products)
    for inputs in _every_input():
        expected = any(all(_plain(part, inputs) for part in parts) for parts in products)
        assert _holds(gates, literal, inputs) == expected


@given(_PRODUCTS, _PRODUCTS)
def test_merging_changes_nothing_and_makes_nothing_larger(
    some: list[list[int]], others: list[list[int]]
) -> None:
    gates = Gates(1 + _INPUTS)
    first, second = sum_of_products(gates, some), sum_of_products(gates, others)
    circuit = Circuit.of(gates, {("next", 0): first, ("next", 1): second})
    merged = merge_conjunctions(circuit)
    assert merged.size() <= circuit.size()
    for inputs in _every_input():
        for name, literal in circuit.outputs.items():
            assert _holds(merged, merged.outputs[name], inputs) == _holds(gates, literal, inputs)


@given(_PRODUCTS, _PRODUCTS)
def test_simplifying_changes_nothing_where_exactly_one_of_each_choice_holds(
    some: list[list[int]], others: list[list[int]]
) -> None:
    choices = [(1, 2, 3), (4, 5), (6,)]
    plain = Gates(1 + _INPUTS)
    literals = [sum_of_products(plain, products) for products in (some, others)]
    circuit = Circuit.of(plain, {("next", number): literal for number, literal in enumerate(literals)})
    found = simplified(replace(circuit, choices=choices))
    again = simplified(found)
    assert (found.size(), found.literals.tolist()) == (again.size(), again.literals.tolist())
    for inputs in _every_input():
        if sum(inputs[:3]) == sum(inputs[3:5]) == inputs[5] == 1:
            for name, literal in circuit.outputs.items():
                assert _holds(found, found.outputs[name], inputs) == _holds(plain, literal, inputs)


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
        {("next", 0): 2 * (1 + _INPUTS)},
    )
    found = simplified(one)
    for inputs in _every_input():
        if sum(inputs[:3]) == sum(inputs[3:5]) == inputs[5] == 1:
            assert _holds(found, found.outputs["next", 0], inputs) == _holds(gates, expected, inputs)


def test_gates_that_become_the_same_are_one() -> None:
    # The second gate is the first one under another name; so what reads either is the same, too.
    rows = [[2, 4], [2, 4, TRUE], [14, 6], [16, 6], [18, 20]]
    starts = np.cumsum([0, *map(len, rows)])
    literals = np.array([literal for row in rows for literal in row])
    circuit = Circuit(7, starts, literals, np.zeros(5, np.bool_), (), {("next", 0): 22})
    found = simplified(circuit)
    assert found.size() == (2, 4)
    assert found.inputs_of(found.outputs["next", 0]) == [6, 14]


@given(_PRODUCTS, _PRODUCTS)
def test_what_a_move_implies_is_dropped_only_where_the_move_is_legal(
    legal: list[list[int]], following: list[list[int]]
) -> None:
    move = _INPUTS
    gates = Gates(1 + _INPUTS)
    # What makes the move legal knows nothing of the move.
    legal = [[literal for literal in parts if literal >> 1 != move] for parts in legal]
    allowed = sum_of_products(gates, legal)
    after = sum_of_products(gates, [[2 * move, *parts] for parts in following])
    circuit = Circuit.of(gates, {("legal", move): allowed, ("next", 0): after})
    simpler = drop_implied_conditions(circuit)
    for inputs in _every_input():
        if not inputs[move - 1] or _holds(gates, allowed, inputs):
            expected = _holds(gates, after, inputs)
            assert _holds(simpler, simpler.outputs["next", 0], inputs) == expected


def test_shared_literals_are_taken_out() -> None:
    gates = Gates(1 + _INPUTS)
    # ab + ac + ad is a(b + c + d): two gates instead of four.
    sum_of_products(gates, [[2, 4], [2, 6], [2, 8]])
    assert len(gates.gates) == 2


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
    gates = Gates(1 + _INPUTS)
    circuit = Circuit.of(gates, {("next", 0): gates.conjunction(row)}, [tuple(range(1, 7))])
    assert simplified(circuit).outputs == {("next", 0): literal}


def test_gates_of_the_rest_of_a_choice_stand_before_those_that_read_them() -> None:
    gates = Gates(1 + _INPUTS)
    # The first reads what is left of the choice, which the second one is.
    first = gates.conjunction([3, 5, 7, 12])
    second = gates.conjunction([9, 11])
    outputs = {("next", 0): first, ("next", 1): second}
    found = simplified(Circuit.of(gates, outputs, [tuple(range(1, 6))]))
    assert found.size() == (2, 4)
    for gate in range(len(found.opened)):
        inputs = found.inputs_of(2 * (found.inputs + gate)) or []
        assert all(literal >> 1 < found.inputs + gate for literal in inputs)
