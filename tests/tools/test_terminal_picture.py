from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
pytest.importorskip("rich")

from tools.terminal_picture import COMMANDS, picture, session  # noqa: E402


def texts(drawn: str) -> str:
    """Return what stands in a picture, without blanks, which are drawn as distances."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", drawn, re.DOTALL)
    return "".join(html.unescape(text) for text in found).replace("\xa0", "")


def test_the_picture_agrees_with_a_session() -> None:
    shown = session()
    assert "\x1b[" in shown
    assert [line[2:] for line in shown.splitlines() if line.startswith("> ")] == list(COMMANDS)
    assert texts(picture(shown)) == texts(
        (ROOT / "docs" / "guide" / "session.svg").read_text(encoding="utf-8")
    )


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    drawn = (ROOT / "docs" / "guide" / "session.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"')]+", drawn)) <= {
        "http://www.w3.org/2000/svg",
        "https://www.textualize.io",
    }
