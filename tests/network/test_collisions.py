"""Rows with the same hash stay different: the author of a sheet can construct collisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.network import test_logic as logic
from tests.network import test_merging as merging
from tests.network.agreement import assert_agreement

import anygame
from anygame.network import ragged
from anygame.network.logic import atoms, factoring

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def _always_the_same(values: NDArray[np.uint64], *_: Any) -> NDArray[np.uint64]:
    return np.zeros(len(values), np.uint64)


def _sums_collide(values: NDArray[np.uint64], *_: Any) -> NDArray[np.uint64]:
    """Return the numbers themselves, so that 1 + 4 and 2 + 3 collide."""
    return values


@pytest.fixture(autouse=True, params=[_always_the_same, _sums_collide])
def _poor_hash(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (atoms, factoring, ragged):
        monkeypatch.setattr(module, "mixed", request.param)


@pytest.mark.parametrize(
    "law",
    [
        merging.test_every_atom_is_what_it_has_become,
        merging.test_equal_disjunctions_hold_alike,
        logic.test_a_sum_of_products_is_what_it_says,
        logic.test_merging_changes_nothing_and_makes_nothing_larger,
        logic.test_simplifying_changes_nothing_where_exactly_one_of_each_choice_holds,
    ],
)
def test_laws_of_merging_hold(law: Callable[[], None]) -> None:
    law()


def test_conjunctions_that_collide_are_kept() -> None:
    # 5 is derived from two conjunctions, and 6 from others, of which the sums collide.
    rules = [(5, [2, 8]), (5, [4, 6]), (6, [2, 6]), (6, [4, 4]), (6, [0, 8])]
    literal_of, products = atoms.merge(merging._products(rules), np.arange(7) < 5, np.zeros(7, np.bool_))
    assert literal_of.tolist() == [0, 2, 4, 6, 8, 10, 12]
    assert len(products.of) == len(rules)


@pytest.mark.parametrize("name", ["tic_tac_toe", "three_player_chomp", "pig"])
def test_games_stay_what_they_are(name: str) -> None:
    assert_agreement(str(anygame.load(name).program), playouts=5)


def test_products_that_collide_are_kept() -> None:
    # Without the first literal of the others, which the single one settles: 4 + 10 is as much as 6 + 8.
    sums = [[2], [3, 4, 10], [3, 6, 8]]
    found = logic._sums(sums)
    for inputs in logic._every_input():
        assert logic._holds(found, logic._next(found)[0], inputs) == logic._sum_holds(sums, inputs)
