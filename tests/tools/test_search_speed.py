"""The tool that tells where the time of searches goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tools.search_speed import main

from anygame.search.tree import growing, searcher

if TYPE_CHECKING:
    import pytest


def test_the_tool_measures_the_search_of_a_sheet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect_four", "--seconds", "0.1", "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["leaves_per_second"][0] > 0
    assert found["uct_leaves_per_second"][0] > 0
    assert found["nodes"] > 7
    assert not found["solved"]
    assert set(found["parts"]) == {"making", "playing", "learning", "descending"}
    assert min(found["parts"].values()) > 0
    assert abs(sum(found["parts"].values()) - 1) < 1e-9
    assert getattr(searcher, "grow") is growing.grow  # noqa: B009 - it is no part of what the module offers
