"""A training that is killed at any moment leaves a whole checkpoint: only what came after it is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest
from tests.search.tree.race import RACE

import anygame
from anygame.search.array_file import read_arrays
from anygame.search.learning import FORMAT
from anygame.training import train

if TYPE_CHECKING:
    from pathlib import Path

#: How often the training is killed; ANYGAME_KILLS=20 takes a minute.
_KILLS: Final = int(os.environ.get("ANYGAME_KILLS", "4"))
#: Checkpoints follow each other at once, so that many a kill meets one that is being written.
_COMMAND: Final = [
    sys.executable,
    "-c",
    "import sys\n"
    "from anygame.cli.main import main\n"
    "from anygame.search.learning import run\n"
    "assert run._CHECKPOINT_SECONDS\n"
    "run._CHECKPOINT_SECONDS = 0.01\n"
    "sys.exit(main(sys.argv[1:]))",
]


def _arguments(folder: Path) -> list[str]:
    """Return those of a training that takes too long."""
    sheet = folder / "race.kif"
    sheet.write_text(RACE)
    model = str(folder / "model.npz")
    return ["train", str(sheet), "--games", "9000000", "--into", model, "--seed", "1", "--json"]


def _games(path: Path) -> int:
    header, arrays = read_arrays(path, FORMAT)
    return sum(int(arrays[f"{number} counts"][0]) for number in range(header["threads"]))


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_killed_training_continues_from_its_last_checkpoint(tmp_path: Path, threads: str) -> None:
    draw = random.Random(threads)
    model, checkpoint = tmp_path / "model.npz", tmp_path / "model.npz.1.learning"
    arguments = _arguments(tmp_path)
    before = 0
    for number in range(_KILLS):
        with subprocess.Popen(
            [*_COMMAND, *arguments, "--threads", threads, *(["--resume"] if number else [])],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            # The line is printed before the checkpoint is written: that before it is on the disk.
            lines = [json.loads(next(process.stdout)) for _ in range(draw.randint(2, 20))]
            time.sleep(draw.uniform(0, 0.03))
            process.kill()
        assert lines[0]["games"] >= before  # nothing that was on the disk is done again
        before = _games(checkpoint)
        assert before >= lines[-2]["games"]
    found = train(anygame.loads(RACE), games=1, into=model, resume=True)
    assert found.figures.games == before
    # Neither locks nor halves of checkpoints stay.
    assert sorted(path.name for path in tmp_path.iterdir()) == [model.name, checkpoint.name, "race.kif"]


def test_only_one_process_at_a_time_continues_a_training(tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    with subprocess.Popen([*_COMMAND, *_arguments(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [json.loads(next(process.stdout)) for _ in range(3)]
        with pytest.raises(anygame.ModelError, match=r"another process trains .* with the seed 1"):
            train(anygame.loads(RACE), games=100, into=model, seed=1)
        with pytest.raises(
            anygame.ModelError, match=r"can be resumed; another process has resumed .*\.learning"
        ):
            train(anygame.loads(RACE), games=100, into=model, resume=True)
        other = train(anygame.loads(RACE), games=300, into=tmp_path / "other.npz", seed=2)
        assert other.figures.games < 900
        process.kill()
    assert train(anygame.loads(RACE), games=100, into=model, resume=True).figures.games >= lines[1]["games"]
