"""Connections that tell nothing, or take nothing: they end, and keep nobody out."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import uvicorn
from uvicorn.server import ServerState

from anygame.web.server.running import Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.web.conftest import Server

_HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


class _Timer:
    def __init__(self, when: float, what: Callable[[], None]) -> None:
        self.when, self.what, self.is_cancelled = when, what, False

    def cancel(self) -> None:
        self.is_cancelled = True


class _Loop:
    """A loop whose time goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[_Timer] = []
        self.begun: list[Any] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, what: Callable[[], None]) -> _Timer:
        self.timers.append(_Timer(self.now + seconds, what))
        return self.timers[-1]

    def create_task(self, coroutine: Any) -> asyncio.Future[None]:
        coroutine.close()
        self.begun.append(coroutine)
        return asyncio.get_running_loop().create_future()

    def go_on(self, seconds: float) -> None:
        self.now += seconds
        for timer in [timer for timer in self.timers if timer.when <= self.now]:
            self.timers.remove(timer)
            if not timer.is_cancelled:
                timer.what()


class _Transport:
    """A transport that notes what is done with it."""

    def __init__(self) -> None:
        self.written = b""
        self.is_closed = self.is_aborted = False

    def get_extra_info(self, _: str) -> None: ...

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class _Three(Connection):
    most = 3
    telling = 10.0


class _Site:
    """A server that takes three connections."""

    def __init__(self) -> None:
        self.loop = _Loop()
        self.state = ServerState()
        self.config = uvicorn.Config(_answers, http=_Three, log_config=None)

    def connect(self) -> tuple[_Three, _Transport]:
        made = _Three(self.config, self.state, {}, self.loop)  # type: ignore[arg-type]
        transport = _Transport()
        made.connection_made(transport)  # type: ignore[arg-type]
        return made, transport


async def _answers(scope: object, receive: object, send: object) -> None: ...


def _answer(connection: Connection) -> None:
    """Have the request in progress answered."""
    connection.cycle.response_complete = True
    connection.on_response_complete()


def _in_loop(test: Callable[[], None]) -> None:
    async def run() -> None:
        test()

    asyncio.run(run())


def test_a_head_that_does_not_come_ends_the_connection() -> None:
    def run() -> None:
        site = _Site()
        connection, transport = site.connect()
        for _ in range(9):
            connection.data_received(b"G" if not site.loop.now else b"E")
            site.loop.go_on(1)
        assert not transport.is_closed
        site.loop.go_on(1)
        assert transport.is_closed
        assert site.loop.begun == []

    _in_loop(run)


def test_every_request_of_a_connection_has_the_same_time() -> None:
    def run() -> None:
        site = _Site()
        connection, transport = site.connect()
        connection.data_received(_HEAD + b"\r\n")
        site.loop.go_on(300)
        assert not transport.is_closed, "an answer takes the time that it takes"
        _answer(connection)
        connection.data_received(_HEAD[:5])
        site.loop.go_on(9)
        assert not transport.is_closed
        site.loop.go_on(1)
        assert transport.is_closed

    _in_loop(run)


def test_the_slowest_to_tell_makes_room_and_nobody_who_has_told() -> None:
    def run() -> None:
        site = _Site()
        asking, first = site.connect()
        asking.data_received(_HEAD + b"\r\n")
        site.loop.go_on(1)
        sending, second = site.connect()
        sending.data_received(b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        site.loop.go_on(1)
        _, third = site.connect()
        site.loop.go_on(1)
        _, fourth = site.connect()
        assert [each.is_aborted for each in (first, second, third, fourth)] == [False, True, False, False]
        _, fifth = site.connect()
        assert [each.is_aborted for each in (first, third, fourth, fifth)] == [False, True, False, False]

    _in_loop(run)


def test_where_all_have_told_another_is_refused_in_words() -> None:
    def run() -> None:
        site = _Site()
        for _ in range(3):
            connection, _ = site.connect()
            connection.data_received(_HEAD + b"\r\n")
        _, refused = site.connect()
        head, _, told = refused.written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: " in head
        assert b"try again" in told
        assert refused.is_closed

    _in_loop(run)


def test_who_takes_nothing_of_an_answer_is_dropped() -> None:
    def run() -> None:
        site = _Site()
        connection, transport = site.connect()
        connection.data_received(_HEAD + b"\r\n")
        connection.pause_writing()
        site.loop.go_on(30)
        connection.resume_writing()
        site.loop.go_on(59)
        assert not transport.is_aborted
        connection.pause_writing()
        site.loop.go_on(60)
        assert transport.is_aborted

    _in_loop(run)


def test_chunks_are_not_read_on() -> None:
    def run() -> None:
        site = _Site()
        connection, _ = site.connect()
        connection.data_received(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 40_000)
        connection.data_received(b"1\r\nx\r\n" * 40_000)
        assert len(site.loop.begun) == 1
        assert len(connection.cycle.body) < 1_000

    _in_loop(run)


def test_nothing_is_read_after_what_is_no_request() -> None:
    def run() -> None:
        site = _Site()
        connection, transport = site.connect()
        connection.data_received(b"\x00" * 10_000)
        assert transport.written.count(b"HTTP/1.1 400 ") == 1
        assert transport.is_closed

    _in_loop(run)


@pytest.fixture
def many_files() -> Iterator[None]:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2_000:
        pytest.skip("this system lets a process have few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_connections_that_tell_half_a_head_keep_nobody_out(server: Server) -> None:
    with ExitStack() as held:
        for _ in range(1_100):
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            held.enter_context(connection)
            connection.sendall(_HEAD)
        with httpx.Client(base_url=server.address, timeout=60) as client:
            assert client.get("/").status_code == 200
