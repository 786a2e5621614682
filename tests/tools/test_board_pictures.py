from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("rich")

from tools.board_pictures import STEPS, drawing, terminal

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", STEPS)
def test_the_pictures_are_those_that_are_drawn_now(name: str) -> None:
    kept = (ROOT / "docs" / "guide" / "boards" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawing(name) == kept, "if it is meant so: python tools/board_pictures.py docs/guide/boards"
    kept = (ROOT / "docs" / "guide" / "boards" / "terminal" / f"{name}.svg").read_text(encoding="utf-8")
    assert terminal(name) == kept, "if it is meant so: python tools/board_pictures.py docs/guide/boards"


def test_the_chapter_shows_all_of_them() -> None:
    chapter = (ROOT / "docs" / "guide" / "boards.md").read_text(encoding="utf-8")
    for folder in ("", "terminal/"):
        assert set(re.findall(rf"boards/{folder}(\w+)\.svg", chapter)) == set(STEPS)
        assert {path.stem for path in (ROOT / "docs" / "guide" / "boards" / folder).glob("*.svg")} == set(
            STEPS
        )
