"""Sheets that visitors have uploaded: each is read once for the list of its owner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

pytest.importorskip("starlette")

from tests.web.conftest import Server

import anygame
from anygame.search.model import TrainingProgress, model_path
from anygame.training import train
from anygame.web.server import sheets
from anygame.web.server.sheets import Sheets
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_of_a_sheet_describes_models_of_opponents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path / "models"))
    game = anygame.load("tic_tac_toe")
    server = Server(tmp_path / "matches", [])
    server.start()
    try:
        with httpx.Client(base_url=server.address, timeout=60) as client:
            assert "learned" not in client.get("/sheet/tic_tac_toe").text
            path = model_path(game)
            assert path is not None
            model = train(game, games=300, seed=1)
            point = TrainingProgress(1000, 9000, 1.0, 0.2, 0.75, 12, (0.47, 0.91))
            for trust, words in (
                (0.0, "300 training games did not improve play"),
                (0.6, "use a model trained on 300 games"),
            ):
                figures = replace(model.figures, games=300, trust=trust, history=(point,))
                replace(model, figures=figures).save(path)
                page = client.get("/sheet/tic_tac_toe").text
                assert words in page
                assert "75 %" in page
                assert "47 to 91" in page
            path.write_bytes(b"")
            assert "learned" not in client.get("/sheet/tic_tac_toe").text
    finally:
        server.stop()


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
