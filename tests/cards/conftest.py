"""An emulated graphics card in place of the driver."""

from __future__ import annotations

import pytest
from tests.cards.emulated_card import EmulatedDriver
from tests.network.conftest import played_any_way as played_any_way

from anygame.cards import card as cards
from anygame.cards import code, lanes_code


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> EmulatedDriver:
    emulated = EmulatedDriver()
    monkeypatch.setattr(cards, "_library", lambda: emulated)
    for module in (code, lanes_code):
        monkeypatch.setattr(module, "make_ptx", lambda text: text)
    cards.card.cache_clear()
    return emulated
