"""Random rules in which a move meets everything that can stand beside it; the reasoner says what is right."""

from __future__ import annotations

import pytest
from tests.examples import examples
from tests.network.agreement import assert_agreement
from tests.network.random_rules import Writer

import anygame


@pytest.mark.slow
@pytest.mark.parametrize("block", range(examples(4)))
def test_rules_about_moves_agree_with_the_reasoner(block: int) -> None:
    tried = 0
    for seed in range(10 * block, 10 * block + 10):
        text = Writer(seed).sheet()
        try:
            anygame.loads(text)
        except anygame.RuleSheetError:
            continue
        try:
            assert_agreement(text, playouts=3, seed=seed)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{text}") from None
        tried += 1
    assert tried > 2
