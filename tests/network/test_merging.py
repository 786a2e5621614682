"""Merging atoms changes no answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anygame.network.logic.atoms import FAILS, HOLDS, equal_disjunctions, merge
from anygame.network.logic.factoring import Products

_INPUTS = 3
_ATOMS = 12
#: Each atom is derived from atoms before it, so that there are no cycles but those made on purpose.
_RULES = st.lists(
    st.tuples(
        st.integers(_INPUTS, _ATOMS - 1),
        st.lists(st.tuples(st.integers(0, _ATOMS - 1), st.booleans()), max_size=3),
    ),
    max_size=25,
)


def _stratified(rules: list[tuple[int, list[tuple[int, bool]]]]) -> list[tuple[int, list[int]]]:
    """Return rules whose bodies come before their heads, as literals."""
    return [(head, [2 * (atom % head) + negated for atom, negated in body]) for head, body in rules]


def _products(rules: list[tuple[int, list[int]]]) -> Products:
    rules = sorted(rules, key=lambda rule: rule[0])
    lengths = [len(body) for _, body in rules]
    literals = np.array([part for _, body in rules for part in body], np.int64)
    heads = np.array([head for head, _ in rules], np.int64)
    return Products(heads, np.repeat(np.arange(len(rules)), lengths), literals)


def _model(rules: list[tuple[int, list[int]]], inputs: int, facts: set[int]) -> list[bool]:
    held = [bool(inputs >> atom & 1) if atom < _INPUTS else atom in facts for atom in range(_ATOMS)]
    for atom in range(_INPUTS, _ATOMS):
        held[atom] |= any(
            all(held[part >> 1] != bool(part & 1) for part in body) for head, body in rules if head == atom
        )
    return held


@given(_RULES, st.sets(st.integers(_INPUTS, _ATOMS - 1), max_size=2))
def test_every_atom_is_what_it_has_become(
    drawn: list[tuple[int, list[tuple[int, bool]]]], facts: set[int]
) -> None:
    rules = _stratified(drawn)
    is_input = np.arange(_ATOMS) < _INPUTS
    fact_mask = np.isin(np.arange(_ATOMS), list(facts))
    literal_of, products = merge(_products(rules), is_input, fact_mask)
    heads = products.of.tolist()
    left = [(head, products.literals[products.owners == n].tolist()) for n, head in enumerate(heads)]
    assert all(literal_of[head] == 2 * head for head, _ in left)
    for inputs in range(1 << _INPUTS):
        expected = _model(rules, inputs, facts)
        found = _model(left, inputs, set())
        for atom in range(_ATOMS):
            literal = int(literal_of[atom])
            if literal < 0:
                assert expected[atom] == (literal == HOLDS)
            else:
                assert expected[atom] == (found[literal >> 1] != bool(literal & 1))


def test_names_for_one_atom_are_that_atom() -> None:
    # 3 and 4 are names for 0, and 5 for what holds where 0 does not; so 6 never does.
    rules = [(3, [0]), (4, [6]), (5, [9]), (6, [8, 10]), (7, [0, 2])]
    literal_of, _ = merge(_products(rules), np.arange(8) < 3, np.zeros(8, np.bool_))
    assert literal_of.tolist() == [0, 2, 4, 0, 0, 1, FAILS, 14]


def test_atoms_with_equal_derivations_are_merged() -> None:
    rules = [(3, [0, 2]), (4, [0, 2]), (5, [6, 4]), (6, [4, 8])]
    literal_of, products = merge(_products(rules), np.arange(7) < 3, np.zeros(7, np.bool_))
    assert literal_of.tolist() == [0, 2, 4, 6, 6, 10, 10]
    assert len(products.of) == 2


def test_names_that_go_round_in_a_circle_stay() -> None:
    rules = [(3, [8]), (4, [6]), (5, [6])]
    literal_of, products = merge(_products(rules), np.arange(6) < 3, np.zeros(6, np.bool_))
    assert literal_of[3] in (6, 8)
    assert set(products.of.tolist()) & {3, 4}


_READ = 6
#: Disjunctions 6, 7, ... of what comes before them, and of one another.
_DISJUNCTIONS = st.lists(
    st.sets(st.tuples(st.integers(0, _READ + 5), st.booleans()), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


def _equal(sums: list[list[int]], first: int) -> dict[int, int]:
    owners = np.repeat(np.arange(first, first + len(sums)), [len(parts) for parts in sums])
    again, instead = equal_disjunctions(owners, np.concatenate([np.array(parts) for parts in sums]))
    return dict(zip(again.tolist(), instead.tolist(), strict=True))


@given(_DISJUNCTIONS)
def test_equal_disjunctions_hold_alike(drawn: list[set[tuple[int, bool]]]) -> None:
    sums = [
        sorted({2 * min(part, _READ + n) + inverted for part, inverted in parts})
        for n, parts in enumerate(drawn)
    ]
    sums = [[part for part in parts if part >> 1 < _READ + n] or [0] for n, parts in enumerate(sums)]
    equal = _equal(sums, _READ)
    assert not set(equal) & set(equal.values())
    for inputs in range(1 << _READ):
        held = [bool(inputs >> n & 1) for n in range(_READ)]
        for parts in sums:
            held.append(any(held[part >> 1] != bool(part & 1) for part in parts))
        assert all(held[one] == held[other] for one, other in equal.items())


def test_disjunctions_of_the_same_are_one() -> None:
    # 3 is 0 or 1, 4 is 1 or 2, 5 is 3 or 2, 6 is 0 or 4; 7 reads itself, and 8 what is inverted.
    assert _equal([[0, 2], [2, 4], [4, 6], [0, 8], [14, 2], [3, 0]], 3) == {6: 5}


def test_large_disjunctions_count_as_one() -> None:
    # 300 and 301 are equal, and so are 302 and 303, which read what has very many literals.
    large = list(range(0, 400, 2))
    assert _equal([large, [1, 3], [3, 1], [600, 1], [1, 600]], 300) == {302: 301, 304: 303}
