"""Players in processes of their own: whatever is done there, answers come and nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.protocol.loops import RULES, listening, processes, run, say

from anygame.protocol.messages import parse_info
from anygame.protocol.player.hosts import ProcessHost
from anygame.protocol.player.played_game import PlayerSettings
from anygame.protocol.player.server import PlayerServer, Said

if TYPE_CHECKING:
    from collections.abc import Callable

    Written = Callable[[str], str]

PLAYERS = """
import os, sys, time
from anygame.players import LegalPlayer

class Counting(LegalPlayer):
    matches = 0
    def start(self, clock):
        super().start(clock)
        self.matches += 1
        print("this is no event")
    def move(self, state, clock):
        return state.legal_moves(self.role)[self.matches % 2]

class Hanging(LegalPlayer):
    def move(self, state, clock):
        self.best = state.legal_moves(self.role)[-1]
        while True:
            pass

class Crashing(LegalPlayer):
    def move(self, state, clock):
        os._exit(3)

class Broken(LegalPlayer):
    def __init__(self):
        raise RuntimeError("no book of openings")
"""
#: Fourteen pigeons for thirteen holes: nobody finds places for them, and finding that out takes for ever.
_PIGEONS = [f"?p{number}" for number in range(14)]
_HOLES = " ".join(f"(hole {number})" for number in range(13))
_PLACES = " ".join(
    [f"(hole {pigeon})" for pigeon in _PIGEONS]
    + [f"(distinct {one} {other})" for one, other in combinations(_PIGEONS, 2)]
)
#: Rules that take very long, where the name says.
HOSTILE = {
    "reading": f"((role a) (legal a go) {'(f (g (h 1 2) (h 1 2)) (g (h 3 4) (h 3 4))) ' * 30_000})",
    "legal": f"((role a) {_HOLES} (<= (legal a go) {_PLACES}))",
    "next": f"((role a) {_HOLES} (legal a go) (<= (next full) {_PLACES}))",
}
CHOICE = f"((role a) {' '.join(f'(legal a {number})' for number in range(1000))})"


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return the name of a class of players, as it is given on the command line."""
    path = tmp_path / "players.py"
    path.write_text(PLAYERS)
    return lambda name: f"{path}:{name}"


def start(match_id: str = "m", rules: str = RULES, clock: float = 60, role: str = "b") -> str:
    return f"(START {match_id} {role} {rules} {clock} {clock})"


def test_a_player_of_a_user_keeps_learning_between_matches(written: Written) -> None:
    async def main() -> None:
        async with listening(written("Counting")) as (_, port):
            for match_id, moves in (("one", ["go"] * 2), ("two", ["( Put 1 X )"] * 2)):
                assert await say(port, start(match_id)) == "ready"
                found = [await say(port, f"(PLAY {match_id} {told})") for told in ("NIL", "(go go)")]
                assert found == moves
                assert await say(port, f"(STOP {match_id} (go go))") == "done"
            assert len(processes()) == 1

    run(main, 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_aborted_matches_with_hostile_rules_leave_nothing(kind: str) -> None:
    async def main() -> None:
        server = PlayerServer("legal")
        for number in range(2):
            assert await server.respond(start(f"m{number}", HOSTILE[kind], 0.5, "a")) in ("ready", "busy")
            assert await server.respond(f"(PLAY m{number} NIL)") in ("nil", "go", "busy")
            assert await server.respond(f"(ABORT m{number})") in ("aborted", "busy")
        assert parse_info(await server.respond("(INFO)")).status == "available"
        assert await server.respond(start("n")) == "ready"
        assert await server.respond("(PLAY n NIL)") == "( Put 1 X )"
        for host in list(server._sessions._ended):
            await host.wait()
        assert len(processes()) <= 2
        await server.close()
        assert processes() == set()

    run(main, 120)


def test_a_session_that_is_needed_no_more_is_ended_in_whatever_it_does() -> None:
    async def main() -> None:
        host = ProcessHost("legal", None, PlayerSettings())
        told: list[object] = []
        host.on_event = told.append
        host.send("start", "a", HOSTILE["reading"], 100.0, 100.0, time.time() + 100)
        await asyncio.sleep(0.5)
        host.end()
        await host.wait()
        assert host.is_gone
        assert processes() == set()

    run(main, 60)


def test_rules_that_do_not_terminate_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.protocol.player.match._SLACK", 0.0)
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer("legal", log=said.append)
        assert await server.respond(start("m", HOSTILE["legal"], 0.5, "a")) == "ready"
        match = server._matches["m"]
        assert await server.respond("(PLAY m NIL)") == "nil"
        while not match.host.is_gone:
            await asyncio.sleep(0.02)
        assert await server.respond("(PLAY m (go))") == "nil"
        assert await server.respond("(STOP m NIL)") == "done"
        await server.close()

    run(main, 60)
    assert said[2].note == "processing the rules timed out after 1.5 s"


@pytest.mark.slow
def test_a_player_that_hangs_has_its_best_move_played(written: Written) -> None:
    async def main() -> None:
        # It answers after two seconds, and waits for two more to hear of the best move.
        server = PlayerServer(written("Hanging"), settings=PlayerSettings(margin=8))
        assert await server.respond(f"(START m a {CHOICE} 60 8)") == "ready"
        assert await server.respond("(PLAY m NIL)") == "999"
        assert await server.respond("(STOP m (999))") == "done"
        assert await server.respond(start("next", clock=10)) == "ready"
        await server.close()

    run(main, 60)


@pytest.mark.slow
def test_a_player_that_takes_its_process_with_it_has_a_legal_move_made(written: Written) -> None:
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer(written("Crashing"), log=said.append)
        assert await server.respond(start()) == "ready"
        assert await server.respond("(PLAY m NIL)") in ("go", "( Put 1 X )")
        assert await server.respond("(PLAY m (go go))") in ("go", "( Put 1 X )", "wait")
        # Another player has taken its place, for this match alone.
        assert await server.respond("(PLAY m (go go))") in ("go", "( Put 1 X )")
        assert await server.respond("(STOP m (go go))") == "done"
        assert await server.respond(start("n")) == "ready"
        assert await server.respond("(PLAY n NIL)") in ("go", "( Put 1 X )")
        await server.close()

    run(main, 120)
    died = "the process of the player has ended (status 3); another process continues"
    assert [one.note for one in said] == ["", died, "", "", "", "", died]


def test_a_player_that_cannot_be_made_is_busy(written: Written) -> None:
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer(written("Broken"), log=said.append)
        assert await server.respond(start()) == "busy"
        assert parse_info(await server.respond("(INFO)")).status == "available"
        assert await server.respond(f"(PREVIEW {RULES} 20)") == "busy"
        await server.close()

    run(main, 60)
    assert all("no book of openings" in said[place].note for place in (0, 2))


def test_players_of_a_seed_draw_the_same_and_each_others() -> None:
    async def moves() -> list[str]:
        server = PlayerServer("random", seed=5, parallel=2)
        found = []
        for match_id in ("m", "n"):
            assert await server.respond(start(match_id, CHOICE, role="a")) == "ready"
            found.append(await server.respond(f"(PLAY {match_id} NIL)"))
        await server.close()
        return found

    first = run(moves, 60)
    assert run(moves, 60) == first
    assert first[0] != first[1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", ["SIGKILL", "SIGINT"])
def test_a_stopped_server_ends_its_processes(number: str) -> None:
    command = [sys.executable, "-m", "anygame", "player", "--port", "0", "--strategy", "legal"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=root, start_new_session=True
    ) as player:
        assert player.stdout is not None
        port = int(player.stdout.readline().split(";")[0].rpartition(":")[2])
        assert asyncio.run(say(port, start("m", HOSTILE["legal"], 0.5, "a"))) == "ready"
        children = processes(player.pid)
        assert children or not Path("/proc/self").exists()
        if number == "SIGINT":
            # As a terminal does it: everybody gets the signal.
            os.killpg(player.pid, signal.SIGINT)
        else:
            player.kill()
        player.stdout.read()
        late = time.monotonic() + 30
        while any(Path(f"/proc/{child}").exists() for child in children):
            assert time.monotonic() < late, "a process is left"
            time.sleep(0.02)
