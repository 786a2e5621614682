"""Matches written out in full stay as they are: states, legal moves, goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.game.playthrough import PLAYTHROUGHS, difference, main, playthrough
from tests.game.sheets import SHEETS

import anygame

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(sheet.stem for sheet in SHEETS.glob("*.kif"))


def test_every_sheet_has_a_playthrough_and_no_other_is_kept() -> None:
    assert sorted(path.stem for path in PLAYTHROUGHS.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_match_goes_as_it_did(name: str) -> None:
    kept = (PLAYTHROUGHS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    found = list(playthrough(anygame.load(SHEETS / f"{name}.kif")))
    changed = difference(kept, found)
    assert not changed, f"{changed}\nif it should: python -m tests.game.playthrough --write"


@pytest.mark.parametrize("name", NAMES)
def test_a_playthrough_reaches_the_end(name: str) -> None:
    lines = (PLAYTHROUGHS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    game = anygame.load(SHEETS / f"{name}.kif")
    goals = lines[-len(game.roles) :]
    assert [line.split(":")[0] for line in goals] == [f"goal {role}" for role in game.roles]
    assert [line for line in lines if line.startswith("state ")][-1].endswith(", terminal")
    assert max(map(len, lines)) <= 110


def test_the_first_difference_is_described() -> None:
    kept = ["state 0", "facts: a b", "move: x", "", "state 1", "facts: c"]
    assert difference(kept, kept) == ""
    assert (
        difference(kept, [*kept[:5], "facts: d"])
        == "line 6, in state 1:\n  kept:  facts: c\n  found: facts: d"
    )
    assert "line 6, in state 1:" in difference(kept, kept[:5])
    assert "line 1, at the start:" in difference([], kept)


def test_playthroughs_are_written_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
    assert main(["--write"], tmp_path) == 0
    assert sorted(path.stem for path in tmp_path.iterdir()) == NAMES
    capsys.readouterr()
    assert main([], tmp_path) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}.txt: the same" for name in NAMES]
