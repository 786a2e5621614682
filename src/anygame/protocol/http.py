"""One HTTP message read from a stream, within bounds: a mended head, a body framed by h11, old habits.

A body is whole when its framing says so. Old programs get lengths wrong: they count characters, or give
none and wait for the answer. So a request is also whole when its parentheses close and nothing more comes
for a moment; and one that its length cuts off is read on until they close.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import MissingExtraError
from anygame.protocol.heads import mend_request, mend_response

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Body", "HttpError", "need_h11", "read_request", "read_response"]

_CHUNK: Final = 65_536
_LONGEST_HEAD: Final = 16_384
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
_MOMENT: Final = 0.5


class HttpError(Exception):
    """What came is not HTTP, or is too large.

    Attributes:
        status: the status code that says so to a client.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Body:
    """What a message said.

    Attributes:
        method: of a request; empty for a response.
        target: of a request: the path with its query.
        content: the body, at most as long as was asked for.
        arrived: when its first bytes came, as `time.monotonic` counts.
        is_cut: whether there was more of it.
    """

    method: str
    target: str
    content: bytes
    arrived: float
    is_cut: bool = False


async def read_request(reader: asyncio.StreamReader, limit: int, on_continue: Callable[[], None]) -> Body:
    """Read one request.

    Args:
        reader: the stream.
        limit: bytes of the body that are accepted.
        on_continue: called when the client wants to be told to send the body.

    Raises:
        HttpError: it is none, or too large.
        OSError: the connection broke.
    """
    h11 = need_h11()
    head, rest, arrived = await _read_head(reader)
    connection = h11.Connection(h11.SERVER)
    request = _first_event(connection, mend_request(head) + rest)
    content = _Content(limit)
    if connection.they_are_waiting_for_100_continue:
        on_continue()
    method = request.method.decode().upper()
    has_length = any(name in (b"content-length", b"transfer-encoding") for name, _ in request.headers)
    whole = method != "POST" or await _read_framed(reader, connection, content, patient=False)
    if method == "POST" and not (whole and has_length and content.is_plausible):
        content.add(connection.trailing_data[0])
        await _read_on(reader, content, patient=not has_length)
    if content.is_cut:
        raise HttpError(f"the request has more than {limit:,} bytes", 413)
    return Body(method, request.target.decode("latin-1"), bytes(content.data), arrived)


async def read_response(reader: asyncio.StreamReader, limit: int) -> Body:
    """Read one response, as the answer to a request by POST. Its status and version do not matter.

    Args:
        reader: the stream.
        limit: bytes of the body that are kept; no more is read.

    Raises:
        HttpError: it is none, or its end is missing.
        OSError: the connection broke.
    """
    h11 = need_h11()
    head, rest, arrived = await _read_head(reader)
    connection = h11.Connection(h11.CLIENT)
    connection.send(
        h11.Request(method="POST", target="/", headers=[("Host", "player"), ("Content-Length", "0")])
    )
    connection.send(h11.EndOfMessage())
    _first_event(connection, mend_response(head) + rest)
    content = _Content(limit)
    if not await _read_framed(reader, connection, content, patient=True) and not content.is_cut:
        raise HttpError("the connection was closed before the whole reply had come")
    return Body("", "", bytes(content.data), arrived, content.is_cut)


def need_h11() -> Any:
    """Return the library that frames HTTP.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import h11
    except ImportError as error:
        raise MissingExtraError(
            "playing over the network needs h11, which is not installed: pip install 'anygame[match]'",
            "match",
        ) from error
    return h11


class _Content:
    """A body as it grows, up to a bound."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.is_cut = False
        self._limit = limit
        self._depth = 0
        self._has_list = False

    def add(self, piece: bytes | bytearray) -> None:
        room = self._limit - len(self.data)
        self.is_cut = self.is_cut or len(piece) > room
        kept = piece[:room]
        self.data += kept
        self._has_list = self._has_list or b"(" in kept
        self._depth += kept.count(b"(") - kept.count(b")")

    @property
    def is_plausible(self) -> bool:
        """Whether this could be all: nothing is left open."""
        return self._depth <= 0

    @property
    def is_message(self) -> bool:
        """Whether this must be all: a list, and it is closed."""
        return self._has_list and self._depth <= 0


async def _read_head(reader: asyncio.StreamReader) -> tuple[bytes, bytes, float]:
    """Return the head with its blank line, what came after it, and when it began to come."""
    data = bytearray()
    arrived = 0.0
    while not (found := _END_OF_HEAD.search(data)):
        if len(data) > _LONGEST_HEAD:
            raise HttpError(f"the head has more than {_LONGEST_HEAD:,} bytes")
        piece = await reader.read(4096)
        if not piece:
            what = "the connection was closed without a byte" if not data else "what came is not HTTP"
            raise HttpError(what)
        arrived = arrived or monotonic()
        data = (data + piece).lstrip(b"\r\n")
    return bytes(data[: found.end()]), bytes(data[found.end() :]), arrived


def _first_event(connection: Any, data: bytes) -> Any:
    """Give h11 a head and what follows; return the request or the final response."""
    h11 = need_h11()
    connection.receive_data(data)
    try:
        event = connection.next_event()
        while isinstance(event, h11.InformationalResponse):
            event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise HttpError(f"what came is not HTTP: {error}") from error
    if not isinstance(event, h11.Request | h11.Response):
        raise HttpError("what came is not HTTP")
    return event


async def _read_framed(
    reader: asyncio.StreamReader, connection: Any, content: _Content, *, patient: bool
) -> bool:
    """Read a body as far as its framing goes; return whether it is whole.

    Unless ``patient``, a body that is a closed list is not waited for much longer.
    """
    h11 = need_h11()
    while not content.is_cut:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return False
        if isinstance(event, h11.Data):
            content.add(event.data)
        elif event is h11.NEED_DATA:
            if patient or not content.is_message:
                piece = await reader.read(_CHUNK)
            elif (soon := await _soon(reader)) is None:
                return False
            else:
                piece = soon
            connection.receive_data(piece)
        else:
            return isinstance(event, h11.EndOfMessage)
    return False


async def _read_on(reader: asyncio.StreamReader, content: _Content, *, patient: bool) -> None:
    """Read what belongs to a body although its framing does not say so; ``patient`` with open lists."""
    while not content.is_cut and not content.is_message:
        waits = patient and not content.is_plausible
        piece = await (reader.read(_CHUNK) if waits else _soon(reader))
        if not piece:
            return
        content.add(piece)


async def _soon(reader: asyncio.StreamReader) -> bytes | None:
    """Return what comes next, empty at the end of the connection, None if nothing comes for a moment."""
    try:
        async with asyncio.timeout(_MOMENT):
            return await reader.read(_CHUNK)
    except TimeoutError:
        return None
