"""A store that machines share: a PostgreSQL server of the tests' own."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.match.games import COUNTDOWN

import anygame
from anygame.errors import RecordError
from anygame.match import LocalSeat, Terms
from anygame.players import make_player
from anygame.tournament import Meeting, Store, Tournament

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.match import Seat
    from anygame.match.record import Record

pytest.importorskip("psycopg", reason="needs psycopg: pip install 'anygame[postgresql]'")
GAMES = {"count": anygame.loads(COUNTDOWN)}
PLAYERS = {"a": "random", "b": "legal", "c": "random"}
TERMS = Terms(20, 20, seed=3)


def _programs() -> Path | None:
    """Return the folder of the server's programs, where it is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


class _Server:
    """A server that is reached by a socket in a folder of its own.

    Attributes:
        address: where it is reached.
    """

    def __init__(self, folder: Path, *, is_durable: bool) -> None:
        programs = _programs()
        if programs is None:
            pytest.skip("needs the PostgreSQL server: initdb was not found")
        self._programs, self._folder, self._is_durable = programs, folder, is_durable
        # The server refuses to be root's.
        self._user: dict[str, Any] = {"user": "postgres"} if os.getuid() == 0 else {}
        if self._user:
            shutil.chown(folder, "postgres")
        self.address = f"postgresql://tester:secret@/postgres?host={folder}"
        self._call("initdb", "--auth=trust", "--username=tester", "--no-sync")

    def _call(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._user)

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self._folder}"
        options += "" if self._is_durable else " -c fsync=off"
        self._call("pg_ctl", "-w", "-o", options, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        with suppress(subprocess.CalledProcessError):  # it may have been killed
            self._call("pg_ctl", "-w", "-m", "immediate", "stop")

    def kill(self) -> None:
        """Kill it and all that it has begun, as a machine does that goes out."""
        process = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        # What it has begun has sessions of its own.
        begun = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for each in (process, *map(int, begun)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        late = time.monotonic() + 60
        while any(Path(f"/proc/{each}").exists() for each in (process, *begun)):
            assert time.monotonic() < late, "the server does not end"
            time.sleep(0.01)


@contextmanager
def _serving(*, is_durable: bool) -> Iterator[_Server]:
    # Paths of sockets are short.
    folder = Path(mkdtemp(prefix="pg"))
    try:
        server = _Server(folder, is_durable=is_durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server, and return its address."""
    with _serving(is_durable=False) as found:
        yield found.address


@pytest.fixture
def address(server: str) -> str:
    """Return the address of an empty data base."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as base:
        base.execute("DROP TABLE IF EXISTS facts, matches")
    return server


def _seat(player: tuple[str, str], seed: int) -> Seat:
    return LocalSeat(make_player(player[1], seed=seed), name=player[0])


def _play(path: str | Path, rounds: int = 1) -> list[str]:
    """Play what is left, and return what was played here."""
    with Store(path) as store:
        event = Tournament(GAMES, PLAYERS, store, TERMS, _seat)

        async def play() -> list[str]:
            played = []
            async for meeting in event.to_be_played(event.meetings(rounds)):
                await event.play(meeting)
                played.append(meeting.key)
            return played

        return asyncio.run(play())


def test_postgresql_stores_the_same_data_as_a_file(address: str, tmp_path: Path) -> None:
    assert len(_play(address)) == len(_play(tmp_path / "file")) == 6
    with Store(address) as there, Store(tmp_path / "file") as here:
        assert there.results() == here.results()
        meeting = Meeting(1, "count", ("a", "b"))
        one, other = there.record(meeting), here.record(meeting)
        assert one is not None
        assert other is not None
        assert one.moves == other.moves
    assert _play(address) == []
    assert len(_play(address, rounds=2)) == 6


def test_another_tournament_is_refused_without_a_trace(address: str) -> None:
    _play(address)
    with Store(address) as store:
        with pytest.raises(RecordError, match=r"postgresql://tester:\.\.\.@/.* belongs to another"):
            Tournament(GAMES, PLAYERS | {"b": "random"}, store, TERMS, _seat)
        assert len(store.results()) == 6


def test_those_who_share_it_play_every_match_once(address: str) -> None:
    played: list[list[str]] = []
    threads = [Thread(target=lambda: played.append(_play(address, rounds=4))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [key for each in played for key in each]
    assert sorted(together) == sorted(set(together))
    assert len(together) == 24


def test_a_claim_ends_with_its_session(address: str) -> None:
    meeting = Meeting(1, "count", ("a", "b"))
    with Store(address) as one, Store(address) as other:
        assert one.claim(meeting)
        assert not other.claim(meeting)
        one.release(meeting)
        assert other.claim(meeting)
        assert not one.claim(meeting)
    with Store(address) as later:
        # The server ends a session a moment after its client has gone.
        late = time.monotonic() + 60
        while not later.claim(meeting):
            assert time.monotonic() < late, "the session does not end"
            time.sleep(0.05)


def test_a_lost_server_raises_an_error_and_results_are_kept(address: str) -> None:
    import psycopg

    with Store(address) as store:
        event = Tournament(GAMES, PLAYERS, store, TERMS, _seat)
        unraised: list[object] = []

        async def play() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, what: unraised.append(what))
            async for meeting in event.to_be_played(event.meetings(1)):
                if len(store.results()) == 3:
                    with psycopg.connect(address, autocommit=True) as other:
                        others = "SELECT pid FROM pg_stat_activity WHERE usename = 'tester'"
                        chosen = f"({others} AND pid <> pg_backend_pid()) AS those"
                        other.execute(f"SELECT pg_terminate_backend(pid) FROM {chosen}")
                await event.play(meeting)

        with pytest.raises(RecordError, match="as the store of a tournament: "):
            asyncio.run(play())
    assert unraised == []
    assert len(_play(address)) == 3


def _ended(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anygame", *command], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nobody tells what the server has begun")
def test_a_server_that_is_killed_in_the_middle_of_a_match_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with _serving(is_durable=True) as server:
        kept: list[tuple[str, int]] = []
        killed: list[str] = []
        keep = Store.keep

        def keep_and_kill(store: Store, meeting: Meeting, record: Record) -> None:
            if len(kept) == 8 and not killed:
                killed.append(meeting.key)
                server.kill()
            keep(store, meeting, record)
            kept.append((meeting.key, record.step))

        with monkeypatch.context() as patch:
            patch.setattr(Store, "keep", keep_and_kill)
            with pytest.raises(
                RecordError, match=r"cannot use postgresql://.* as the store of a tournament: "
            ):
                _play(server.address)
        server.start()
        with Store(server.address) as store:
            over = len(store.results())
            under_way = [
                each
                for each in Tournament(GAMES, PLAYERS, store, TERMS, _seat).meetings(1)
                if not store.is_over(each)
            ]
            begun = {
                each.key: record.step for each in under_way if (record := store.record(each)) is not None
            }
        assert begun == dict(kept[-1:])
        # It goes on where it was, and with whose it was: what is left is played, each match once.
        assert len(_play(server.address)) == len(under_way) == 6 - over
        assert len(_play(tmp_path / "file")) == 6
        with Store(server.address) as there, Store(tmp_path / "file") as here:
            assert [(one.players, one.sheet) for one in there.results()] == [
                (one.players, one.sheet) for one in here.results()
            ]
            for each in under_way:
                record, same = there.record(each), here.record(each)
                assert record is not None
                assert same is not None
                assert len(record.moves) == len(same.moves)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nobody tells what the server has begun")
def test_a_tournament_of_the_command_line_tells_that_its_store_was_killed(tmp_path: Path) -> None:
    sheet = tmp_path / "count.kif"
    sheet.write_text(COUNTDOWN)
    with _serving(is_durable=True) as server:
        command = ["tournament", str(sheet), "--players", "random", "legal", "greedy", "--rounds", "200"]
        command += ["--store", server.address, "--start-clock", "5", "--play-clock", "5"]
        with subprocess.Popen(
            [sys.executable, "-m", "anygame", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as playing:
            assert playing.stdout is not None
            playing.stdout.readline()
            server.kill()
            told, complained = playing.communicate(timeout=120)
        assert playing.returncode not in (0, 1), told
        assert "Traceback" not in complained, complained
        assert len(re.findall("cannot use postgresql://", complained)) == 1, complained
        server.start()
        with Store(server.address) as store:
            known = len(store.results())
        assert known
        ended = _ended(command)
        assert ended.returncode == 0, ended.stderr
        with Store(server.address) as store:
            assert len(store.results()) == 200 * 6


def test_a_missing_server_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot use postgresql://me:\.\.\.@/x"):
        Store(f"postgresql://me:secret@/x?host={tmp_path}")
