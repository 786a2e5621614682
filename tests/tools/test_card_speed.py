"""The tool that measures graphics cards, over one that is emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cards.emulated_card import EmulatedDriver

from anygame.cards import card as cards
from anygame.cards import code
from anygame.cards import simulator as warps
from tools import card_speed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> EmulatedDriver:
    emulated = EmulatedDriver()
    monkeypatch.setattr(cards, "_library", lambda: emulated)
    monkeypatch.setattr(code, "make_ptx", lambda text: text)
    monkeypatch.setattr(card_speed, "_FIRST", 300)
    cards.card.cache_clear()
    return emulated


@pytest.mark.usefixtures("driver")
def test_a_card_is_measured_beside_a_core(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chapter = tmp_path / "speed.md"
    chapter.write_text(
        "before\n<!-- written by tools/card_speed.py -->\n\n<!-- end of what tools/card_speed.py writes -->\n"
    )
    card_speed.main(["gdl/tic_tac_toe.kif", "--seconds", "0.001", "--repeats", "1", "--into", str(chapter)])
    told = capsys.readouterr()
    assert told.out.splitlines()[0].split() == " ".join(card_speed._HEAD).split()
    assert told.out.splitlines()[1].startswith("`tic_tac_toe`")
    assert "Beside it: an emulated card." in chapter.read_text()
    assert "| `tic_tac_toe` |" in chapter.read_text()


def test_counts_that_differ_end_it(driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warps, "seeds_of_blocks", _others)
    assert driver.cards == 1
    with pytest.raises(SystemExit, match="card_speed: tic_tac_toe: card and processor differ in goals"):
        card_speed.main(["gdl/tic_tac_toe.kif", "--seconds", "0.001", "--repeats", "1"])


def _others(seed: int, blocks: range, words: int) -> object:
    from anygame.network.kernels.uniform_choice import seeds_of_blocks

    return seeds_of_blocks(seed + 1, blocks, words)


def test_a_missing_card_causes_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = EmulatedDriver()
    driver.cards = 0
    monkeypatch.setattr(cards, "_library", lambda: driver)
    cards.card.cache_clear()
    card_speed.main(["gdl/tic_tac_toe.kif"])
    assert (
        "tic_tac_toe: the driver of NVIDIA graphics cards is installed, but finds no card"
        in capsys.readouterr().err
    )
