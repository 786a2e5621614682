from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.tools.chapters import shown
from tools.line_player import LinePlayer, main

import anygame
from anygame.match import Record, run

ROOT = Path(__file__).parents[2]
SHEET = str(ROOT / "gdl" / "rock_paper_scissors.kif")


def _played(program: str, clock: float = 20) -> Record:
    """Play a program in Python, given as text, against a player with a fixed move."""
    others = set(threading.enumerate())
    player = LinePlayer([sys.executable, "-c", program])
    record = run(anygame.load(SHEET), [player, "legal"], start_clock=clock, play_clock=clock, seed=1)
    for thread in set(threading.enumerate()) - others:
        thread.join(60)
    return record


def test_a_program_plays_as_is_shown() -> None:
    arguments = "tools/line_player.py gdl/rock_paper_scissors.kif python3 tools/line_random.py"
    done = subprocess.run(
        [sys.executable, *arguments.replace("python3", sys.executable).split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (shown(f"python {arguments}"), "")


def test_a_program_receives_all_needed_keys(capfd: pytest.CaptureFixture[str]) -> None:
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    told = json.loads(line)\n"
        "    print(sorted(told), file=sys.stderr)\n"
        "    print('(', end='') if False else print(told.get('legal', ['ready'])[-1], flush=True)\n"
    )
    record = _played(program)
    assert record.errors == [["", ""]] * 4
    assert {joint[0] for joint in record.moves} == {"scissors"}
    told = capfd.readouterr().err.splitlines()
    assert told[0] == "['role', 'roles', 'rules', 'seconds', 'type']"
    assert told[1:4] == ["['facts', 'legal', 'seconds', 'type']"] * 3
    assert told[4:] == ["['goals', 'type']"]


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("raise SystemExit", "IL nil"),
        ("import sys\nfor line in sys.stdin: print('fly', flush=True)", "IL fly"),
        ("import sys\nfor line in sys.stdin: print('(', flush=True)", "IL nil"),
    ],
)
def test_programs_that_fail_lose_no_match(program: str, error: str) -> None:
    record = _played(program)
    assert record.is_completed
    assert {errors[0] for errors in record.errors[1:]} == {error}


def test_a_program_that_ends_after_its_first_line_loses_no_match() -> None:
    record = _played("import sys\nprint('ready', flush=True)\nsys.stdin.readline()")
    assert record.is_completed
    # Its greeting is taken for a move where it was started anew for the question.
    assert {errors[0] for errors in record.errors[1:]} <= {"IL nil", "IL ready"}


def test_a_program_that_hangs_is_ended() -> None:
    record = _played("import time; time.sleep(100)", clock=0.5)
    assert record.is_completed
    assert {errors[0] for errors in record.errors[1:]} <= {"IL nil", "TO"}


def test_others_play_at_random(capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [str(ROOT / "gdl" / "three_player_chomp.kif"), sys.executable, str(ROOT / "tools" / "line_random.py")]
    )
    assert capsys.readouterr().out.splitlines()[-2].startswith("RandomPlayer: ")
