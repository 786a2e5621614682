"""The functions of the search are compiled by one process, whoever needs them, and loaded by all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from anygame.search import preparing

if TYPE_CHECKING:
    from pathlib import Path

#: Stands for the process that compiles: it notes that it has begun, waits for leave to end, and ends.
_COMPILING = """
import os, pathlib, sys, time
note = pathlib.Path(sys.argv[2])
folder = note.parents[1]
with (folder / "begun").open("a") as file:
    file.write(f"{os.getpid()}\\n")
late = time.monotonic() + 60
while not (folder / "leave").exists() and time.monotonic() < late:
    time.sleep(0.01)
ENDING
"""
_COMPILED = 'note.write_bytes(b"compiled")'


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have another process compile nothing, at length, and count how often code is loaded here."""
    tmp_path.chmod(0o700)
    found: list[int] = []
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    monkeypatch.setattr(preparing, "_load", lambda: found.append(1))
    monkeypatch.setattr(preparing, "_BOOTSTRAP", _COMPILING.replace("ENDING", _COMPILED))
    return found


def _begun(folder: Path) -> list[int]:
    path = folder / "begun"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def _wait_for_begin(folder: Path, count: int = 1) -> None:
    late = time.monotonic() + 60
    while len(_begun(folder)) < count:
        assert time.monotonic() < late, "no process has begun"
        time.sleep(0.01)


def test_one_process_compiles_for_all_and_is_waited_for(tmp_path: Path, loaded: list[int]) -> None:
    threads = [Thread(target=preparing.prepare) for _ in range(3)]
    for thread in threads:
        thread.start()
    _wait_for_begin(tmp_path)
    assert not loaded
    (tmp_path / "leave").touch()
    for thread in threads:
        thread.join(60)
    assert len(loaded) == 3
    preparing.prepare()
    assert len(loaded) == 4
    assert len(_begun(tmp_path)) == 1


def test_a_process_that_dies_leaves_the_work_to_who_waits(
    tmp_path: Path, loaded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "_BOOTSTRAP", _COMPILING.replace("ENDING", "os.kill(os.getpid(), 9)"))
    (tmp_path / "leave").touch()
    preparing.prepare()
    assert len(loaded) == len(_begun(tmp_path)) == 1
    # Nothing says that the code is there: the next one begins anew.
    preparing.prepare()
    assert len(loaded) == len(_begun(tmp_path)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_what_was_begun_goes_on_when_its_beginner_is_killed(tmp_path: Path, loaded: list[int]) -> None:
    program = (
        "import sys; from anygame.search import preparing; "
        "preparing._BOOTSTRAP = sys.argv[1]; preparing.prepare()"
    )
    beginner = subprocess.Popen([sys.executable, "-c", program, preparing._BOOTSTRAP], env=os.environ)
    with beginner:
        _wait_for_begin(tmp_path)
        beginner.kill()
    waiting = Thread(target=preparing.prepare)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    assert not loaded
    (tmp_path / "leave").touch()
    waiting.join(60)
    assert len(loaded) == len(_begun(tmp_path)) == 1


def test_where_nothing_is_cached_no_process_begins(
    tmp_path: Path, loaded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", "")
    preparing.prepare()
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    preparing.prepare()
    assert len(loaded) == 2
    assert not _begun(tmp_path)
