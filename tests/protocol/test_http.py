from __future__ import annotations

import asyncio
import re

import pytest
from tests.protocol.loops import http, listening, run, send

from anygame.protocol.http.framing import (
    Body,
    HttpError,
    RequestFraming,
    ResponseFraming,
    format_request,
    format_response,
)
from anygame.protocol.http.listener import Bounds


def request(*pieces: bytes, limit: int = 1000, eof: bool = True, pause: float = 0.0) -> tuple[Body, float]:
    """Return a request from pieces that come one after the other, and when it was known to be whole."""
    framing = RequestFraming(limit)
    now = 100.0
    for piece in [*pieces, *[b""] * eof]:
        framing.receive(piece, now)
        body = framing.poll(now)
        if body is not None:
            return body, now - 100
        if framing.due is not None and framing.due < now + pause:
            break
        now += pause
    assert framing.due is not None, "this waits for ever"
    assert framing.poll(framing.due - 0.01) is None
    body = framing.poll(framing.due)
    assert body is not None
    assert body.arrived == 100
    return body, framing.due - 100


def response(data: bytes, limit: int = 1000) -> Body:
    framing = ResponseFraming(limit)
    framing.receive(data, 1.0)
    if (body := framing.poll()) is None:
        framing.receive(b"", 2.0)
        body = framing.poll()
    assert body is not None
    return body


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.0\nContent-Length: 6\n\n(INFO)", b"(INFO)"),
        (b"post / HTTP/1.0\r\nCONTENT-LENGTH: 6\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n(INFO)", b"(INFO)"),
        (b"\r\n\r\nPOST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)", b"(INFO)"),
        (
            b"POST / HTTP/1.0\r\nReceiver: \r\nno header\r\nB ad: x\r\nContent-Length : 6\r\n\r\n(INFO)",
            b"(INFO)",
        ),
        (b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.0\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.0\r\n\r\nINFO", b"INFO"),
        (b"POST / HTTP/1.0\r\n\r\n", b""),
        (b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", b""),
        (b"POST / HTTP/1.0\r\nContent-Length: 99\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\n(INFO)", b"(INFO)"),
        (b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)\r\n", b"(INFO)"),
        (
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n(IN\r\n3\r\nFO)\r\n0\r\n\r\n",
            b"(INFO)",
        ),
    ],
)
@pytest.mark.parametrize("eof", [True, False])
def test_requests_of_old_clients_are_read(data: bytes, text: bytes, eof: bool) -> None:
    assert request(data, eof=eof)[0].content == text


@pytest.mark.parametrize("length", [b"Content-Length: 6\r\n", b""])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_requests_in_pieces_are_read(length: bytes, size: int) -> None:
    data = b"POST / HTTP/1.0\r\n" + length + b"\r\n(INFO)"
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert request(*pieces, eof=False)[0].content == b"(INFO)"


@pytest.mark.parametrize(
    ("head", "pieces", "pause", "text", "seconds"),
    [
        # Nothing is left open, and the length says so, too.
        (b"Content-Length: 6\r\n", [b"(INFO)"], 0.0, b"(INFO)", 0.0),
        # A list that is closed is whole without a length.
        (b"", [b"(PLAY m", b" NIL)"], 9.0, b"(PLAY m NIL)", 9.0),
        # An atom may go on: a moment of silence tells.
        (b"", [b"INFO"], 0.0, b"INFO", 0.5),
        # Lengths that are too long: the list is closed, and nothing more comes.
        (b"Content-Length: 99\r\n", [b"(PLAY m ", b"NIL)"], 1.0, b"(PLAY m NIL)", 1.5),
        (b"Content-Length: 99\r\n", [b"(PLAY m)", b" NIL)"], 0.25, b"(PLAY m) NIL)", 0.75),
        # Lengths that are too short: what is left open is read on.
        (b"Content-Length: 8\r\n", [b"(PLAY m ", b"NIL)"], 0.25, b"(PLAY m NIL)", 0.25),
        (b"Content-Length: 8\r\n", [b"(PLAY m "], 0.0, b"(PLAY m ", 0.5),
    ],
)
def test_a_request_is_complete_at_the_expected_time(
    head: bytes, pieces: list[bytes], pause: float, text: bytes, seconds: float
) -> None:
    first, *rest = pieces
    body, took = request(b"POST / HTTP/1.0\r\n" + head + b"\r\n" + first, *rest, eof=False, pause=pause)
    assert (body.content, took) == (text, seconds)


def test_a_client_that_waits_for_status_100_continues() -> None:
    framing = RequestFraming(100)
    assert not framing.wants_continue
    framing.receive(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n", 1)
    assert framing.poll(1) is None
    assert framing.wants_continue
    framing.receive(b"(INFO)", 2)
    assert framing.poll(2) == Body("POST", "/", b"(INFO)", 1)


def test_unwanted_long_messages_are_refused_early() -> None:
    asked: list[bytes] = []

    def refusal(begin: bytes) -> str | None:
        asked.append(begin)
        return None if begin.startswith(b"(START") else "nil"

    for text, wanted in ((b"(START ", True), (b"()()()()", False)):
        framing = RequestFraming(10**6, refusal)
        framing.receive(b"POST / HTTP/1.0\r\nContent-Length: 800000\r\n\r\n" + text, 1)
        assert framing.poll(1) is None
        framing.receive(b"x" * 60_000, 1)
        assert framing.poll(1) is None
        framing.receive(b"x" * 60_000, 1)
        if wanted:
            assert framing.poll(1) is None
        else:
            with pytest.raises(HttpError) as refused:
                framing.poll(1)
            assert refused.value.reply == "nil"
    assert [begin[:6] for begin in asked] == [b"(START", b"()()()"]


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (b"GET /%28INFO%29 HTTP/1.0\r\n\r\n", "/%28INFO%29"),
        (b"GET /( INFO ) HTTP/1.0\r\n\r\n", "/(%20INFO%20)"),
        (b"GET / HTTP/1.1\r\n\r\n", "/"),
        (b"OPTIONS / HTTP/1.1\r\nOrigin: x\r\n\r\n", "/"),
    ],
)
def test_requests_without_body_are_read(data: bytes, target: str) -> None:
    found, _ = request(data, eof=False)
    assert (found.method, found.target) == (data.split()[0].decode(), target)


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (b"", 400, "without data"),
        (b"hello", 400, "the message is not HTTP"),
        (b"hello\r\n\r\n", 400, "the message is not HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "the message is not HTTP"),
        (b"POST / HTTP/1.0\r\nContent-Length: many\r\n\r\n(INFO)", 400, "the message is not HTTP"),
        (b"POST / HTTP/1.0\r\nX: " + b"x" * 20_000, 400, "the HTTP head has more than 16,384 bytes"),
        (b"POST / HTTP/1.0\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000, 413, "more than 1,000 bytes"),
        (b"POST / HTTP/1.0\r\n\r\n(" + b"x" * 2000, 413, "more than 1,000 bytes"),
    ],
)
def test_invalid_requests_are_refused(data: bytes, status: int, reason: str) -> None:
    with pytest.raises(HttpError, match=re.escape(reason)) as refused:
        request(data)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"HTTP/1.0 200 OK\r\nContent-length: 2\r\n\r\ngo", b"go"),
        (b"HTTP/1.0 200 OK\nContent-Length: 2\n\ngo", b"go"),
        (b"HTTP/1.0 200 OK\r\n\r\ngo", b"go"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ngo\r\n0\r\n\r\n", b"go"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\ngo", b"go"),
        (b"HTTP/1.0 200\r\nBad Name: 1\r\nContent-Length: -5\r\n\r\ngo", b"go"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n( put 1 2 )", b"( put"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    ],
)
def test_responses_of_old_players_are_read(data: bytes, text: bytes) -> None:
    found = response(data)
    assert (found.content, found.is_cut) == (text, False)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"go",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: abc\r\n\r\ngo",
        b"HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\ngo",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ngo\r\n",
    ],
)
def test_responses_without_an_end_are_errors(data: bytes) -> None:
    with pytest.raises(HttpError):
        response(data)


def test_long_responses_are_cut() -> None:
    found = response(http("x" * 5000), limit=100)
    assert (found.content, found.is_cut) == (b"x" * 100, True)


def test_requests_are_those_of_the_reference_manager() -> None:
    assert format_request(b"( INFO )", "localhost", "P1\r\nX: y\u00e4").split(b"\r\n") == [
        b"POST / HTTP/1.0",
        b"Accept: text/delim",
        b"Host: localhost",
        b"Sender: GAMESERVER",
        b"Receiver: P1 X: y",
        b"Content-Type: text/acl",
        b"Content-Length: 8",
        b"",
        b"( INFO )",
    ]


def test_responses_have_a_length_and_close() -> None:
    lines = format_response(b"ready").split(b"\r\n")
    assert lines[0] == b"HTTP/1.0 200 OK"
    assert {b"Content-length: 5", b"Connection: close", b"Access-Control-Allow-Origin: *"} < set(lines)
    assert lines[-1] == b"ready"


async def _answered(text: str, _arrived: float, _peer: str) -> str:
    return f"heard {text}"


@pytest.mark.parametrize(
    ("data", "status", "end"),
    [
        (b"GET /%28play+m+%28x%2By%29%29 HTTP/1.0\r\n\r\n", 200, b"heard (play m (x+y))"),
        (b"HEAD / HTTP/1.0\r\n\r\n", 200, b"\r\n\r\n"),
        (b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n", 200, b"\r\n\r\n"),
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405, b"nil"),
        (b"hello\r\n\r\n", 400, b"nil"),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\ngo",
            100,
            b"\r\n\r\nheard go",
        ),
    ],
)
def test_each_http_method_gets_its_status(data: bytes, status: int, end: bytes) -> None:
    async def main() -> None:
        async with listening() as (server, port):
            server._listener._respond = _answered
            found = await send(port, data)
        assert found.split()[1] == str(status).encode()
        assert found.endswith(end)

    run(main)


def test_large_requests_are_answered_and_not_kept() -> None:
    async def main() -> None:
        async with listening(bounds=Bounds(bytes=100_000)) as (_, port):
            head = b"POST / HTTP/1.0\r\nContent-Length: 50000000\r\n\r\n(START "
            found = await send(port, head, *[b"x" * 500_000] * 100)
            assert found.split()[1] == b"413"
            assert found.endswith(b"busy")

    run(main)


def test_slow_requests_are_bounded_as_a_whole() -> None:
    async def main() -> None:
        async with listening(bounds=Bounds(seconds=0.5)) as (_, port):
            drip = [bytes([byte]) for byte in b"POST / HTTP/1.0\r\nContent-Length: 600\r\n\r\n(" + b"x" * 60]
            found = await send(port, *drip, pause=0.1)
            assert found.split()[1] == b"408"

    run(main)


def test_silent_connections_are_dropped_for_new_connections() -> None:
    async def main() -> None:
        async with listening(bounds=Bounds(connections=3)) as (_, port):
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
            await asyncio.sleep(0.1)
            found = await send(port, b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(PING)")
            assert found.endswith(b"ready")
            for _, writer in silent:
                writer.close()

    run(main)


def test_connections_with_a_complete_message_are_not_dropped() -> None:
    async def main() -> None:
        go_on = asyncio.Event()

        async def slow(text: str, _arrived: float, _peer: str) -> str:
            await go_on.wait()
            return text

        async with listening(bounds=Bounds(connections=2)) as (server, port):
            server._listener._respond = slow
            ask = b"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n"
            first = [asyncio.create_task(send(port, ask + text)) for text in (b"m1", b"m2")]
            while list(server._listener._connections.values()) != [None, None]:
                await asyncio.sleep(0.01)
            refused = await send(port, ask + b"m3")
            go_on.set()
            assert (refused.split()[1], refused[-4:]) == (b"503", b"busy")
            assert [(await task)[-2:] for task in first] == [b"m1", b"m2"]

    run(main)
