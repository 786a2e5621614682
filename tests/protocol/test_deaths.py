"""Processes of matches that are killed, or tell what is no event: another one goes on in time."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.loops import RULES, listening, processes, run, say, started

import anygame
from anygame.language.parser import parse_term
from anygame.processes import child
from anygame.processes.inside import decode_message
from anygame.protocol.messages import parse_info
from anygame.protocol.player import match as match_module
from anygame.protocol.player.hosts import ProcessHost, check_event
from anygame.protocol.player.played_game import PlayerSettings
from anygame.protocol.player.server import PlayerServer, Said

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_SHEETS = Path(__file__).parents[2] / "gdl"
_KILLED = "the process of the player was ended (SIGKILL); another process continues"
_FIRST = {"go", "( Put 1 X )"}

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nobody tells what runs here")

#: Players that tell when they are asked what, in a file, and then think for as long as they may.
PLAYERS = """
import time
from pathlib import Path
from anygame.players import LegalPlayer

class Thinking(LegalPlayer):
    def start(self, clock):
        super().start(clock)
        self.tell("start")
        self.wait(clock)
    def move(self, state, clock):
        self.best = state.legal_moves(self.role)[-1]
        self.tell("move")
        self.wait(clock)
        return self.best
    def tell(self, word):
        with Path(__file__).with_name("told").open("a") as file:
            file.write(word + "\\\\n")
    def wait(self, clock):
        while not clock.is_up and not Path(__file__).with_name("leave").exists():
            time.sleep(0.01)
"""


def _kill() -> None:
    (process,) = processes()
    os.kill(process, signal.SIGKILL)


async def _told(folder: Path, words: list[str]) -> None:
    """Wait until a player was asked for these."""
    path = folder / "told"
    async with asyncio.timeout(60):
        while not path.exists() or path.read_text().split() != words:
            await asyncio.sleep(0.01)


@pytest.fixture
def thinking(tmp_path: Path) -> str:
    path = tmp_path / "players.py"
    path.write_text(PLAYERS.replace("\\\\", "\\"))
    return f"{path}:Thinking"


@pytest.mark.slow
def test_a_match_continues_after_its_process_is_killed(thinking: str, tmp_path: Path) -> None:
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer(thinking, log=said.append)
        starting = asyncio.create_task(server.respond(f"(START m b {RULES} 60 60)"))
        await _told(tmp_path, ["start"])
        _kill()
        await _told(tmp_path, ["start", "start"])
        (tmp_path / "leave").touch()
        assert await starting == "ready"
        assert await server.respond("(PLAY m NIL)") == "go"
        _kill()
        (tmp_path / "leave").unlink()
        asking = asyncio.create_task(server.respond("(PLAY m (go go))"))
        # Getting ready is over at once: its clock is up.
        await _told(tmp_path, ["start", "start", "move", "start", "move"])
        _kill()
        await _told(tmp_path, ["start", "start", "move", "start", "move", "start", "move"])
        (tmp_path / "leave").touch()
        # In the second turn alone it may wait.
        assert await asking == "wait"
        assert await server.respond("(PLAY m (go wait))") == "go"
        assert await server.respond("(STOP m (go go))") == "done"
        await server.close()

    run(main, 200)
    assert [one.note for one in said] == [_KILLED, "", _KILLED, "", ""]


@pytest.mark.slow
def test_a_death_that_is_heard_of_with_a_message_loses_neither(thinking: str, tmp_path: Path) -> None:
    async def main() -> None:
        server = PlayerServer(thinking)
        (tmp_path / "leave").touch()
        assert await server.respond(f"(START m b {RULES} 60 60)") == "ready"
        assert await server.respond("(PLAY m NIL)") == "go"
        asking = asyncio.create_task(server.respond("(PLAY m (go go))"))
        match = server._matches["m"]
        # The message comes, and the death is told before anything else is done.
        await asyncio.sleep(0)
        match.host.end()
        match._receive(["gone", "it has died"])
        assert await asking == "wait"
        await server.close()

    run(main, 60)


@pytest.mark.slow
def test_stop_and_abort_after_a_death_end_the_match(thinking: str, tmp_path: Path) -> None:
    async def main() -> None:
        server = PlayerServer(thinking)
        (tmp_path / "leave").touch()
        for match_id, end, reply in (("m", "(STOP m NIL)", "done"), ("n", "(ABORT n)", "aborted")):
            assert await server.respond(f"(START {match_id} b {RULES} 60 60)") == "ready"
            _kill()
            assert await server.respond(end) == reply
            assert parse_info(await server.respond("(INFO)")).status == "available"
        # One that waits for a match, too.
        assert await server.respond(f"(START o b {RULES} 60 60)") == "ready"
        assert await server.respond("(STOP o NIL)") == "done"
        await asyncio.sleep(0.5)
        for process in processes():
            os.kill(process, signal.SIGKILL)
        assert await server.respond(f"(START p b {RULES} 60 60)") == "ready"
        assert await server.respond("(PLAY p NIL)") == "go"
        await server.close()

    run(main, 200)


@pytest.mark.slow
def test_a_player_that_dies_repeatedly_is_restarted_a_limited_number_of_times() -> None:
    begun: list[str] = []
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer("legal", log=said.append)

        def counted(make: Any, name: str) -> Any:
            def made() -> Any:
                begun.append(name)
                return make()

            return made

        pool = server._sessions
        pool._make, pool._make_stand_in = counted(pool._make, "own"), counted(pool._make_stand_in, "stand-in")
        assert await server.respond(f"(START m b {RULES} 60 60)") == "ready"
        match = server._matches["m"]
        for _ in range(6):
            former = match.host
            _kill()
            while match.host is former:
                await asyncio.sleep(0.01)
            while not processes():
                await asyncio.sleep(0.01)
        _kill()
        while not match.host.is_gone:
            await asyncio.sleep(0.01)
        assert await server.respond("(PLAY m NIL)") == "nil"
        assert await server.respond("(STOP m NIL)") == "done"
        # The next match is played by the player itself.
        assert await server.respond(f"(START n b {RULES} 60 60)") == "ready"
        assert await server.respond("(PLAY n NIL)") == "( Put 1 X )"
        await server.close()

    run(main, 200)
    # One more is made ready for the next match.
    assert begun == ["own"] * 4 + ["stand-in"] * 3 + ["own"]
    assert said[1].note == f"{_KILLED}; the process of the player was ended (SIGKILL)"


def test_messages_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "_MOST_KEPT", 1000)

    async def main() -> None:
        server = PlayerServer("legal")
        assert await server.respond(f"(START m b {RULES} 60 60)") == "ready"
        match = server._matches["m"]
        for _ in range(2):
            # Moves that cannot be made: the match stays where it is.
            assert await server.respond(f"(PLAY m ({'go ' * 400}))") == "nil"
            assert await server.respond("(PLAY m NIL)") == "( Put 1 X )"
        assert len(match._sent) <= 1
        _kill()
        while not match.host.is_gone:
            await asyncio.sleep(0.01)
        assert await server.respond("(PLAY m (go go))") == "nil"
        await server.close()

    run(main, 60)


def test_rules_that_no_process_can_bear_are_answered_busy() -> None:
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer("legal", log=said.append)
        deep = f"((role a) {'(f (g (h 1 2) (h 1 2)) (g (h 3 4) (h 3 4))) ' * 30_000})"
        starting = asyncio.create_task(server.respond(f"(START m a {deep} 60 60)"))
        for _ in range(2):
            while not processes():
                await asyncio.sleep(0.01)
            (process,) = processes()
            os.kill(process, signal.SIGKILL)
            while process in processes():
                await asyncio.sleep(0.01)
        assert await starting == "busy"
        assert parse_info(await server.respond("(INFO)")).status == "available"
        await server.close()

    run(main, 120)
    assert said[0].note.endswith("the process of the player was ended (SIGKILL)")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "strategy"), [("tic_tac_toe", "mcts"), ("kuhn_poker", "ismcts")])
def test_every_answer_is_legal_though_every_process_is_killed(name: str, strategy: str) -> None:
    game = anygame.load(name, machine="reasoner")
    sheet = f"({re.sub(r';.*', '', (_SHEETS / f'{name}.kif').read_text())})"
    own = next(role for role in game.roles if not role.is_random)

    async def main() -> None:
        async with listening(strategy) as (_, port):
            assert await say(port, f"(START m {own} {sheet} 5 8)") == "ready"
            state, told, turn = game.initial_state(), "NIL", 0
            while not state.is_terminal and turn < 4:
                asking = asyncio.create_task(say(port, f"(PLAY m {told})"))
                await asyncio.sleep(1)
                if not asking.done() or turn % 2:
                    _kill()
                move = parse_term(await asking)
                assert move in state.legal_moves(own)
                joint = [move if role == own else state.legal_moves(role)[0] for role in game.roles]
                percepts = state.percepts(joint)[own] if game.is_gdl2 else ()
                state, turn = state.next(joint), turn + 1
                seen = "(" + " ".join(map(str, percepts)) + ")"
                told = f"{turn} {move} {seen}" if game.is_gdl2 else f"({' '.join(map(str, joint))})"
            assert await say(port, "(ABORT m)") == "aborted"

    run(main, 200)


_GARBAGE = {
    "no JSON": b"hello\n",
    "no text": b"\xff\xfe\n",
    "half": b'["legal", 1, "go"',
    "no list": b"5\n",
    "nothing": b"[]\n",
    "a number for a kind": b"[1, 2, 3]\n",
    "unknown": b'["laugh", 1, "go"]\n',
    "too short": b'["legal", 1]\n',
    "a list for a turn": b'["best", [1], "go"]\n',
    "a number for a move": b'["move", 1, 5, ""]\n',
    "a table": b'{"move": 1}\n',
    "nested": b"[" * 100_000 + b"\n",
    "a long number": b'["best", ' + b"9" * 10_000 + b', "go"]\n',
    "without end": b"[" * (17 * 2**20),
}
#: A process that tells what a file holds when it is asked for the first time, then what another one says.
_TELLING = """
import json, os, pathlib, sys
sys.path[:] = json.loads(sys.argv[1])
folder = pathlib.Path(FOLDER)
for line in sys.stdin.buffer:
    kind = json.loads(line)[0]
    if kind == STAGE and (folder / "garbage").exists():
        data = (folder / "garbage").read_bytes()
        (folder / "garbage").unlink()
        while data:
            data = data[os.write(1, data):]
        os._exit(0) if ENDS else None
    elif kind == "start":
        os.write(1, b'["loaded"]\\n["ready"]\\n')
    elif kind == "play":
        turn = json.loads(line)[1]
        os.write(1, json.dumps(["legal", turn, "go", False]).encode() + b"\\n")
        os.write(1, json.dumps(["move", turn, "go", ""]).encode() + b"\\n")
    elif kind in ("stop", "abort"):
        os.write(1, b'["left"]\\n')
"""


@asynccontextmanager
async def _telling(
    folder: Path, patch: pytest.MonkeyPatch, stage: str, garbage: bytes, *, ends: bool = True
) -> AsyncIterator[tuple[PlayerServer, list[Said]]]:
    (folder / "garbage").write_bytes(garbage)
    program = _TELLING.replace("FOLDER", repr(str(folder))).replace("STAGE", repr(stage))
    patch.setattr(child, "_BOOTSTRAP", program.replace("ENDS", str(ends)))
    said: list[Said] = []
    server = PlayerServer("legal", log=said.append)
    try:
        yield server, said
    finally:
        await server.close()


@pytest.mark.parametrize("stage", ["start", "play", "stop", "preview"])
@pytest.mark.parametrize("garbage", _GARBAGE.values(), ids=_GARBAGE)
def test_another_process_continues_after_invalid_output(
    stage: str, garbage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with _telling(tmp_path, monkeypatch, stage, garbage) as (server, said):
            if stage == "preview":
                assert await server.respond(f"(PREVIEW {RULES} 20)") == "busy"
            assert await server.respond(f"(START m a {RULES} 60 60)") == "ready"
            assert await server.respond("(PLAY m NIL)") == "go"
            assert await server.respond("(STOP m (go go))") == "done"
            assert await server.respond(f"(START n a {RULES} 60 60)") == "ready"
            assert await server.respond("(PLAY n NIL)") == "go"
            assert await server.respond("(ABORT n)") == "aborted"
            notes = [one.note for one in said if one.note]
            assert len(notes) == (stage != "stop")
            assert all(note.startswith("the process of the player ") for note in notes)

    run(main, 60)


@pytest.mark.parametrize(
    "garbage", [each for name, each in _GARBAGE.items() if name not in ("half", "without end")]
)
def test_an_invalid_event_raises_an_error(garbage: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        check_event(decode_message(garbage))


def test_the_log_contains_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        garbage = b'["move", 1, 5, ""]\n'
        async with _telling(tmp_path, monkeypatch, "play", garbage, ends=False) as (server, said):
            assert await server.respond(f"(START m a {RULES} 60 60)") == "ready"
            assert await server.respond("(PLAY m NIL)") == "go"
            assert said[1].note == (
                "the process of the player wrote an invalid message: invalid arguments of move; "
                "another process continues"
            )

    run(main, 60)


@pytest.mark.parametrize(
    "error", [OSError("no more processes"), MemoryError(), ValueError("embedded null byte")]
)
def test_a_process_that_cannot_start_is_reported(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise error

    async def main() -> None:
        monkeypatch.setattr(asyncio, "create_subprocess_exec", fail)
        host = ProcessHost("legal", None, PlayerSettings())
        told: list[Any] = []
        host.on_event = told.append
        await host.wait()
        assert [kind for kind, _ in told] == ["gone"]
        assert (
            told[0][1] == f"the process of the player could not be started: {type(error).__name__}: {error}"
        )
        said: list[Said] = []
        server = PlayerServer("legal", log=said.append)
        assert await server.respond(f"(START m a {RULES} 60 60)") == "busy"
        assert type(error).__name__ in said[0].note
        await server.close()

    run(main, 60)


def test_a_process_is_killed_once_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    kill = asyncio.subprocess.Process.kill

    def counted(process: asyncio.subprocess.Process) -> None:
        killed.append(process.pid)
        kill(process)

    async def main() -> None:
        monkeypatch.setattr(asyncio.subprocess.Process, "kill", counted)
        host = ProcessHost("legal", None, PlayerSettings())
        await started(host)
        for _ in range(3):
            host.end()
            await asyncio.sleep(0)
        await host.wait()
        host.end()

    run(main, 60)
    assert len(killed) == 1


#: Players whose own code fails wherever it can.
FAILING = """
import os, sys, threading
from anygame.players import LegalPlayer

class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")

class Failing(LegalPlayer):
    fails, error = "", None
    def fail(self, where):
        if where == type(self).fails:
            raise type(self).error
    @classmethod
    def prepare(cls):
        if cls.fails == "prepare":
            raise cls.error
    @property
    def name(self):
        raise MemoryError
    def start(self, clock):
        super().start(clock)
        self.fail("start")
    def move(self, state, clock):
        self.fail("move")
        return super().move(state, clock)
    def stop(self, goals):
        self.fail("stop")
    def preview(self, game, clock):
        self.fail("preview")

class Odd:
    def __str__(self):
        raise Mute
    __repr__ = __eq__ = __hash__ = __str__

class Odd_move(Failing):
    def move(self, state, clock):
        return Odd()

class Odd_best(Failing):
    @property
    def best(self):
        raise Mute
    @best.setter
    def best(self, value):
        pass
    def move(self, state, clock):
        return None
"""
_ERRORS = (
    "MemoryError()",
    "Mute()",
    "SystemExit(3)",
    "KeyboardInterrupt()",
    "RecursionError('deep')",
    "GeneratorExit()",
)


@pytest.mark.slow
@pytest.mark.parametrize("error", _ERRORS)
def test_a_player_that_raises_any_exception_still_plays(error: str, tmp_path: Path) -> None:
    stages = ("prepare", "start", "move", "stop", "preview")
    path = tmp_path / "players.py"
    made = [f"class At_{stage}(Failing):\n    fails, error = {stage!r}, {error}\n" for stage in stages]
    path.write_text(FAILING + "\n".join(made))

    async def main() -> None:
        for stage in stages:
            said: list[Said] = []
            server = PlayerServer(f"{path}:At_{stage}", log=said.append)
            previewed = await server.respond(f"(PREVIEW {RULES} 20)")
            assert previewed == ("busy" if stage == "preview" else "ready")
            for match_id in ("m", "n"):
                is_refused = stage == "start"
                started = await server.respond(f"(START {match_id} a {RULES} 20 20)")
                assert started == ("busy" if is_refused else "ready")
                if not is_refused:
                    assert await server.respond(f"(PLAY {match_id} NIL)") in _FIRST
                    assert await server.respond(f"(STOP {match_id} NIL)") == "done"
            assert not any("SIGKILL" in one.note or "status" in one.note for one in said)
            assert any(error.partition("(")[0] in one.note for one in said) == (
                stage not in ("prepare", "stop")
            )
            await server.close()

    run(main, 120)


@pytest.mark.parametrize("name", ["Odd_move", "Odd_best"])
def test_a_player_that_returns_any_object_still_plays(name: str, tmp_path: Path) -> None:
    path = tmp_path / "players.py"
    path.write_text(FAILING)

    async def main() -> None:
        said: list[Said] = []
        server = PlayerServer(f"{path}:{name}", log=said.append)
        assert await server.respond(f"(START m a {RULES} 20 20)") == "ready"
        for told in ("NIL", "(go go)"):
            assert await server.respond(f"(PLAY m {told})") in _FIRST
        assert all(one.seconds < 15 for one in said), "an answer was waited for"
        await server.close()

    run(main, 60)


def test_a_session_whose_thread_dies_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "players.py"
    path.write_text(
        "import threading\n"
        "from anygame.protocol.player import session\n"
        "from anygame.players import LegalPlayer\n"
        "class Breaking(LegalPlayer):\n"
        "    def move(self, state, clock):\n"
        "        def fail(error): raise MemoryError\n"
        "        session._described = fail\n"
        "        raise MemoryError\n"
    )
    said: list[Said] = []

    async def main() -> None:
        server = PlayerServer(f"{path}:Breaking", log=said.append)
        assert await server.respond(f"(START m a {RULES} 60 60)") == "ready"
        assert await server.respond("(PLAY m NIL)") in _FIRST
        assert await server.respond("(ABORT m)") == "aborted"
        await server.close()

    run(main, 120)
    assert said[1].note == "the process of the player has ended (status 1); another process continues"
