"""The tool that compares the predictions of models."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

import pytest
from tests.search.tree.race import RACE
from tools.log_loss import examples, losses, main, used_alone

import anygame
from anygame.training import train

if TYPE_CHECKING:
    from pathlib import Path


def test_more_games_predict_better_than_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "race.kif"
    sheet.write_text(RACE)
    files = [str(tmp_path / f"{games}.npz") for games in (1, 4000)]
    for games, file in zip((1, 4000), files, strict=True):
        train(str(sheet), games=games, seed=1, into=file)
    assert main([str(sheet), *files, "--matches", "30", "--leaves", "50"]) == 0
    count, head, *rows = capsys.readouterr().out.splitlines()
    assert "states of 30 matches of" in count
    assert head.split()[:2] == ["model", "log-loss"]
    untrained, trained = (float(row.split()[1]) for row in rows)
    assert untrained == pytest.approx(log(2), abs=0.15)
    assert trained < untrained - 0.05


def test_states_follow_the_random_moves_and_lead_to_the_result(tmp_path: Path) -> None:
    game = anygame.load("tic_tac_toe")
    trained = train(game, games=300, seed=1, into=tmp_path / "model.npz")
    model = used_alone(trained)
    found = list(examples(game, [model], 12, 20))
    assert found
    for example in found:
        assert example.state.movers == (example.mover,)
        assert example.left <= 9 - 4
    for one, other in pairwise(found):
        if one.match == other.match:
            assert one.left == other.left + 1
            assert one.result == 1 - other.result
    assert all(loss >= 0 for loss in losses(game, model, found))


def test_wrong_arguments_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["three_player_chomp", "none.npz"], "expected a sheet with two roles, found 3"),
        (["tic_tac_toe", str(tmp_path / "none.npz")], "cannot read"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert expected in capsys.readouterr().err
