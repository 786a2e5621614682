from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.protocol.loops import listening, run
from tests.tools.chapters import shown
from tools.manager_loop import main as manager_loop
from tools.manager_loop import manage, read_address

from anygame.players import LegalPlayer, RandomPlayer

ROOT = Path(__file__).parents[2]
SHEET = str(ROOT / "gdl" / "tic_tac_toe.kif")


@pytest.mark.slow
def test_two_players_print_the_documented_output() -> None:
    arguments = (
        "tools/two_players.py gdl/tic_tac_toe.kif legal random --seed 1 --start-clock 5 --play-clock 2"
    )
    done = subprocess.run(
        [sys.executable, *arguments.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.stdout, done.stderr, done.returncode) == (shown(f"python {arguments}"), "", 0)


def test_two_players_tell_of_players_that_there_are_not() -> None:
    done = subprocess.run(
        [sys.executable, "tools/two_players.py", SHEET, "legal", "nobody"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 2
    assert "there is no player 'nobody'" in done.stderr


def test_the_manager_plays_on_all_sheets_and_changes_roles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        async with (
            listening(LegalPlayer, name="Lex") as (_, one),
            listening(RandomPlayer, name="Rona") as (_, two),
        ):
            options = argparse.Namespace(
                sheets=[SHEET, str(ROOT / "gdl" / "rock_paper_scissors.kif")],
                players=[("127.0.0.1", one), ("127.0.0.1", two)],
                start_clock=5,
                play_clock=2,
                matches=4,
                records=tmp_path,
            )
            await manage(options)

    run(main, 60)
    lines = capsys.readouterr().out.splitlines()
    form = r" +{} {}: (Lex|Rona) (\d+) \([\d.]+\), (Lex|Rona) \d+ \([\d.]+\)"
    sheets = ["tic_tac_toe", "rock_paper_scissors"] * 2
    found = [
        re.fullmatch(form.format(number, sheet), line)
        for number, (sheet, line) in enumerate(zip(sheets, lines, strict=True), 1)
    ]
    assert [each and each[1] for each in found] == ["Lex", "Lex", "Rona", "Rona"]
    assert all(re.fullmatch(r"   \d .*", line) for line in shown("python tools/manager_loop.py").splitlines())
    records = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    assert [record["isCompleted"] for record in records] == [True] * 4


def test_the_manager_wants_addresses_and_sheets(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_address("[::1]:9147") == ("::1", 9147)
    with pytest.raises(argparse.ArgumentTypeError, match="expected HOST:PORT, found 'here'"):
        read_address("here")
    assert manager_loop(["no/such.kif", "--players", "a:1"]) == 2
    assert capsys.readouterr().err.startswith("manager_loop: cannot read no/such.kif")
