"""A store that machines share: a PostgreSQL server of the tests' own."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
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

pytest.importorskip("psycopg", reason="needs psycopg: pip install 'anygame[postgresql]'")
GAMES = {"count": anygame.loads(COUNTDOWN)}
PLAYERS = {"a": "random", "b": "legal", "c": "random"}
TERMS = Terms(20, 20, seed=3)


def _programs() -> Path | None:
    """Return the folder of the server's programs, where it is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server that is reached by a socket in a folder of its own, and return its address."""
    programs = _programs()
    if programs is None:
        pytest.skip("needs the PostgreSQL server: initdb was not found")
    # The server refuses to be root's; and paths of sockets are short.
    user: dict[str, Any] = {"user": "postgres"} if os.getuid() == 0 else {}
    folder = Path(mkdtemp(prefix="pg"))
    if user:
        shutil.chown(folder, "postgres")

    def call(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **user)

    try:
        call("initdb", "--auth=trust", "--username=tester", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        call("pg_ctl", "-w", "-o", options, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://tester:secret@/postgres?host={folder}"
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def test_it_keeps_what_a_file_keeps(address: str, tmp_path: Path) -> None:
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
        with pytest.raises(RecordError, match=r"postgresql://tester:\.\.\.@/.* is of another tournament"):
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
        assert later.claim(meeting)


def test_a_server_that_goes_away_is_told_and_what_was_played_is_kept(address: str) -> None:
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


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot use postgresql://me:\.\.\.@/x"):
        Store(f"postgresql://me:secret@/x?host={tmp_path}")
