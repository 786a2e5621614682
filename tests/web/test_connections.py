"""The limits of connections: their number, and the head of a request."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from anygame.match.broadcast import Broadcast
from anygame.web.server.running import WatchingServer
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Return the port of a server that allows three connections."""
    made = WatchingServer(Settings(folder=tmp_path, port=0, connections=3), Broadcast("Some matches", 2))
    made.start()
    yield made.port
    made.stop()


def test_requests_beyond_the_number_of_connections_are_refused(port: int) -> None:
    address = f"http://127.0.0.1:{port}/"
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        assert httpx.get(address, timeout=20).status_code == 503
    statuses = (httpx.get(address, timeout=20).status_code for _ in range(100))
    assert 200 in statuses


def test_a_long_head_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 2**15)
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
