"""The measurement of setting up: what it prints, and of which sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.transcripts import ROOT

from tools import set_up

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_set_up_prints_its_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", "")
    broken = tmp_path / "broken.kif"
    broken.write_text("(role x")
    assert set_up.main([str(ROOT / "gdl" / "pig.kif"), str(broken)]) == 0
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[2].startswith("| `pig` | ")
    assert float(lines[2].split("|")[3]) > 0
    assert lines[3].startswith("| median of 1 | | ")
    assert "broken.kif" in told.err
