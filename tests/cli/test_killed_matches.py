"""A manager that is killed at any moment leaves a record that is whole, sound, and can be gone on with."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest
from tests.match.recordings import ROOT

from anygame.match import read_record, replay

if TYPE_CHECKING:
    from pathlib import Path

#: How many matches are killed; ANYGAME_KILLS=50 takes two minutes.
_MATCHES: Final = int(os.environ.get("ANYGAME_KILLS", "3"))
_COMMAND: Final = [sys.executable, "-m", "anygame", "match"]
_SLOW: Final = """\
import time
from anygame.players import RandomPlayer

class Slow(RandomPlayer):
    def move(self, state, clock):
        time.sleep(0.01)
        return super().move(state, clock)
"""


def _killed(arguments: list[str], folder: Path, draw: random.Random) -> None:
    """Run a command, and kill it at some moment after its record is there."""
    process = subprocess.Popen(
        [*_COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    before = [path.stat().st_mtime_ns for path in folder.glob("*.json")]
    while process.poll() is None:
        if [path.stat().st_mtime_ns for path in folder.glob("*.json")] != before:
            break
        time.sleep(0.005)
    time.sleep(draw.uniform(0, 0.3))
    process.kill()
    process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(_MATCHES))
def test_a_killed_match_can_be_resumed(seed: int, tmp_path: Path) -> None:
    player = tmp_path / "slow.py"
    player.write_text(_SLOW)
    records = tmp_path / "records"
    records.mkdir()
    draw = random.Random(seed)
    sheet = draw.choice(["connect_four", "rock_paper_scissors", "pig", "tic_tac_toe"])
    players = ["--players", f"{player}:Slow", "random"]
    _killed([f"gdl/{sheet}.kif", *players, "--seed", str(seed), "--record", str(records)], records, draw)
    (path,) = records.glob("*.json")
    for _ in range(2):
        json.loads(path.read_bytes())
        record = read_record(path)
        assert replay(record).faults == ()
        if record.is_completed:
            break
        assert not record.is_aborted
        _killed(["--resume", str(path), *players], records, draw)
    former = read_record(path)
    done = subprocess.run(
        [*_COMMAND, "--resume", str(path), *players], capture_output=True, text=True, cwd=ROOT, check=False
    )
    record = read_record(path)
    assert replay(record).faults == ()
    assert record.is_completed
    assert record.states[: len(former.states)] == former.states
    assert record.state_times[: len(former.states)] == former.state_times
    if former.is_completed:
        assert done.returncode == 2
        assert "is completed and cannot be resumed" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
    assert len(list(records.glob("*.json"))) == 1
