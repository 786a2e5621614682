"""Rows of matches with themselves say what was played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import anygame
from anygame.cluster import SelfPlay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game import Batch


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", "rock_paper_scissors"])
def test_rows_are_the_states_and_moves_of_matches(name: str) -> None:
    game = anygame.load(name)
    rows = SelfPlay(game, seed=4).block(2, matches=9)
    assert set(rows["match"] - 1024) <= set(range(9))
    batch = game.batch(1)
    for match in np.unique(rows["match"]):
        mine = rows["match"] == match
        assert rows["step"][mine].tolist() == list(range(mine.sum()))
        batch.reset()
        for state, moves in zip(rows["state"][mine], rows["moves"][mine], strict=True):
            assert (batch.packed()[0] == state).all()
            batch.step({role: moves[[place]] for place, role in enumerate(game.roles)})
        assert batch.terminal.all()
        goals = np.array([batch.goals(role)[0] for role in game.roles])
        assert np.array_equal(rows["goals"][mine][0], goals, equal_nan=True)


def _first(batch: Batch) -> Mapping[str, np.ndarray]:
    return {role: batch.legal_mask(role).argmax(axis=1) for role in batch.game.roles}


def test_a_policy_chooses() -> None:
    rows = SelfPlay(anygame.load("tic_tac_toe"), policy=_first).block(0, matches=3)
    assert (rows["moves"][rows["step"] == 0][:, 0] == 0).all()
    assert len(np.unique(np.bincount(rows["match"]))) == 1


def test_long_matches_have_no_rows() -> None:
    assert not len(SelfPlay(anygame.load("tic_tac_toe"), limit=3).block(0, matches=4)["match"])


def test_a_block_is_no_larger_than_the_lanes() -> None:
    with pytest.raises(ValueError, match="from 1 to 512 matches in a block, got 513"):
        SelfPlay(anygame.load("tic_tac_toe")).block(0, matches=513)


def test_seeds_make_the_difference() -> None:
    game = anygame.load("tic_tac_toe")
    one, same, other = (SelfPlay(game, seed=seed).block(0, matches=8) for seed in (1, 1, 2))
    assert np.array_equal(one["moves"], same["moves"])
    assert not np.array_equal(one["moves"], other["moves"])
    assert not np.array_equal(one["moves"], SelfPlay(game, seed=1).block(1, matches=8)["moves"])
