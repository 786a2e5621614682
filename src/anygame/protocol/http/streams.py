"""One HTTP message read from a stream of asyncio: the framing is asked, the stream is waited for."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.protocol.http.framing import RequestFraming, ResponseFraming

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.protocol.http.framing import Body

#: Bytes that are taken at a time: what they hold is read while others wait.
_CHUNK: Final = 16_384


async def read_request(
    reader: asyncio.StreamReader,
    limit: int,
    on_continue: Callable[[], None],
    refusal: Callable[[bytes], str | None] = lambda _: None,
) -> Body:
    """Read one request; see `RequestFraming`.

    Args:
        reader: the stream.
        limit: bytes of the body that are accepted.
        on_continue: called when the client wants to be told to send the body.
        refusal: takes how a long body begins; returns what to answer where it is not wanted, or None.

    Raises:
        HttpError: it is none, or too large, or not wanted.
        OSError: the connection broke.
    """
    framing = RequestFraming(limit, refusal)
    while (request := framing.poll(monotonic())) is None:
        if framing.wants_continue:
            framing.wants_continue = False
            on_continue()
        try:
            async with asyncio.timeout_at(framing.due):
                data = await reader.read(_CHUNK)
        except TimeoutError:
            continue
        framing.receive(data, monotonic())
    if framing.wants_continue:
        on_continue()
    return request


async def read_response(reader: asyncio.StreamReader, limit: int) -> Body:
    """Read one response; see `ResponseFraming`.

    Args:
        reader: the stream.
        limit: bytes of the body that are kept; no more is read.

    Raises:
        HttpError: it is none, or its end is missing.
        OSError: the connection broke.
    """
    framing = ResponseFraming(limit)
    while (response := framing.poll()) is None:
        framing.receive(await reader.read(_CHUNK), monotonic())
    return response
