from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright")
pytest.importorskip("uvicorn")

from tools.page_pictures import PICTURES

ROOT = Path(__file__).parents[2]


def size(path: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


@pytest.mark.slow
def test_pictures_of_pages_are_made(tmp_path: Path) -> None:
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("there is no Chromium: apt-get install chromium")
    command = [sys.executable, "tools/page_pictures.py", "docs", "--into", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    for name in PICTURES:
        assert size(tmp_path / name) == size(ROOT / "docs" / name)


def test_chapters_show_all_of_them() -> None:
    for name in PICTURES:
        folder, _, picture = name.partition("/")
        chapter = ROOT / "docs" / folder / f"{picture.partition('/')[0].partition('.')[0]}.md"
        assert re.search(rf"!\[[^]]+\]\({picture}\)", chapter.read_text(encoding="utf-8"))
