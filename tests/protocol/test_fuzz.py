"""Bytes that nobody meant: readers end in what they promise, and servers and seats go on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.protocol.loops import fake_player, http, listening, run, say, send

from anygame.protocol.http.framing import HttpError, RequestFraming, ResponseFraming
from anygame.protocol.seat import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECES = st.sampled_from(
    [
        b"POST / HTTP/1.0\r\n",
        b"GET /(INFO) HTTP/1.1\r\n",
        b"HTTP/1.0 200 OK\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"Content-Length: 6\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Content-Length: 1, 1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip\r\n",
        b"Expect: 100-continue\r\n",
        b"Host: a\r\n",
        b": nothing\r\n",
        b"\r\n",
        b"\n",
        b"(INFO)",
        b"6\r\n(INFO)\r\n0\r\n\r\n",
        b"ffffffffff\r\n",
        b"\xff\x00",
    ]
)
BYTES = st.lists(PIECES | st.binary(max_size=8), max_size=8).map(b"".join)


@settings(max_examples=examples(60))
@given(st.lists(BYTES, max_size=4))
def test_any_bytes_give_a_message_or_an_http_error(pieces: list[bytes]) -> None:
    with suppress(HttpError):
        request = RequestFraming(100)
        for now, piece in enumerate([*filter(None, pieces), b""]):
            request.receive(piece, now)
            body = request.poll(now)
            assert body is not None or piece, "the connection is closed"
            if body is not None:
                assert len(body.content) <= 100
                break
    with suppress(HttpError):
        response = ResponseFraming(100)
        for now, piece in enumerate([*filter(None, pieces), b""]):
            response.receive(piece, now)
            body = response.poll()
            assert body is not None or piece, "the connection is closed"
            if body is not None:
                assert len(body.content) <= 100
                break


def _mutants(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    random = Random(seed)
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(mutant))
            change = random.randrange(3)
            if change == 0:
                mutant[place] = random.randrange(256)
            elif change == 1:
                del mutant[place : place + random.randint(1, 9)]
            else:
                mutant[place:place] = random.randbytes(random.randint(1, 9))
            if not mutant:
                break
        yield bytes(mutant)


def test_a_player_outlives_mutants_of_requests() -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n(PLAY m (a b))"

    async def main() -> None:
        async with listening() as (_, port):
            await asyncio.gather(
                *[send(port, mutant, half_close=True) for mutant in list(_mutants(request, 40, 1))]
            )
            for mutant in _mutants(request, 100, 2):
                await send(port, mutant, half_close=True)
            assert await say(port, "(PING)") == "ready"

    run(main, 120)


def test_a_seat_outlives_mutants_of_replies() -> None:
    mutants = _mutants(http("( mark 1 2 )"), 150, 3)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter, __: str) -> None:
        writer.write(next(mutants))

    async def main() -> None:
        async with fake_player(answer) as port:
            transport = HttpTransport("127.0.0.1", port)
            for _ in range(150):
                reply = await transport.exchange("( PLAY m NIL )", 10)
                assert (reply.text is None) == (reply.error is not None)
                assert reply.error in (None, "CE")

    run(main, 120)
