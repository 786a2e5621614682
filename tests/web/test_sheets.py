"""Sheets that visitors have uploaded: each is read once for the list of its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette")

from anygame.web.server import sheets
from anygame.web.server.sheets import Sheets
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_list_of_uploads_reads_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noting(text: str) -> tuple[str, str]:
        read.append(text)
        return sheets.title_of(text), ""

    kept = Sheets(Settings(folder=tmp_path))
    for visitor in ("ada", "bob", "ada"):
        kept.keep(f"; of {visitor}", visitor)
    monkeypatch.setattr(sheets, "describe_sheet", noting)
    for _ in range(3):
        assert [sheet.visitor for sheet in kept.uploaded_by("ada")] == ["ada", "ada"]
        assert len(kept.uploaded_by("bob")) == 1
        assert kept.uploaded_by("eve") == []
    assert len(read) == 3
    kept.keep("; another", "eve")
    (own,) = kept.uploaded_by("eve")
    assert own.text == ""
    found = kept.find(own.name)
    assert found is not None
    assert found.text == "; another"
    for path in (tmp_path / "sheets").iterdir():
        path.unlink()
    assert kept.uploaded_by("ada") == []
