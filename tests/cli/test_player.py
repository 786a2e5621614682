from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from typing import TYPE_CHECKING

import pytest

from anygame.cli.commands import player as cli
from anygame.cli.main import main
from anygame.players import LegalPlayer
from anygame.protocol import PlayerServer

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RULES = (
    "((role a) (legal a 1) (legal a 2) (<= (next done) (does a ?m)) (<= terminal (true done)) (goal a 50))"
)


@contextmanager
def player(*options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "anygame", "player", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def say(port: int, message: str) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", data=message.encode(), method="POST")
    with urllib.request.urlopen(request, timeout=20) as response:
        text: str = response.read().decode()
        return text


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_player_server_runs_until_it_is_stopped(number: signal.Signals) -> None:
    with player("--port", "0", "--strategy", "legal", "--name", "A b", "--json") as process:
        assert process.stdout is not None
        listening = json.loads(process.stdout.readline())
        assert listening == {
            "event": "listening",
            "host": "127.0.0.1",
            "port": listening["port"],
            "name": "A_b",
            "strategy": "legal",
        }
        port = listening["port"]
        assert say(port, "( INFO )") == "( ( name A_b ) ( status available ) )"
        assert say(port, f"( START m.1 a {RULES} 60 60 )") == "ready"
        assert say(port, "( PLAY m.1 NIL )") == "1"
        assert say(port, "( PLAY m.1") == "nil"
        process.send_signal(number)
        output, errors = process.communicate(timeout=30)
        assert (errors, process.returncode) == ("", 0)
    events = list(map(json.loads, output.splitlines()))
    assert [(each["message"], each["match"], each["reply"]) for each in events[:-1]] == [
        ("INFO", "", "( ( name A_b ) ( status available ) )"),
        ("START", "m.1", "ready"),
        ("PLAY", "m.1", "1"),
        ("PLAY", "", "nil"),
    ]
    assert [each["note"] for each in events[:3]] == [""] * 3
    assert events[3]["note"] == "the message cannot be read: an opening parenthesis is never closed"
    assert set(events[0]) == {
        "event", "time", "peer", "message", "match", "text", "reply", "seconds", "note",
    }  # fmt: skip
    assert events[-1] == {"event": "stopped"}


def test_the_player_prints_lines_for_people() -> None:
    with player("--port", "0", "--strategy", "random", "--seed", "1") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("anygame-random (random) listens on 127.0.0.1:")
        assert first.endswith("; Ctrl-C stops the player\n")
        say(int(first.split(";")[0].rpartition(":")[2]), "(who are you)")
        assert process.stdout.readline().endswith(" ? -> nil  0.00 s  [no message starts with who]\n")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("stopped\n", "")


@pytest.mark.slow
def test_the_player_server_runs_the_class_of_a_user(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from anygame.players import Player\n"
        "class Last(Player):\n"
        "    def move(self, state, clock):\n"
        "        return state.legal_moves(self.role)[-1]\n"
    )
    with player("--port", "0", "--strategy", f"{path}:Last") as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(";")[0].rpartition(":")[2])
        say(port, f"( START m.1 a {RULES} 60 60 )")
        assert say(port, "( PLAY m.1 NIL )") == "2"


def test_a_closed_output_ends_the_player() -> None:
    with player("--port", "0", "--strategy", "legal") as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split(";")[0].rpartition(":")[2])
        process.stdout.close()
        say(port, "(ping)")
        assert process.wait(timeout=30) == 141


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["player", "--port", str(port), "--strategy", "legal"]) == 2
    assert f"cannot listen on 127.0.0.1, port {port}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "mtcs"], "there is no player 'mtcs'; did you mean mcts?"),
        (
            ["--strategy", "localhost:9147"],
            "expected a strategy or a class for the player, found the address localhost:9147",
        ),
        (
            ["--host", "no.such.host.invalid", "--port", "1"],
            "cannot listen on no.such.host.invalid, port 1: ",
        ),
        (["--port", "70000"], "expected a port from 0 to 65535, found '70000'"),
        (["--port", "x"], "expected a port from 0 to 65535, found 'x'"),
        (["--parallel", "0"], "expected a whole number of at least 1, found '0'"),
        (["--margin", "-1"], "expected seconds above 0, such as 90, 1.5, 30m or 8h, found '-1'"),
    ],
)
def test_bad_arguments_fail(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["player", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    assert message in capsys.readouterr().err


def test_a_missing_h11_causes_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "h11", None)
    sheet = str(ROOT / "gdl" / "tic_tac_toe.kif")
    for arguments in (["player", "--port", "0"], ["match", sheet, "--players", "localhost:1", "random"]):
        assert main(arguments) == 2
        assert "pip install 'anygame[match]'" in capsys.readouterr().err


def test_the_next_port_is_used_where_none_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def listening() -> int:
        server = PlayerServer(LegalPlayer)
        try:
            return await cli._listening(server, "127.0.0.1", None)
        finally:
            await server.close()

    with create_server(("127.0.0.1", 0)) as taken:
        usual = taken.getsockname()[1]
        monkeypatch.setattr(cli, "_USUAL_PORT", usual)
        assert usual < asyncio.run(listening()) < usual + 10
