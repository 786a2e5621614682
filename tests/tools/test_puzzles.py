from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tools.puzzles import main

if TYPE_CHECKING:
    import pytest

SHEETS = Path(__file__).parents[2] / "gdl"


def test_lines_are_looked_for_on_each_sheet_for_one_role(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets = [str(SHEETS / f"{name}.kif") for name in ("tic_tac_toe", "lights_out", "knights_tour")]
    report = tmp_path / "rows.json"
    assert main([*sheets, "--seconds", "50", "100", "--json", str(report)]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "sheet"
    assert [line.split()[:6] for line in rows] == [
        [name, "100", "proven", "100", "proven", "100"] for name in ("lights_out", "knights_tour")
    ]
    kept = json.loads(report.read_text())
    assert [(row["sheet"], row["goals"]) for row in kept] == [
        ("lights_out", [100, 100]),
        ("knights_tour", [100, 100]),
    ]


def test_a_player_may_play_instead(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHEETS / "lights_out.kif"), "--seconds", "1", "--player", "legal"]) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert (row[0], row[-1]) == ("lights_out", "legal")
