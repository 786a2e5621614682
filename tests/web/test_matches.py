"""What a server remembers of matches, in memory and on disk: as much as is told, whatever strangers do."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette")

from anygame.web.server.matches import Match
from anygame.web.server.sheets import make_room

if TYPE_CHECKING:
    from pathlib import Path


def test_a_match_remembers_the_values_of_few_states(tmp_path: Path) -> None:
    async def run() -> None:
        match = Match("m", tmp_path / "m.json", "sheet", "title", ["x"], [{"kind": "person", "name": "x"}])
        match.update({"step": 100, "log": [["a"]]})
        for step in range(500):
            match.remember_values(step, {"moves": {}})
        assert list(match.values) == list(range(100, 500))
        match.update({"step": 100, "log": [["b"]]})
        assert not match.values

    asyncio.run(run())


@pytest.mark.parametrize(("kept", "size", "left"), [(4, 10**9, 3), (100, 450, 4), (100, 10**9, 9)])
def test_records_on_disk_are_bounded_in_number_and_size(
    tmp_path: Path, kept: int, size: int, left: int
) -> None:
    for number in range(9):
        path = tmp_path / f"{number}.json"
        path.write_text("x" * 100)
        os.utime(path, (number, number))
    make_room(tmp_path, kept, size)
    assert sorted(int(path.stem) for path in tmp_path.iterdir()) == list(range(9 - left, 9))
