"""A listener that answers one HTTP message on each connection.

A connection is incomplete until its message has arrived. If there are too many connections, the listener
drops an incomplete connection: the oldest from the address that has the most incomplete connections.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from anygame.protocol.http.framing import CHUNK, HttpError, RequestFraming, format_response, need_h11
from anygame.protocol.messages import BUSY, NIL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anygame.protocol.http.framing import Body

#: Maximum number of seconds to continue reading after a refusal.
_LINGER: Final = 2.0
#: Maximum number of seconds to send an answer.
_DRAIN: Final = 10.0
#: Number of iterations of the event loop after which the first bytes of a new connection have been read.
_TURNS: Final = 3
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a listener.

    Attributes:
        connections: maximum number of open connections.
        bytes: maximum size of a message in bytes.
        seconds: maximum time from the connection to the complete message.
    """

    connections: int = 50
    bytes: int = 4 * 2**20
    seconds: float = 10.0


class Listener:
    """Accepts connections, and answers one message on each.

    Args:
        respond: returns the reply, given a message, its time of arrival (a value of `time.monotonic`), and
            the address of the sender.
        log_fault: called with the address of the sender of an invalid message, and the error.
        bounds: limits of connections, bytes and time.
        refusal: called with the beginning of a long message; returns an answer to refuse the message.
    """

    def __init__(
        self,
        respond: Callable[[str, float, str], Awaitable[str]],
        log_fault: Callable[[str, str], None],
        bounds: Bounds | None,
        refusal: Callable[[str], str | None],
    ) -> None:
        self._respond = respond
        self._log_fault = log_fault
        self._bounds = bounds or Bounds()
        self._refusal = refusal
        self._server: asyncio.Server | None = None
        #: Tasks of new connections: the first bytes have not been read yet.
        self._new: set[asyncio.Task[None]] = set()
        #: Client address for the task of each older connection, oldest first; None after a complete message.
        self._connections: dict[asyncio.Task[None], str | None] = {}

    async def open(self, host: str, port: int) -> int:
        """Start listening; return the port, which the system chooses for port 0.

        Raises OSError if the address cannot be used, and MissingExtraError if h11 is not installed.
        """
        need_h11()
        self._server = await asyncio.start_server(self._serve, host, port)
        address: tuple[str, int] = self._server.sockets[0].getsockname()
        return address[1]

    async def close(self) -> None:
        """Stop listening and drop all connections; return when all are closed."""
        if self._server is not None:
            self._server.close()
        await asyncio.sleep(0)  # lets the tasks of new connections begin
        while tasks := [*self._new, *self._connections]:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._new.add(task)
        try:
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            has_room = self._make_room()
            self._connections[task] = _peer(writer).rpartition(":")[0]
            await self._answer(reader, writer, task, has_room)
        except asyncio.CancelledError:
            writer.transport.abort()
        except OSError as error:
            self._log_fault(_peer(writer), f"the connection broke: {error}")
        except Exception as error:
            self._log_fault(_peer(writer), f"no answer: {type(error).__name__}: {error}")
        finally:
            self._new.discard(task)
            self._connections.pop(task, None)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    def _make_room(self) -> bool:
        """Drop a connection if there are too many; return False if all messages are complete."""
        if len(self._connections) < self._bounds.connections:
            return True
        reading = {
            task: address
            for task, address in self._connections.items()
            if address is not None and not task.cancelling()
        }
        if not reading:
            return False
        ((most, _),) = Counter(reading.values()).most_common(1)
        next(task for task, address in reading.items() if address == most).cancel()
        return True

    async def _answer(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        task: asyncio.Task[None],
        has_room: bool,
    ) -> None:
        if not has_room:
            await self._refuse(reader, writer, 503, BUSY, "too many connections")
            return
        seconds = self._bounds.seconds
        try:
            async with asyncio.timeout(seconds):
                request = await read_request(
                    reader,
                    self._bounds.bytes,
                    lambda: writer.write(_CONTINUE),
                    lambda begin: self._refusal(begin.decode(errors="replace")),
                )
            if request.method not in ("POST", "GET", "HEAD", "OPTIONS"):
                raise HttpError(f"unsupported method {request.method[:20]}", 405)
        except TimeoutError:
            await self._refuse(reader, writer, 408, NIL, f"no complete message within {seconds:g} seconds")
            return
        except HttpError as error:
            usual = BUSY if error.status == 413 else NIL
            reply = usual if error.reply is None else error.reply
            await self._refuse(reader, writer, error.status, reply, str(error))
            return
        self._connections[task] = None
        if request.method == "POST":
            text = request.content.decode(errors="replace")
        else:
            text = unquote_plus(request.target.lstrip("/?"))
        is_answered = request.method != "OPTIONS"
        reply = await self._respond(text, request.arrived, _peer(writer)) if is_answered else ""
        writer.write(format_response(reply.encode(errors="replace"), head_only=request.method == "HEAD"))
        async with asyncio.timeout(_DRAIN):
            await writer.drain()

    async def _refuse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int, reply: str, reason: str
    ) -> None:
        """Answer an invalid message. Continue reading for a while, so that the client receives the answer."""
        self._log_fault(_peer(writer), reason)
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LINGER):
                writer.write(format_response(reply.encode(), status))
                await writer.drain()
                if writer.can_write_eof():
                    writer.write_eof()
                while await reader.read(65_536):
                    pass


def _peer(writer: asyncio.StreamWriter) -> str:
    address = writer.get_extra_info("peername")
    return f"{address[0]}:{address[1]}" if address else "?"


async def read_request(
    reader: asyncio.StreamReader,
    limit: int,
    on_continue: Callable[[], None],
    refusal: Callable[[bytes], str | None] = lambda _: None,
) -> Body:
    """Read one request, as `RequestFraming` defines it. Raises HttpError and OSError.

    If the client waits for status 100 before it sends the body, ``on_continue`` is called.
    """
    framing = RequestFraming(limit, refusal)
    while (request := framing.poll(monotonic())) is None:
        if framing.wants_continue:
            framing.wants_continue = False
            on_continue()
        try:
            async with asyncio.timeout_at(framing.due):
                data = await reader.read(CHUNK)
        except TimeoutError:
            continue
        framing.receive(data, monotonic())
    if framing.wants_continue:
        on_continue()
    return request
