"""The commands ``match`` and ``replay``, as they are typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.transcripts import run
from tests.match.recordings import ROOT, find_recordings, record_names, rules_of

from anygame.match import read_record
from anygame.match.signing import verify

if TYPE_CHECKING:
    from pathlib import Path

_COMMAND = [sys.executable, "-m", "anygame"]
_SLOW = """\
import time
from anygame.players import LegalPlayer

class Slow(LegalPlayer):
    def move(self, state, clock):
        time.sleep(0.2)
        return super().move(state, clock)
"""


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def _events(output: str) -> list[dict[str, Any]]:
    """Return what is printed with --json; tracebacks of players stand on standard error beside it."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def _recorded(tmp_path: Path, *more: str) -> Path:
    """Play a match and return its record."""
    before = set(tmp_path.glob("*.json"))
    sheet = "gdl/rock_paper_scissors.kif"
    players = ["--players", "random", "legal", "--seed", "1"]
    output, status = run(["match", sheet, *players, "--record", str(tmp_path), *more])
    assert status == 0, output
    (path,) = set(tmp_path.glob("*.json")) - before
    assert f"record: {path}" in output
    return path


def test_json_is_an_object_a_line() -> None:
    arguments = ["match", "gdl/rock_paper_scissors.kif", "--players", "tests/match/games.py:Illegal", "legal"]
    output, status = run([*arguments, "--seed", "1", "--games", "2", "--json"])
    assert status == 1
    events = _events(output)
    assert [event["event"] for event in events] == [
        *["start", "ready", "turn", "turn", "turn", "end"] * 2,
        "summary",
    ]
    assert events[0]["players"] == {"left": "Illegal", "right": "legal"}
    assert events[2]["errors"] == {"left": "IL fly"}
    assert events[2]["moves"].keys() == {"left", "right"}
    assert sum(events[5]["goals"].values()) == 100
    first = events[-1]["players"][0]
    assert (first["name"], first["games"], first["errors"]) == ("Illegal", 2, 6)


_FAILING = """\
from anygame.players import Player

class Failing(Player):
    def start(self, clock):
        raise ValueError("no memory")

    def move(self, state, clock):
        raise ZeroDivisionError("division by zero")
"""


def test_the_failure_of_a_player_is_printed_and_recorded(tmp_path: Path) -> None:
    player = tmp_path / "failing.py"
    player.write_text(_FAILING)
    players = ["--players", f"{player}:Failing", "legal", "--record", str(tmp_path)]
    command = ["match", "gdl/rock_paper_scissors.kif", *players, "--seed", "1"]
    output, status = run([*command, "--json"])
    assert status == 1
    _, ready, first, *_, last = _events(output)
    assert last["failed"] == ["Failing"]
    assert ready["reasons"] == {"left": "Failing failed: ValueError: no memory"}
    assert first["errors"] == {"left": "IL nil"}
    assert first["reasons"] == {"left": "Failing failed: ZeroDivisionError: division by zero"}
    (path,) = tmp_path.glob("*.json")
    reasons = json.loads(path.read_text())["anygame"]["reasons"]
    assert reasons == [[ready["reasons"]["left"], None], *[[first["reasons"]["left"], None]] * 3]
    output, status = run(command)
    assert status == 1
    assert output.endswith("\nFailing failed: in a match, random moves replaced all moves of this player\n")
    assert "START  left: Failing failed: ValueError: no memory" in output
    assert output.count("left: IL nil (Failing failed: ZeroDivisionError: division by zero);") == 3
    output, status = run(["replay", str(path)])
    assert status == 0
    assert output.count("left: IL nil (Failing failed: ZeroDivisionError: division by zero);") == 3


def test_a_game_with_wrong_rules_ends_with_status_1(tmp_path: Path) -> None:
    sheet = tmp_path / "stuck.kif"
    sheet.write_text("(role a) (init (s 1)) (<= (legal a go) (true (s 1))) (<= terminal (true (s 9)))")
    output, status = run(["match", str(sheet), "--players", "legal"])
    assert status == 1
    assert "the match was aborted: the rules give a no legal move although the game is not over" in output


def test_a_match_continues_if_a_player_does_not_listen() -> None:
    arguments = ["match", "gdl/rock_paper_scissors.kif", "--players", "127.0.0.1:1", "legal"]
    output, status = run([*arguments, "--seed", "1", "--start-clock", "1", "--play-clock", "1"])
    assert status == 1
    assert output.count("left: CE, no answer") == 4
    assert "goals: left (127.0.0.1:1)" in output
    assert output.endswith("127.0.0.1:1 failed: in a match, random moves replaced all moves of this player\n")


def test_a_match_is_recorded_and_replayed(tmp_path: Path) -> None:
    path = _recorded(tmp_path)
    output, status = run(["replay", str(path)])
    assert status == 0
    assert output.splitlines()[0] == f"{path.stem}  left: random, right: legal"
    assert output.splitlines()[-1] == "the record agrees with the rules"
    assert run(["replay", str(path), "--check"]) == ("", 0)
    found = json.loads(run(["replay", str(path), "--json"])[0])
    assert found["faults"] == []
    assert (found["steps"], found["completed"], found["signed"]) == (3, True, False)
    boards, _ = run(["replay", str(path), "--board"])
    assert len(boards.splitlines()) > len(output.splitlines())


def test_replay_check_reports_a_changed_record(tmp_path: Path) -> None:
    path = _recorded(tmp_path)
    data = json.loads(path.read_text())
    data["goalValues"] = [1, 99]
    path.write_text(json.dumps(data))
    output, status = run(["replay", str(path), "--check"])
    assert status == 1
    assert "wrong: the goal of left is" in output


def test_records_are_signed(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    path = _recorded(tmp_path, "--sign", str(tmp_path / "key.pem"))
    verify(json.loads(path.read_text()))
    assert "and is signed" in run(["replay", str(path)])[0]
    path.write_text(path.read_text().replace('"playClock": 10', '"playClock": 11'))
    output, status = run(["replay", str(path)])
    assert status == 1
    assert "wrong: the signature does not match the record" in output


@pytest.mark.skipif(not record_names(), reason="no recorded matches (see tests/match/recordings.py)")
def test_records_of_others_need_the_rules(tmp_path: Path) -> None:
    folder = find_recordings()
    assert folder is not None
    record = str(folder / "records" / "signed.json")
    output, status = run(["replay", record])
    assert status == 2
    assert "does not contain its rules: give the rule sheet, too" in output
    sheet = tmp_path / "sheet.kif"
    sheet.write_text(rules_of("signed"))
    output, status = run(["replay", record, str(sheet)])
    assert status == 0
    assert output.endswith("the record agrees with the rules, and is signed\n")


def test_code_is_not_run_because_a_record_names_it(tmp_path: Path) -> None:
    path = _recorded(tmp_path)
    (tmp_path / "evil.py").write_text("raise SystemExit('evil')")
    data = json.loads(path.read_text())
    data |= {"isCompleted": False}
    data["anygame"]["players"] = [["x", f"{tmp_path}/evil.py:Evil"], ["y", "legal"]]
    path.write_text(json.dumps(data))
    output, status = run(["match", "--resume", str(path)])
    assert status == 2
    assert f"add --players x={tmp_path}/evil.py:Evil y=legal" in output
    data["anygame"]["players"] = "all"
    path.write_text(json.dumps(data))
    assert "names no players: add --players" in run(["match", "--resume", str(path)])[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status", "first"),
    [
        (signal.SIGINT, 130, ":"),
        (signal.SIGTERM, 143, ":"),
        # As a shell does for what a script runs in the background.
        (signal.SIGTERM, 143, "trap '' INT"),
    ],
)
def test_a_stopped_match_keeps_its_record_and_says_how_to_resume(
    number: signal.Signals, status: int, first: str, tmp_path: Path
) -> None:
    player = tmp_path / "slow.py"
    player.write_text(f"import os\nopen({str(tmp_path / 'child')!r}, 'w').write(str(os.getpid()))\n{_SLOW}")
    records = tmp_path / "records"
    players = ["--players", f"{player}:Slow", "random"]
    command = [*_COMMAND, "match", "gdl/connect_four.kif", *players, "--record", str(records)]
    process = subprocess.Popen(
        ["bash", "-c", f'{first}; exec "$@"', "bash", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith("  2"):
        assert process.poll() is None
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == status
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "child").read_text()), 0)
    (path,) = records.glob("*.json")
    assert told == f"anygame: interrupted; to resume: anygame match --resume {path}\n"
    record = read_record(path)
    assert (record.is_aborted, record.is_completed) == (True, False)
    assert record.step >= 1
    output, status = run(["match", "--resume", str(path), "--players", "random", "random"])
    assert status == 0
    assert f"resuming after move {record.step}" in output
    assert run(["replay", str(path), "--check"])[1] == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_a_record_is_stepped_through_on_a_terminal(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    path = _recorded(tmp_path)
    environment = os.environ | {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80"}
    child = pexpect.spawn(
        sys.executable, ["-m", "anygame", "replay", str(path)], env=environment, encoding="utf-8", timeout=60
    )
    child.expect("0 of 3 > ")
    child.sendline("")
    child.expect(r"  1  \S+  \S+")
    child.expect("1 of 3 > ")
    child.sendline("what")
    child.expect("Enter: next step, b: previous step")
    child.sendline("e")
    child.expect("goals: left")
    child.expect("3 of 3 > ")
    child.sendline("b")
    child.expect("2 of 3 > ")
    child.sendline("0")
    child.expect("0 of 3 > ")
    child.sendline("q")
    child.expect("the record agrees with the rules")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_a_match_on_a_terminal_shows_board_and_clock(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    player = tmp_path / "slow.py"
    player.write_text(_SLOW.replace("0.2", "0.6"))
    environment = os.environ | {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80"}
    arguments = ["-m", "anygame", "match", "gdl/tic_tac_toe.kif", "--players", f"{player}:Slow", "legal"]
    child = pexpect.spawn(sys.executable, arguments, env=environment, encoding="utf-8", timeout=60, cwd=ROOT)
    child.expect("x: Slow, o: legal")
    child.expect(r"move 1: 0\.\d of 10 s")
    child.expect(r"  1  \(mark 1 1\)  noop")
    child.expect(r"x 0\.\d s, o 0\.\d s")
    child.expect(r"goals: x \(Slow\) 100, o \(legal\) 0")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
