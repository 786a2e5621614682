"""What is checked of requests before anything else looks at them."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette")

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from anygame.web.server.application import make_application
from anygame.web.server.guards import Guards, visitor_of
from anygame.web.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Message, Receive, Scope, Send
    from tests.web.conftest import Server


def _scope(method: str, **headers: str) -> dict[str, Any]:
    sent = {"host": "localhost"} | {name.replace("_", "-"): value for name, value in headers.items()}
    raw = [(name.encode(), value.encode()) for name, value in sent.items()]
    return {"type": "http", "method": method, "path": "/", "headers": raw, "query_string": b""}


def _answer(scope: Scope, messages: list[Message], seconds: float = 60.0) -> tuple[int, str]:
    """Return the status and the text of an application that answers with the body, behind guards."""
    told: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        await PlainTextResponse(body)(scope, receive, send)

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message: Message) -> None:
        told.append(message)

    guards = Guards(application, host="localhost", names=(), body=10, seconds=seconds)
    asyncio.run(guards(scope, receive, send))
    return told[0]["status"], b"".join(each.get("body", b"") for each in told).decode()


def _piece(data: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": data, "more_body": more}


def test_a_body_is_read_in_pieces() -> None:
    pieces = [_piece(b"ab", more=True), _piece(b"c", more=False)]
    assert _answer(_scope("POST", content_length="3"), pieces) == (200, "abc")


def test_a_late_body_is_refused() -> None:
    with pytest.raises(HTTPException, match=r"did not arrive within 0\.01 seconds"):
        _answer(_scope("POST", content_length="3"), [_piece(b"ab", more=True)], seconds=0.01)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_length": "11"}, 413),
        ({"content_length": "1" * 5_000}, 413),
        ({"content_length": "²"}, 413),
        ({"content_length": "-1"}, 413),
        ({"transfer_encoding": "chunked"}, 411),
    ],
)
def test_a_long_body_or_a_body_without_length_is_refused_unread(headers: dict[str, str], status: int) -> None:
    pieces = [_piece(b"ab", more=False)]
    assert _answer(_scope("POST", **headers), pieces)[0] == status
    assert len(pieces) == 1


def test_a_slow_form_gets_an_error(tmp_path: Path) -> None:
    told: list[Message] = []

    async def run() -> None:
        async def send(message: Message) -> None:
            told.append(message)

        async def receive() -> Message:
            return await asyncio.Event().wait()  # type: ignore[return-value]

        application = make_application(Settings(folder=tmp_path, sending=0.01))
        scope = _scope("POST", content_length="3", content_type="application/x-www-form-urlencoded")
        await application(scope | {"path": "/check"}, receive, send)

    asyncio.run(run())
    assert told[0]["status"] == 408
    assert b"did not arrive within" in told[1]["body"]


def test_a_chunked_request_is_refused_before_its_end(server: Server) -> None:
    head = f"POST /check HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head.encode() + b"1\r\nx\r\n" * 1_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 411 ")


def test_of_cookies_ours_alone_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    token = "A" * 43
    monkeypatch.setattr("starlette.requests.cookie_parser", lambda _: pytest.fail("cookies were read"))
    for cookie, is_known in [
        (f"anygame={token}", True),
        (f"a=b; anygame={token}; c=d", True),
        (f"anygame={token};c=d", True),
        (f"other-anygame={token}", False),
        (f"anygame={token}A", False),
        (f"anygame={token[1:]}", False),
        (f'anygame="{token}"', False),
        ('a="' + "\\" * 16_000 + '"', False),
        ("anygame=" * 2_000, False),
    ]:
        visitor = visitor_of(Request(_scope("GET", cookie=cookie)))
        assert (visitor.token == token) is is_known, cookie[:60]
        assert visitor.is_new is not is_known
